"""The part of the grid that a system was trained on, and correctness inside and outside it.

The region is what the system's training set covers: `num_symbols` and `size` in the `trained_on`
of its meta file, as `symshift predict` writes them from the training set's manifest. Nothing is
guessed: without them the region is not stated.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from symshift.data.errors import DataError, UsageError
from symshift.data.options import Range
from symshift.data.verdict import Estimate
from symshift.metrics.accuracy import RowFacts
from symshift.metrics.intervals import share
from symshift.metrics.judging import Outcomes
from symshift.metrics.table import format_symbols

INSIDE, OUTSIDE = "correct:inside", "correct:outside"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedRegion:
    """The part of the grid that training covered."""

    num_symbols: Range
    """Distinct symbols of the training problems."""
    size: Range
    """Their sizes."""

    def __str__(self) -> str:
        return f"{format_symbols(self.num_symbols)}, size {self.size}"


def trained_region(trained_on: Mapping[str, Any]) -> TrainedRegion | None:
    """Return the region that a system says it was trained on, or None if it does not say.

    Raises:
        DataError: If what it says is no range.
    """
    found = {name: trained_on.get(name) for name in ("num_symbols", "size")}
    if None in found.values():
        return None
    try:
        ranges = {name: Range.parse(str(value)) for name, value in found.items()}
    except (UsageError, ValueError) as error:
        raise DataError(f"trained_on: {error!s:.200}") from error
    return TrainedRegion(**ranges)


def require_region(trained_on: Mapping[str, Any], path: Path) -> None:
    """Refuse a file whose system says that it was trained on what is no region.

    Raises:
        DataError: If so; the message names the file.
    """
    try:
        trained_region(trained_on)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


def region_estimates(
    facts: RowFacts, outcomes: Outcomes, region: TrainedRegion | None
) -> dict[str, Estimate]:
    """Return correctness inside and outside a region, where it is known and has such rows.

    Rows that do not say their number of symbols or size are in neither.
    """
    if region is None:
        return {}
    known = (facts.num_symbols >= 0) & (facts.size >= 0)
    inside = known & np.logical_and.reduce(
        [
            (values >= bounds.min) & (values <= bounds.max)
            for values, bounds in (
                (facts.num_symbols, region.num_symbols),
                (facts.size, region.size),
            )
        ]
    )
    parts = {INSIDE: inside, OUTSIDE: known & ~inside}
    return {
        name: share(outcomes.is_right[rows], facts.clusters(rows))
        for name, rows in parts.items()
        if rows.any()
    }
