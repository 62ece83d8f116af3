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
from operator import mul
from typing import Protocol

from symshift.data.options import Range
from symshift.data.seeds import Draws
from symshift.data.vocabulary import name_at
from symshift.generators.formulas.effects import NUM_KINDS
from symshift.generators.formulas.grammar import Grammar
from symshift.generators.formulas.shapes import LEAF, Shapes
from symshift.generators.formulas.shortening import Shortening, add_up
from symshift.generators.strings import count_patterns, unrank_pattern

# Tilts are these times powers of 2, such that a tilt for each leaf still fits into a float.
_STEPS = (1.0, 1.5)
_MAX_EXPONENT = 600
_MOST_DOWN = 5
_MOST_UP = 14


class Leaves(Protocol):
    """Draws formulas of a given size as the identities without the equality rules leave them."""

    weights: list[float]
    """[m]: how often trees, one of each size, become such a formula of m nodes."""

    def draw(self, size: int, draws: Draws, fractions: Iterator[float]) -> list[str] | None:
        """Draw the Polish tokens of a formula in canonical form.

        Returns:
            None if the attempt failed; the next one for the same size is as good.
        """


class _SingleNodes:
    """Formulas of size 1: a symbol or, where 0 symbols are in the range, a constant."""

    def __init__(
        self, symbol: float, constants: Sequence[tuple[float, float]], num_symbols: Range
    ) -> None:
        weights = [symbol]
        for c in (0, 1):
            weight = add_up(pair[c] for pair in constants)
            weights.append(weight if 0 in num_symbols else 0.0)
        self._sums = list(accumulate(weights))
        self.weight = self._sums[-1]

    def draw(self, fractions: Iterator[float]) -> list[str]:
        at = bisect_right(self._sums, next(fractions) * self.weight)
        return [(name_at(0), "0", "1")[at]]


class FreeLeaves:
    """Formulas with any number of distinct symbols."""

    def __init__(self, grammar: Grammar, max_size: int, num_symbols: Range) -> None:
        shortening = Shortening(grammar, max_size)
        self._shapes = Shapes(shortening)
        self._names = grammar.symbols
        self.weights = [row[0] for row in _weights(shortening)]
        self._single = _SingleNodes(self.weights[1], shortening.constants, num_symbols)
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

    def __init__(
        self, shapes: "TiltedShapes", num_symbols: Range, *, is_whole: bool = False
    ) -> None:
        """Make the tables.

        Args:
            shapes: The shapes without symbols.
            num_symbols: How many distinct symbols a formula has.
            is_whole: Whether to draw only formulas of which the identities took nothing.
        """
        self._shapes = shapes
        self._is_whole = is_whole
        self._names = names = shapes.shortening.grammar.symbols
        self._counts = range(max(1, num_symbols.min), min(num_symbols.max, len(names)) + 1)
        by_leaves = _whole(shapes.shortening) if is_whole else _weights(shapes.shortening)
        shares = [self._share(j) for j in range(len(by_leaves[0]))]
        self.weights = [add_up(map(mul, row, shares)) for row in by_leaves]
        constants = shapes.shortening.constants[: 2 if is_whole else None]
        self._single = _SingleNodes(self.weights[1], constants, num_symbols)
        self.weights[1] = self._single.weight
        self._plans = [_best_plan(row, shares, shapes.tilts) for row in by_leaves]

    def draw(self, size: int, draws: Draws, fractions: Iterator[float]) -> list[str] | None:
        """Draw a formula, or fail where there are too many with as many leaves."""
        if size == 1:
            return self._single.draw(fractions)
        tilt, acceptance = self._plans[size]
        tree = size if self._is_whole else None
        tokens = self._shapes.of(tilt).draw(size, fractions, tree=tree)
        num_leaves = tokens.count(LEAF)
        if next(fractions) >= acceptance[num_leaves]:
            return None
        labels = iter(self._labels(num_leaves, draws))
        return [next(labels) if token == LEAF else token for token in tokens]

    def _share(self, num_leaves: int) -> float:
        """Return how likely independent symbols for so many leaves meet the condition."""
        ways = _label_counts(num_leaves, len(self._names), self._counts)
        share: float = sum(ways) / len(self._names) ** num_leaves
        return share

    def _labels(self, num_leaves: int, draws: Draws) -> list[str]:
        """Draw independent symbols that meet the condition, in canonical form."""
        ways = _label_counts(num_leaves, len(self._names), self._counts)
        rank = draws.below(sum(ways))
        at = bisect_right(list(accumulate(ways)), rank)
        k = self._counts[at]
        rank = (rank - sum(ways[:at])) // math.perm(len(self._names), k)
        return [self._names[block] for block in unrank_pattern(num_leaves, k, rank)]


class TiltedShapes:
    """Shapes by tilt, each made when it is first needed."""

    def __init__(self, grammar: Grammar, max_size: int) -> None:
        self.shortening = Shortening(grammar, max_size, by_leaves=True)
        top = _MAX_EXPONENT // self.shortening.formulas.shape[-1]
        powers = range(-min(_MOST_DOWN, top), min(_MOST_UP, top))
        self.tilts = [step * 2.0**power for power in powers for step in _STEPS]
        """The tilts to choose from."""
        self._made: dict[float, Shapes] = {}

    def of(self, tilt: float) -> Shapes:
        """Return the shapes of a tilt."""
        if tilt not in self._made:
            self._made[tilt] = Shapes(self.shortening, tilt)
        return self._made[tilt]


def leaves_for(grammar: Grammar, max_size: int, num_symbols: Range) -> Leaves:
    """Return the source of formulas from trees of up to `max_size` nodes.

    Args:
        grammar: What formulas are made of.
        max_size: Nodes of the largest tree.
        num_symbols: How many distinct symbols a formula has.
    """
    if num_symbols.min <= 1 and num_symbols.max >= len(grammar.symbols):
        return FreeLeaves(grammar, max_size, num_symbols)
    return RangedLeaves(TiltedShapes(grammar, max_size), num_symbols)


def _weights(shortening: Shortening) -> list[list[float]]:
    """Return [m][j], summed over the sizes of trees and the kinds of formulas."""
    total = shortening.formulas[0, 0] * 0.0
    for tree in range(shortening.max_size + 1):
        for kind in range(NUM_KINDS):
            total += shortening.formulas[tree, kind]
    weights: list[list[float]] = total.tolist()
    return weights


def _whole(shortening: Shortening) -> list[list[float]]:
    """Return [m][j], summed over the kinds of formulas, for trees of m nodes that stay whole."""
    total = shortening.formulas[0, 0] * 0.0
    for size in range(shortening.max_size + 1):
        for kind in range(NUM_KINDS):
            total[size] += shortening.formulas[size, kind, size]
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
        attempts = max(worth) * add_up(map(mul, weights, powers))
        if 0 < attempts < fewest:
            best, fewest = (tilt, [w / max(worth) for w in worth]), attempts
    return best
