"""Which label, depths and cell each candidate has: even by construction.

Two candidates in turn are a pair, and the first of them has a derivable query. A round of pairs
goes through the depths of queries and the depths of closures that were asked for, each as often as
any other, matched at random in a way in which no query lies deeper than its closure. Where cells
are asked for evenly, each pair draws a cell, and then depths that are possible there.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from symshift.data.errors import UsageError
from symshift.data.options import Range
from symshift.data.seeds import Draws
from symshift.data.task import Cell
from symshift.generators.theories.limits import Limits
from symshift.generators.theories.options import Options

DEFAULT_DEPTH = 6
"""The deepest query where nothing is asked for and the predicates allow it."""


class Depths(NamedTuple):
    """The depths of one problem."""

    query: int
    """The round of a derivable query."""
    closure: int
    """The rounds of the closure."""


class DepthRanges(NamedTuple):
    """The depths that a set goes through."""

    query: Range
    """The rounds to derivable queries."""
    closure: Range
    """The rounds to closures."""

    def rounds(self) -> tuple[list[int], list[int]]:
        """Return equally long lists, ascending, that have each depth of a kind equally often."""
        queries, closures = _all(self.query), _all(self.closure)
        num = math.lcm(len(queries), len(closures))
        return (
            [depth for depth in queries for _ in range(num // len(queries))],
            [depth for depth in closures for _ in range(num // len(closures))],
        )


def depth_ranges(options: Options, largest: int) -> DepthRanges:
    """Return the depths that options ask for.

    Args:
        options: What is asked for.
        largest: The most rounds that a closure can take.

    Raises:
        UsageError: If a depth is larger than that, or queries would lie deeper than closures.
    """
    for name, asked in (("depth", options.depth), ("closure_depth", options.closure_depth)):
        if asked is not None and asked.max > largest:
            raise UsageError(
                f"{name} {asked}: the largest possible is {largest} with these predicates, rules, "
                "facts and bodies"
            )
    query = options.depth or _default_depth(options.closure_depth, largest)
    ranges = DepthRanges(query, options.closure_depth or _beyond(query, largest))
    if any(deep > closure for deep, closure in zip(*ranges.rounds(), strict=True)):
        raise UsageError(
            f"depth {ranges.query} does not go with closure_depth {ranges.closure}: each depth "
            "comes equally often, and no query lies deeper than its closure"
        )
    return ranges


def _all(depths: Range) -> range:
    return range(depths.min, depths.max + 1)


def _default_depth(closure_depth: Range | None, largest: int) -> Range:
    # Closures go one round further where they can; queries that are all facts would be no task.
    deepest = max(largest - 1, min(largest, 1)) if closure_depth is None else closure_depth.max
    return Range(0, min(DEFAULT_DEPTH, deepest))


def _beyond(depth: Range, largest: int) -> Range:
    """Return as many depths, each one more where that is possible."""
    last = min(depth.max + 1, largest)
    return Range(last - (depth.max - depth.min), last)


class EvenDepths:
    """The depths of pairs in turn: all asked depths equally often."""

    def __init__(self, ranges: DepthRanges, key: int) -> None:
        """Go through depths.

        Args:
            ranges: The depths.
            key: What the order of a round depends on, beside the seed.
        """
        self._ranges = ranges
        self._key = key
        self._num_pairs = len(ranges.rounds()[0])
        self._round: tuple[tuple[int, int], Sequence[Depths]] = ((0, -1), ())

    def depths(self, seed: int, pair: int) -> Depths:
        """Return the depths of a pair."""
        number, place = divmod(pair, self._num_pairs)
        if self._round[0] != (seed, number):
            draws = Draws("horn depths", self._key, seed, number)
            self._round = (seed, number), self._matched(draws)
        return self._round[1][place]

    def _matched(self, draws: Draws) -> list[Depths]:
        queries, closures = self._ranges.rounds()
        pairs = []
        # The deepest query first: so every matching is equally likely, and there is always one.
        for depth in reversed(queries):
            first = next(place for place, closure in enumerate(closures) if closure >= depth)
            pairs.append(Depths(depth, closures.pop(first + draws.below(len(closures) - first))))
        draws.shuffle(pairs)
        return pairs


def depths_by_cell(limits: Limits, ranges: DepthRanges) -> Mapping[Cell, Sequence[int]]:
    """Return the cells that theories can lie in, each with the depths that closures have there."""
    found: dict[Cell, list[int]] = {}
    for num_symbols in range(limits.num_symbols.min, limits.num_symbols.max + 1):
        for depth in _all(ranges.closure):
            counts = limits.counts(num_symbols, depth)
            if counts is None or depth < ranges.query.min:
                continue
            low, high = (counts.rules.min + counts.facts.min, counts.rules.max + counts.facts.max)
            for size in range(max(low, limits.size.min), min(high, limits.size.max) + 1):
                if limits.of_cell(num_symbols, size).counts(num_symbols, depth):
                    found.setdefault((num_symbols, size), []).append(depth)
    return {cell: found[cell] for cell in sorted(found)}


def depths_in_cell(closures: Sequence[int], query: Range, draws: Draws) -> Depths:
    """Draw depths where closures have only some.

    Args:
        closures: The depths of closures.
        query: The depths of queries that are asked for; one of the closure's rounds is drawn.
        draws: The randomness.
    """
    closure = draws.choice(closures)
    deepest = min(query.max, closure)
    return Depths(query.min + draws.below(deepest - query.min + 1), closure)
