"""What a user asks of a data set: how many rows, and of which kinds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symshift.data.errors import UsageError
from symshift.data.example import SPLITS
from symshift.data.task import Even


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What a user asks for."""

    rows: Mapping[str, int]
    """Rows of each split; none where cells are asked for alone."""
    per_cell: int | None = None
    """Rows of each cell (num_symbols, size): of each split that is asked for, or in all."""
    hard_share: float | None = None
    """At least this share of the rows is solved by no shortcut."""

    def __post_init__(self) -> None:
        if not sum(self.rows.values()) and self.per_cell is None:
            raise UsageError("no row asked for: give --train, --validation, --test or --per-cell")
        if self.per_cell is not None and self.per_cell < 1:
            raise UsageError(f"per_cell={self.per_cell} must be 1 or more")
        if self.hard_share is not None and not 0 < self.hard_share <= 1:
            raise UsageError(f"hard_share={self.hard_share} must be above 0 and at most 1")

    @property
    def splits(self) -> dict[str, int]:
        """The splits that are asked for by their number of rows."""
        return {split: self.rows[split] for split in SPLITS if self.rows.get(split)}

    def to_plain(self) -> dict[str, Any]:
        """Return it as plain values, without what is not asked for."""
        others = {"per_cell": self.per_cell, "hard_share": self.hard_share}
        return {**self.splits, **{key: value for key, value in others.items() if value is not None}}


def require_divisible(demand: Demand, even: Sequence[Even], bundle: int) -> None:
    """Check that no row is left over.

    Args:
        demand: What is asked for.
        even: What is held equally often.
        bundle: How many candidates are taken together or not at all.

    Raises:
        UsageError: If a cell's rows cannot be shared as evenly as promised (the one left over would
            be of the same kind in every cell), or the last bundle would be cut.
    """
    for each in even:
        num = len(each.values)
        if demand.per_cell is not None and each.is_exact and demand.per_cell % num:
            raise UsageError(
                f"per_cell={demand.per_cell}: each cell has {' and '.join(each.columns)} equally "
                f"often, so give a multiple of {num}"
            )
    for name, count in {**demand.splits, "per_cell": demand.per_cell or 0}.items():
        if count % bundle:
            raise UsageError(
                f"{name}={count}: rows come {bundle} together or not at all, so give a multiple of "
                f"{bundle}"
            )
