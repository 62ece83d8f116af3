"""Draws a shortened formula of a given size directly, from the top down.

Each place of the formula is drawn knowing how many nodes its random tree had and how many are left
of it (shortening says how likely every way is). What the identities delete is never
drawn: where they leave one operand, the walk goes on with that operand's tree. Each step is one
draw from a cumulative list, which is made when a walk first needs it.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from symshift.generators.formulas.effects import (
    ANY_KIND,
    NEGATION,
    NOT_NEGATED,
    NUM_KINDS,
    NUM_PLAIN,
    PLAIN,
)
from symshift.generators.formulas.shortening import Shortening, add_up

LEAF = ""
"""Stands for a symbol in a shape."""


class _Place(NamedTuple):
    """What a place has to become: a formula of `size` nodes from a tree of `tree` nodes."""

    tree: int
    size: int
    kinds: int
    """The kinds it may have (a bit mask)."""
    bare: bool
    """Whether its tree becomes the negation of it instead, which a negation above strips."""


class _Step:
    """The ways to go on from a place: tokens to write, and places to go to."""

    __slots__ = ("cumulative", "nexts", "place", "tokens")

    def __init__(self, place: _Place) -> None:
        self.place = place
        self.cumulative: list[float] = []
        self.tokens: tuple[str, ...] = ()
        self.nexts: tuple[_Step | _Split | str, ...] = ()
        """A text is a leaf."""


class _Split:
    """The ways to share out the nodes under a binary operator, and those of its tree."""

    __slots__ = ("cumulative", "rows", "size", "starts", "total")

    def __init__(
        self, size: int, rows: "Iterable[tuple[_Row, _Row, int, Sequence[float]]]"
    ) -> None:
        """Put rows of ways together.

        Args:
            size: Nodes of the formula.
            rows: What the left operand can be, by size, and the right; the size of the left in the
                first way, which grows by 1 from way to way; and the weights of the ways.
        """
        self.size = size
        self.rows: list[tuple[_Row, _Row, int]] = []
        self.starts: list[int] = []
        weights: list[float] = []
        for lefts, rights, first, of_row in rows:
            self.rows.append((lefts, rights, first))
            self.starts.append(len(weights))
            weights += of_row
        sums = list(accumulate(weights, initial=0.0))
        self.total = sums[-1]
        self.cumulative = array("d", (part / self.total for part in sums[1:] if self.total))


_Row = Sequence[_Step | str] | Mapping[int, _Step | str]
_Way = tuple[float, str, _Step | _Split | str]


class Shapes:
    """Formulas that random trees shorten to, drawn by size, with LEAF for every symbol."""

    def __init__(self, shortening: Shortening, tilt: float = 1.0) -> None:
        """Prepare to draw.

        Args:
            shortening: The probabilities; by leaves if there is a tilt.
            tilt: A formula with j leaves comes up tilt**j times as often as it would.
        """
        self._shortening = shortening
        self._grammar = shortening.grammar
        weights = shortening.tilted(tilt)
        self._weights: list[list[list[float]]] = weights.tolist()
        total = np.zeros_like(weights[:, 0])
        for kind in range(NUM_KINDS):
            total += weights[:, kind]
        self._totals: list[list[float]] = total.tolist()
        self._steps: dict[_Place, _Step] = {}
        self._splits: dict[tuple[int, int], _Split] = {}
        self._roots: dict[int, _Step] = {}
        trees = range(shortening.max_size + 1)
        self._grid = [
            [self._step(tree, size) if size else LEAF for size in range(tree + 1)] for tree in trees
        ]

    def draw(self, size: int, fractions: Iterator[float], *, tree: int | None = None) -> list[str]:
        """Draw the Polish tokens of a formula.

        Args:
            size: Its nodes; it must be possible.
            fractions: Uniform in [0, 1).
            tree: Nodes of the tree that it comes from; all sizes are equally likely if not given.
        """
        tokens: list[str] = []
        waiting: list[_Step | str] = []
        step = self._root(size) if tree is None else self._grid[tree][size]
        while True:
            if isinstance(step, str):
                tokens.append(step)
                if not waiting:
                    return tokens
                step = waiting.pop()
                continue
            cumulative = step.cumulative or self._fill(step)
            at = bisect_right(cumulative, next(fractions))
            if token := step.tokens[at]:
                tokens.append(token)
            onward = step.nexts[at]
            if isinstance(onward, _Split):
                at = bisect_right(onward.cumulative, next(fractions))
                row = bisect_right(onward.starts, at) - 1
                lefts, rights, first = onward.rows[row]
                left = first + at - onward.starts[row]
                waiting.append(rights[onward.size - 1 - left])
                step = lefts[left]
            else:
                step = onward

    def _root(self, size: int) -> _Step | str:
        if size not in self._roots and size > 1:
            trees = self._grammar.tree_sizes(self._shortening.max_size)
            self._roots[size] = step = _Step(_Place(0, size, ANY_KIND, False))
            _note(step, ((self._totals[t][size], "", self._step(t, size)) for t in trees[1:]))
        return self._roots.get(size, LEAF)

    def _step(self, tree: int, size: int, kinds: int = ANY_KIND, bare: bool = False) -> _Step | str:
        if size == 1:
            return LEAF
        place = _Place(tree, size, kinds, bare)
        return self._steps.get(place) or self._steps.setdefault(place, _Step(place))

    def _split(self, tree: int, size: int) -> _Split:
        key = (tree, size)
        if key not in self._splits:
            self._splits[key] = _Split(size, self._rows(tree, size))
        return self._splits[key]

    def _rows(self, tree: int, size: int) -> Iterator[tuple[_Row, _Row, int, list[float]]]:
        """Yield the ways to split a tree and its formula, by the size of the left tree."""
        for left in self._grammar.splits(tree):
            right = tree - 1 - left
            first, last = max(1, size - 1 - right), min(left, size - 2)
            of_left, of_right = self._totals[left], self._totals[right]
            weights = [of_left[m] * of_right[size - 1 - m] for m in range(first, last + 1)]
            if weights:
                yield self._grid[left], self._grid[right], first, weights

    def _fill(self, step: _Step) -> list[float]:
        ways = self._bare_ways(step.place) if step.place.bare else self._ways(step.place)
        _note(step, ways)
        return step.cumulative

    def _weight(self, tree: int, size: int, kinds: int) -> float:
        if kinds == ANY_KIND:
            return self._totals[tree][size]
        of_kind = self._weights[tree]
        return add_up(of_kind[kind][size] for kind in range(NUM_KINDS) if kinds >> kind & 1)

    def _survivors(self, tree: int) -> Iterator[tuple[float, float, int]]:
        """Yield how likely an operand survives a constant, kept or negated, and its tree's size."""
        effects, constants = self._shortening.binary, self._shortening.constants
        splits = self._grammar.splits(tree)
        for survivor in splits:
            zero, one = constants[tree - 1 - survivor]
            kept = effects.kept[0] * zero + effects.kept[1] * one
            negated = effects.negated[0] * zero + effects.negated[1] * one
            if kept or negated:
                each = self._each(tree) / len(splits)
                yield each * kept, each * negated, survivor

    def _each(self, tree: int) -> float:
        return 1 / self._grammar.num_inner(tree)

    def _ways(self, place: _Place) -> Iterator[_Way]:
        """Yield every way in which the top of a tree makes a formula of the place."""
        tree, size, kinds, _ = place
        each, below = self._each(tree), tree - 1
        stripped = (kinds & NOT_NEGATED) << NUM_PLAIN
        for effect in self._shortening.unary:
            if sources := effect.sources(kinds):
                weight = self._weight(below, size - 1, sources)
                yield each * weight, effect.operator, self._step(below, size - 1, sources)
            if sources := effect.kept & kinds:
                yield (
                    each * self._weight(below, size, sources),
                    "",
                    self._step(below, size, sources),
                )
            if sources := effect.stripped & stripped:
                weight = self._weight(below, size + 1, sources)
                yield each * weight, "", self._step(below, size, sources >> NUM_PLAIN, True)
        if kinds >> PLAIN & 1 and self._grammar.splits(tree):
            split = self._split(tree, size)
            weight = each / len(self._grammar.splits(tree)) * split.total
            for operator in self._grammar.binary:
                yield weight, operator, split
            yield from self._standing(tree, size)
        negations = NEGATION.sources(kinds)
        for kept, negated, left in self._survivors(tree):
            yield kept * self._weight(left, size, kinds), "", self._step(left, size, kinds)
            if negated:
                weight = negated * self._weight(left, size - 1, negations)
                yield weight, "!", self._step(left, size - 1, negations)
                weight = negated * self._weight(left, size + 1, stripped)
                yield weight, "", self._step(left, size, kinds & NOT_NEGATED, True)

    def _standing(self, tree: int, size: int) -> Iterator[_Way]:
        """Yield the ways in which a constant stays beside an operand, as in `1 U f`."""
        splits = self._grammar.splits(tree)
        below = size - 2
        for operand in splits if below else ():
            weight = self._each(tree) / len(splits) * self._totals[operand][below]
            for operator, c, is_left in self._shortening.binary.standing if weight else ():
                step: _Row = {below: self._step(operand, below)}
                constant: _Row = {1: str(c)}
                row = (constant, step, 1) if is_left else (step, constant, below)
                share = self._shortening.constants[tree - 1 - operand][c]
                yield weight * share, operator, _Split(size, [(*row, [1.0])])

    def _bare_ways(self, place: _Place) -> Iterator[_Way]:
        """Yield every way in which a tree makes the negation of a formula of the place."""
        tree, size, kinds, _ = place
        if "!" in self._grammar.unary:
            weight = self._each(tree) * self._weight(tree - 1, size, kinds)
            yield weight, "", self._step(tree - 1, size, kinds)
        for kept, negated, left in self._survivors(tree):
            weight = kept * self._weight(left, size + 1, kinds << NUM_PLAIN)
            yield weight, "", self._step(left, size, kinds, True)
            yield negated * self._weight(left, size, kinds), "", self._step(left, size, kinds)


def _note(step: _Step, ways: Iterable[_Way]) -> None:
    weights, step.tokens, step.nexts = zip(*(way for way in ways if way[0]), strict=True)
    sums = list(accumulate(weights))
    step.cumulative = [part / sums[-1] for part in sums]
