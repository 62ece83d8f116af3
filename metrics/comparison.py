"""Two systems on the same rows: the difference, its interval, and the exact paired test.

Everything here is over items. How much a figure moves from one training seed or random table to
another is another question; `Result.repeats` answers it.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from symshift.data.errors import DataError
from symshift.data.terminal import printable
from symshift.data.verdict import Estimate, Verdict
from symshift.metrics.intervals import bootstrap_mean, mcnemar, per_cluster
from symshift.metrics.keys import keys_of
from symshift.metrics.result import Result
from symshift.metrics.result_file import read_result
from symshift.metrics.row_table import ROWS_SCHEMA
from symshift.metrics.scoring import rows_path

_RIGHT = pa.array([Verdict.EXACT.value, Verdict.CORRECT.value])


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """System A against system B: positive differences are in favour of A."""

    name_a: str
    """The first system."""
    name_b: str
    """The second."""
    n: int
    """Rows that both answered."""
    both: int
    """Rows that both solve."""
    only_a: int
    """Rows that only the first solves."""
    only_b: int
    """Rows that only the second solves."""
    neither: int
    """Rows that neither solves."""
    difference: Estimate
    """Correctness of A minus that of B, with its paired bootstrap interval."""
    p_value: float
    """Two-sided and exact: how surprising so uneven a split of the differing rows would be."""
    test: str
    """Which test: `mcnemar`, or `sign-test` over the problems of a renamed data set."""

    def swapped(self) -> "Comparison":
        """Return the second system against the first."""
        d = self.difference
        low, value, high = (None if x is None else -x + 0.0 for x in (d.high, d.value, d.low))
        return replace(
            self,
            name_a=self.name_b,
            name_b=self.name_a,
            only_a=self.only_b,
            only_b=self.only_a,
            difference=replace(d, low=low, value=value, high=high),
        )

    def to_plain(self) -> dict[str, Any]:
        """Return it as plain values that JSON can hold."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        return {**plain, "difference": _plain_estimate(self.difference)}


def _plain_estimate(estimate: Estimate) -> Mapping[str, Any]:
    return {name: getattr(estimate, name) for name in estimate.__slots__}


@dataclass(frozen=True, slots=True)
class Graded:
    """Which rows a system solves, in an order that all systems on the same rows share."""

    rows_sha256: str
    """What tells whether two systems answered rows with the same ids."""
    is_right: npt.NDArray[np.bool_]
    """Whether each row is solved."""
    problems: npt.NDArray[np.int64] | None
    """The problem that each row renames, as numbers from 0; None where rows are independent."""
    base_ids_sha256: str = ""
    """What tells whether two systems' rows rename the same problems; empty where they say none."""


def graded(rows: pa.Table) -> Graded:
    """Return what paired tests need of a row table."""
    keys = keys_of(rows["id"].to_pylist())
    order = np.argsort(keys)
    found = pc.is_in(rows["verdict"], value_set=_RIGHT)
    is_right = np.asarray(found.to_numpy(), dtype=np.bool_)[order]
    problems = _problems(rows)
    return Graded(
        rows_sha256=hashlib.sha256(keys[order].tobytes()).hexdigest(),
        is_right=is_right,
        problems=None if problems is None else problems[order],
        base_ids_sha256=_base_ids_sha256(rows, order),
    )


def compare(result_a: Result, rows_a: pa.Table, result_b: Result, rows_b: pa.Table) -> Comparison:
    """Compare two systems row by row, from their row tables; see `compare_graded`.

    Raises:
        DataError: If the results are of different rows.
    """
    return compare_graded(result_a, graded(rows_a), result_b, graded(rows_b))


def compare_graded(
    result_a: Result, graded_a: Graded, result_b: Result, graded_b: Graded
) -> Comparison:
    """Compare two systems row by row.

    Where rows are renamings of the same problem they are not independent: the bootstrap then draws
    problems, and the test counts problems that either system solves more of the time.

    Args:
        result_a: The first result.
        graded_a: Which rows it solves.
        result_b: The second result.
        graded_b: Which rows it solves.

    Raises:
        DataError: If the results are of different rows.
    """
    _require_same_rows(result_a, result_b)
    if not len(graded_a.is_right):
        raise DataError("there are no rows to compare")
    if graded_a.rows_sha256 != graded_b.rows_sha256:
        raise DataError("the row tables hold different ids; score both again")
    if graded_a.base_ids_sha256 != graded_b.base_ids_sha256:
        raise DataError("the row tables give the same id different base_ids; score both again")
    right_a, right_b, problems = graded_a.is_right, graded_b.is_right, graded_a.problems
    gain = right_a.astype(np.float64) - right_b
    sums, counts = (gain, None) if problems is None else per_cluster(gain, problems)
    return Comparison(
        name_a=result_a.system.name,
        name_b=result_b.system.name,
        n=len(gain),
        both=int((right_a & right_b).sum()),
        only_a=int((gain > 0).sum()),
        only_b=int((gain < 0).sum()),
        neither=int((~right_a & ~right_b).sum()),
        difference=bootstrap_mean(sums, counts, min_value=-1.0),
        p_value=mcnemar(int((sums > 0).sum()), int((sums < 0).sum())),
        test="mcnemar" if problems is None else "sign-test",
    )


def compare_files(path_a: Path, path_b: Path) -> Comparison:
    """Compare two result files, with the row tables beside them.

    Raises:
        DataError: If a file is missing or broken, or they are of different rows.
    """
    result_a, result_b = read_result(path_a), read_result(path_b)
    graded_a, graded_b = (
        read_graded(rows_path(path), result)
        for path, result in ((path_a, result_a), (path_b, result_b))
    )
    return compare_graded(result_a, graded_a, result_b, graded_b)


def read_graded(path: Path, result: Result) -> Graded:
    """Read which rows a result solves from the row table beside it.

    Raises:
        DataError: If the table is missing, none, or not that of the result.
    """
    found = graded(read_rows(path))
    stated = result.counts.get("exact", 0) + result.counts.get("correct", 0)
    if (len(found.is_right), int(found.is_right.sum())) != (result.dataset.rows, stated):
        raise DataError(
            f"{path}: {int(found.is_right.sum())} of {len(found.is_right)} rows are right, the "
            f"result says {stated} of {result.dataset.rows}; score it again to write both anew"
        )
    return found


def read_rows(path: Path) -> pa.Table:
    """Read a row table.

    Raises:
        DataError: If it is missing or no row table.
    """
    import pyarrow.parquet as pq

    try:
        with path.open("rb") as file:
            table = pq.ParquetFile(file).read().select(ROWS_SCHEMA.names).cast(ROWS_SCHEMA)
    except (OSError, KeyError, UnicodeDecodeError, pa.ArrowException) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(
            f"{path}: no table of rows ({reason}); `symshift score` writes it beside the result"
        ) from error
    if table["id"].null_count:
        raise DataError(f"{path}: a row has no id; score it again to write the table anew")
    return table


def _require_same_rows(result_a: Result, result_b: Result) -> None:
    for key in ("fingerprint", "split", "rows"):
        a, b = getattr(result_a.dataset, key), getattr(result_b.dataset, key)
        if a != b:
            raise DataError(
                f"{result_a.system.name} and {result_b.system.name} answered different rows: "
                f"{key} {a!r} and {b!r}; score both on the same data set and split"
            )


def _base_ids_sha256(rows: pa.Table, order: npt.NDArray[np.intp]) -> str:
    base_ids = rows["base_id"]
    if base_ids.null_count == len(rows):
        return ""
    keys = keys_of("" if found is None else f"={found}" for found in base_ids.to_pylist())
    return hashlib.sha256(keys[order].tobytes()).hexdigest()


def _problems(rows: pa.Table) -> npt.NDArray[np.int64] | None:
    base_ids = rows["base_id"]
    if base_ids.null_count or pc.count_distinct(base_ids).as_py() == len(rows):
        return None
    codes = base_ids.combine_chunks().dictionary_encode()
    codes = codes.combine_chunks() if isinstance(codes, pa.ChunkedArray) else codes
    return np.asarray(codes.indices.to_numpy(), dtype=np.int64)


def format_comparison(comparison: Comparison) -> str:
    """Return the comparison as the few lines that `symshift compare` prints."""
    c, d = comparison, comparison.difference
    assert d.value is not None
    assert d.low is not None
    assert d.high is not None
    counts = f"both {c.both}, only A {c.only_a}, only B {c.only_b}, neither {c.neither}"
    test = {"mcnemar": "exact McNemar", "sign-test": "exact sign test over problems"}[c.test]
    lines = [
        f"A  {c.name_a}",
        f"B  {c.name_b}",
        f"rows solved      {counts} (of {c.n})",
        f"A - B            {d.value:+.4f}  [{d.low:+.4f}, {d.high:+.4f}]  {d.method}",
        f"p                {c.p_value:.3g}  {test}",
        "over items; seeds and random tables are another matter",
    ]
    return "\n".join(map(printable, lines))
