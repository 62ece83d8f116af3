"""Methods against methods: paired differences between the systems of a data set.

Tests need the rows of both systems, so they need the row tables beside the result files. All
p-values of one task are adjusted together, since they are read together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from symshift.metrics.comparison import Comparison, compare_graded, read_graded
from symshift.metrics.intervals import holm
from symshift.metrics.leaderboard import Section
from symshift.metrics.result import Result

MAX_COMPARED = 12
"""How many systems of a data set are compared with one another: the first ones, with rows."""
SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two systems on the same rows."""

    first: Result
    """The one that stands higher in the table."""
    second: Result
    """The other."""
    comparison: Comparison
    """The first against the second."""
    adjusted: float
    """The p-value, adjusted for all pairs of the task."""

    @property
    def is_apart(self) -> bool:
        """Whether the two are told apart, whatever else was compared."""
        return self.adjusted < SIGNIFICANT

    def of(self, result: Result) -> "Pair | None":
        """Return the pair with a result as its first, or None where it is not one of the two."""
        if result is self.second:
            swapped = self.comparison.swapped()
            return replace(self, first=self.second, second=self.first, comparison=swapped)
        return self if result is self.first else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """The pairs of a data set."""

    pairs: tuple[Pair, ...]
    """Each two of the systems that were compared."""
    without_rows: tuple[Result, ...]
    """Systems that could not be compared: there is no row table beside their result file."""
    num_left_out: int
    """Systems with rows that were not compared, being too many."""
    num_tests: int
    """The number of pairs of the whole task, for which p-values are adjusted."""


def differences_of(sections: Sequence[Section], row_files: Mapping[int, Path]) -> list[Differences]:
    """Compare the systems of each data set of one task.

    Args:
        sections: The data sets of the task.
        row_files: The row table of each result that has one, by the result's `id()`.

    Returns:
        One for each data set.

    Raises:
        DataError: If a row table is broken, or is not that of its result.
    """
    found = [_comparisons(section, row_files) for section in sections]
    adjusted = iter(holm([c.p_value for pairs in found for _, _, c in pairs]))
    return [
        Differences(
            pairs=tuple(
                Pair(first=a, second=b, comparison=c, adjusted=next(adjusted)) for a, b, c in pairs
            ),
            without_rows=tuple(r for r in _results(section) if id(r) not in row_files),
            num_left_out=max(0, len(_compared(section, row_files)) - MAX_COMPARED),
            num_tests=sum(map(len, found)),
        )
        for section, pairs in zip(sections, found, strict=True)
    ]


def _results(section: Section) -> list[Result]:
    return [entry.result for entry in section.entries]


def _compared(section: Section, row_files: Mapping[int, Path]) -> list[Result]:
    return [result for result in _results(section) if id(result) in row_files]


def _comparisons(
    section: Section, row_files: Mapping[int, Path]
) -> list[tuple[Result, Result, Comparison]]:
    chosen = _compared(section, row_files)[:MAX_COMPARED] if section.dataset.rows else []
    if len(chosen) < 2:
        return []
    rows = [(result, read_graded(row_files[id(result)], result)) for result in chosen]
    return [
        (a, b, compare_graded(a, graded_a, b, graded_b))
        for (a, graded_a), (b, graded_b) in combinations(rows, 2)
    ]
