"""Values that each split holds equally often, such as the labels and the depths of horn.

A row is refused while its values are ahead of others. That looks back only, so a smaller set stays
a prefix of a larger one. An exact promise lets no value be more than one row ahead. The others are
weighed together: the excesses of a row's values over the mean of their kind may come to SLACK rows.
Since candidates bring all values equally often, excesses are zero on average over them, and so one
that is welcome always comes; asking for each value by itself could wait for ever for a row that
cannot be, such as a query deeper than its closure.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from symshift.data.example import Example
from symshift.data.task import Cell, Even

SLACK = 0.5
"""Rows by which a row may be ahead: less would refuse more candidates, more would be less even."""
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
            empty = [Counter(dict.fromkeys(promise.values, 0)) for promise in self.promises]
            self.counts[group] = empty
        for promise, counts in zip(self.promises, self.counts[group], strict=True):
            if (value := _value(promise, row)) in counts:
                counts[value] += 1

    def is_ahead(self, group: Group, row: Example) -> bool:
        """Tell whether a row's values are too frequent already."""
        if group not in self.counts:
            return False
        excess = 0.0
        for promise, counts in zip(self.promises, self.counts[group], strict=True):
            value = _value(promise, row)
            if value not in counts:
                continue
            if not promise.is_exact:
                excess += counts[value] - counts.total() / len(counts)
            elif counts[value] > min(counts.values()):
                return True
        return excess > SLACK


def _value(promise: Even, row: Example) -> tuple[Any, ...]:
    return tuple([row.extra[column] for column in promise.columns])
