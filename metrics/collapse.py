"""How far rows of an embedding table have collapsed onto one another.

"To See the Unseen" (arXiv 2604.21632) calls it collapse when rows of symbols that were never
trained become alike, and shows it by their mean cosine. That figure alone misleads: under Adam,
untrained rows drift together by a common vector, which drives the cosine to 1 while their
differences stay. So the cosine after the mean is taken off, and the distance, stand beside it.

Shapes: N rows, D width, P pairs.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from symshift.data.errors import DataError, UsageError

Matrix = npt.NDArray[np.float64]
MAX_PAIRED_ROWS = 2_048
MAX_VALUE = 1e100
_BLOCK = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Collapse:
    """What a set of rows looks like; cosines are means over all pairs of two different rows."""

    rows: int
    """How many rows there are."""
    zero_rows: int
    """How many of them are zero; they have no direction, so cosines leave them out."""
    cosine: float | None
    """Mean cosine of two rows; None where fewer than two rows have a direction."""
    centred_cosine: float | None
    """The same after the mean row is taken off: about -1/(N - 1) where nothing collapsed."""
    distance: float
    """Mean Euclidean distance of two rows, of at most MAX_PAIRED_ROWS evenly spaced ones."""
    relative_distance: float | None
    """That distance over the mean norm; about sqrt(2) for independent directions."""
    norm: float
    """Mean norm of a row."""
    common: float | None
    """Norm of the mean row over the mean norm: 1 where all rows are one."""

    def to_plain(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


def collapse_of(rows_ND: npt.ArrayLike) -> Collapse:
    """Measure a set of rows.

    Distances are those among at most MAX_PAIRED_ROWS rows, evenly spaced; all else is exact.

    Args:
        rows_ND: The rows, at least two.

    Raises:
        UsageError: If there are fewer than two rows.
        DataError: If a value is not finite, or so great that its square would not be.
    """
    rows = np.asarray(rows_ND, dtype=np.float64)
    if len(rows) < 2:
        raise UsageError(f"{len(rows)} row: collapse is a matter of two rows or more")
    if not np.isfinite(rows).all():
        raise DataError(f"row {int((~np.isfinite(rows)).any(axis=1).argmax())} is not finite")
    if np.abs(rows).max(initial=0.0) > MAX_VALUE:
        raise DataError(f"values beyond {MAX_VALUE:g} are no embedding rows")
    norms = np.linalg.norm(rows, axis=1)
    norm, mean = float(norms.mean()), rows.mean(axis=0)
    distance = _mean_distance(rows - mean)  # a large common part would drown it in rounding
    return Collapse(
        rows=len(rows),
        zero_rows=int((norms == 0).sum()),
        cosine=_mean_cosine(rows),
        centred_cosine=_mean_cosine(rows - mean),
        distance=distance,
        relative_distance=distance / norm if norm else None,
        norm=norm,
        common=float(np.linalg.norm(mean)) / norm if norm else None,
    )


def _directions(rows: Matrix) -> Matrix:
    """Return the rows that are not zero, at length 1."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    # What is left of equal rows after their mean is rounding, not a direction.
    tiny = 1e-12 * max(float(np.abs(rows).max(initial=0.0)), np.finfo(np.float64).tiny)
    kept = norms[:, 0] > tiny
    directions: Matrix = rows[kept] / norms[kept]
    return directions


def _mean_cosine(rows: Matrix) -> float | None:
    directions = _directions(rows)
    if (count := len(directions)) < 2:
        return None
    # The sum over all pairs is the squared length of the sum.
    total = float(np.square(directions.sum(axis=0)).sum())
    return float(np.clip((total - count) / (count * (count - 1)), -1.0, 1.0))


def paired_rows(rows: Matrix) -> Matrix:
    """Return the rows whose pairs are looked at: all, or MAX_PAIRED_ROWS of them, evenly spaced."""
    places = np.linspace(0, len(rows) - 1, min(len(rows), MAX_PAIRED_ROWS)).round().astype(int)
    chosen: Matrix = rows[places]
    return chosen


def _mean_distance(rows: Matrix) -> float:
    chosen = paired_rows(rows)
    squares = np.square(chosen).sum(axis=1)
    total = 0.0
    for start in range(0, len(chosen), _BLOCK):
        block = chosen[start : start + _BLOCK]
        apart = squares[start : start + _BLOCK, None] + squares - 2 * block @ chosen.T
        apart[np.arange(len(block)), start + np.arange(len(block))] = 0.0
        total += float(np.sqrt(np.maximum(apart, 0.0)).sum())
    return total / (len(chosen) * (len(chosen) - 1))


def pair_cosines(rows_ND: npt.ArrayLike, *, centred: bool) -> npt.NDArray[np.float64]:
    """Return the cosines_P of all pairs among `paired_rows`, for a histogram."""
    rows = np.asarray(rows_ND, dtype=np.float64)
    directions = _directions(paired_rows(rows - rows.mean(axis=0) if centred else rows))
    above = np.triu_indices(len(directions), 1)
    cosines: npt.NDArray[np.float64] = (directions @ directions.T)[above]
    return np.clip(cosines, -1.0, 1.0)


def format_collapse(named: Mapping[str, Collapse]) -> str:
    """Return sets of rows side by side, a measure a line.

    Args:
        named: What a set is called, to its measures.
    """
    lines = [["", *named]]
    for name in Collapse.__dataclass_fields__:
        lines.append([name.replace("_", " "), *(_shown(getattr(c, name)) for c in named.values())])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def _shown(value: float | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.4f}"
