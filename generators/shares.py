"""Values that each split holds equally often, such as the labels and the depths of horn.

Rows that come together are refused while their values are ahead of others. That looks back only, so
a smaller set stays a prefix of a larger one. An exact promise lets no value be more than one row
ahead. The others are weighed together: the excesses of the rows' values over the mean of their kind
may come to SLACK rows. Since candidates bring all values equally often, excesses are zero on
average over them, and so what is welcome always comes; asking for each value by itself could wait
for ever for a row that cannot be, such as a query deeper than its closure.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from symshift.data.example import Example
from symshift.data.task import Cell, Even

SLACK = 0.5
"""Rows by which what comes may be ahead: less would refuse more, more would be less even."""
Group = tuple[str, Cell | None]
"""Rows that are counted together: those of a split, or of a cell in it."""


@dataclass(slots=True)
class EvenShares:
    """Counts how often each value of some promises occurs."""

    promises: Sequence[Even]
    """What shall be even."""
    counts: dict[Group, list[Counter[tuple[Any, ...]]]] = field(default_factory=dict)
    """For each group with rows, the counts of each promise's values."""

    def note(self, group: Group, row: Example) -> None:
        """Count a row."""
        if group not in self.counts:
            self.counts[group] = self._none()
        for promise, counts in zip(self.promises, self.counts[group], strict=True):
            if (value := _value(promise, row)) in counts:
                counts[value] += 1

    def is_ahead(self, group: Group, rows: Sequence[Example]) -> bool:
        """Tell whether the values of rows that come together are too frequent already."""
        excess = 0.0
        before = self.counts.get(group) or self._none()
        for promise, counts in zip(self.promises, before, strict=True):
            values = [value for row in rows if (value := _value(promise, row)) in counts]
            if not promise.is_exact:
                mean = counts.total() / len(counts)
                excess += sum(counts[value] - mean for value in values)
            elif _is_lopsided(counts, values):
                return True
        return excess > SLACK

    def _none(self) -> list[Counter[tuple[Any, ...]]]:
        return [Counter(dict.fromkeys(promise.values, 0)) for promise in self.promises]


def _is_lopsided(counts: Counter[tuple[Any, ...]], values: Sequence[tuple[Any, ...]]) -> bool:
    """Tell whether one more of each value would put one of them two rows ahead."""
    after = counts.copy()
    after.update(values)
    least = min(after.values())
    return any(after[value] > least + 1 for value in values)


def _value(promise: Even, row: Example) -> tuple[Any, ...]:
    return tuple([row.extra[column] for column in promise.columns])
