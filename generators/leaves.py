"""Shapes with symbols at their leaves: any symbols, or as many distinct ones as are asked for.

The symbols of a random tree are independent and uniform, so a condition on how many distinct ones a
formula has is a condition on its number of leaves, and then one on them alone. Where the condition
is rarely met, shapes with more leaves (or fewer) are preferred by a factor for each leaf, and drawn
again as often as makes up for that: rejection sampling from a tilted law.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Protocol

from symshift.data.options import Range
from symshift.data.seeds import Draws
from symshift.generators.effects import NUM_KINDS
from symshift.generators.grammar import Grammar
from symshift.generators.shapes import LEAF, Shapes
from symshift.generators.shortening import Shortening
from symshift.generators.strings import count_patterns, unrank_pattern

_TILT_STEP = 4
_MAX_TILTS = 12
_MAX_EXPONENT = 600


class Leaves(Protocol):
    """Draws formulas of a given size as the identities without the equality rules leave them."""

    weights: Sequence[float]
    """[m]: how often trees, one of each size, become such a formula of m nodes."""

    def draw(self, size: int, draws: Draws, fractions: Iterator[float]) -> list[str] | None:
        """Draw the Polish tokens of a formula in canonical form.

        Returns:
            None if the attempt failed; the next one for the same size is as good.
        """


class _SingleNodes:
    """Formulas of size 1: a symbol or, where 0 symbols are in the range, a constant."""

    def __init__(self, shortening: Shortening, num_symbols: Range, symbol_weight: float) -> None:
        weights = [symbol_weight]
        for c in (0, 1):
            weight = sum(constants[c] for constants in shortening.constants)
            weights.append(weight if 0 in num_symbols else 0.0)
        self._sums = list(accumulate(weights))
        self._tokens = (shortening.grammar.symbols[0], "0", "1")
        self.weight = self._sums[-1]

    def draw(self, fractions: Iterator[float]) -> list[str]:
        return [self._tokens[bisect_right(self._sums, next(fractions) * self.weight)]]


class FreeLeaves:
    """Formulas with any number of distinct symbols."""

    def __init__(self, grammar: Grammar, max_size: int, num_symbols: Range) -> None:
        shortening = Shortening(grammar, max_size)
        self._shapes = Shapes(shortening)
        self._names = grammar.symbols
        self.weights = [sum(row) for row in _weights(shortening)]
        self._single = _SingleNodes(shortening, num_symbols, self.weights[1])
        self.weights[1] = self._single.weight

    def draw(self, size: int, draws: Draws, fractions: Iterator[float]) -> list[str]:
        """Draw a formula; this never fails."""
        if size == 1:
            return self._single.draw(fractions)
        names, num_names = self._names, len(self._names)
        used = 0
        tokens = self._shapes.draw(size, fractions)
        for at, token in enumerate(tokens):
            if token == LEAF:
                # Whichever new name it is, it becomes the next one in canonical order.
                name = int(next(fractions) * num_names)
                if name >= used:
                    name = used
                    used += 1
                tokens[at] = names[name]
        return tokens


class RangedLeaves:
    """Formulas with a number of distinct symbols that is in a range."""

    def __init__(self, grammar: Grammar, max_size: int, num_symbols: Range) -> None:
        self._shortening = Shortening(grammar, max_size, by_leaves=True)
        self._names = grammar.symbols
        self._counts = range(max(1, num_symbols.min), min(num_symbols.max, len(self._names)) + 1)
        by_leaves = _weights(self._shortening)
        shares = [self._share(j) for j in range(len(by_leaves[0]))]
        self.weights = [sum(map(float.__mul__, row, shares)) for row in by_leaves]
        self._single = _SingleNodes(self._shortening, num_symbols, self.weights[1])
        self.weights[1] = self._single.weight
        base = max(1, self._counts.stop - 1) / len(self._names)
        num_tilts = min(_MAX_TILTS, _MAX_EXPONENT // (2 * len(shares)))
        tilts = [base * _TILT_STEP**power for power in range(num_tilts + 1)]
        self._plans = [_best_plan(row, shares, tilts) for row in by_leaves]
        self._shapes: dict[float, Shapes] = {}

    def draw(self, size: int, draws: Draws, fractions: Iterator[float]) -> list[str] | None:
        """Draw a formula, or fail where there are too many with as many leaves."""
        if size == 1:
            return self._single.draw(fractions)
        tilt, acceptance = self._plans[size]
        if tilt not in self._shapes:
            self._shapes[tilt] = Shapes(self._shortening, tilt)
        tokens = self._shapes[tilt].draw(size, fractions)
        num_leaves = tokens.count(LEAF)
        if next(fractions) >= acceptance[num_leaves]:
            return None
        labels = iter(self._labels(num_leaves, draws))
        return [next(labels) if token == LEAF else token for token in tokens]

    def _share(self, num_leaves: int) -> float:
        """Return how likely independent symbols for so many leaves meet the condition."""
        ways = _label_counts(num_leaves, len(self._names), self._counts)
        return sum(ways) / len(self._names) ** num_leaves

    def _labels(self, num_leaves: int, draws: Draws) -> list[str]:
        """Draw independent symbols that meet the condition, in canonical form."""
        ways = _label_counts(num_leaves, len(self._names), self._counts)
        rank = draws.below(sum(ways))
        for k, count in enumerate(ways, self._counts.start):
            if rank < count:
                break
            rank -= count
        pattern = unrank_pattern(num_leaves, k, rank // math.perm(len(self._names), k))
        return [self._names[block] for block in pattern]


def leaves_for(grammar: Grammar, max_size: int, num_symbols: Range) -> Leaves:
    """Return the source of formulas from trees of up to `max_size` nodes.

    Args:
        grammar: What formulas are made of.
        max_size: Nodes of the largest tree.
        num_symbols: How many distinct symbols a formula has.
    """
    free = num_symbols.min <= 1 and num_symbols.max >= len(grammar.symbols)
    return (FreeLeaves if free else RangedLeaves)(grammar, max_size, num_symbols)


def _weights(shortening: Shortening) -> list[list[float]]:
    """Return [m][j], summed over the sizes of trees and the kinds of formulas."""
    total = shortening.formulas[0, 0] * 0.0
    for tree in range(shortening.max_size + 1):
        for kind in range(NUM_KINDS):
            total += shortening.formulas[tree, kind]
    weights: list[list[float]] = total.tolist()
    return weights


@lru_cache(maxsize=4096)
def _label_counts(num_leaves: int, num_names: int, num_symbols: range) -> tuple[int, ...]:
    """Return in how many ways leaves have k distinct symbols, for each k of the range."""
    return tuple(math.perm(num_names, k) * count_patterns(num_leaves, k) for k in num_symbols)


def _best_plan(
    weights: Sequence[float], shares: Sequence[float], tilts: Sequence[float]
) -> tuple[float, list[float]]:
    """Return the tilt that needs the fewest attempts, and which of its shapes to accept, by j."""
    best, fewest = (tilts[0], [0.0] * len(shares)), math.inf
    for tilt in tilts:
        powers = [1.0]
        while len(powers) < len(shares):
            powers.append(powers[-1] * tilt)
        worth = [s / p if w else 0.0 for s, p, w in zip(shares, powers, weights, strict=True)]
        attempts = max(worth) * sum(map(float.__mul__, weights, powers))
        if 0 < attempts < fewest:
            best, fewest = (tilt, [w / max(worth) for w in worth]), attempts
    return best
