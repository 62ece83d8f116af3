"""Two systems on the same rows: the difference, its interval, and the exact paired test.

Everything here is over items. How much a figure moves from one training seed or random table to
another is another question; `Result.repeats` answers it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from symshift.data.errors import DataError
from symshift.data.verdict import Estimate, Verdict
from symshift.metrics.intervals import bootstrap_mean, mcnemar, per_cluster
from symshift.metrics.joining import keys_of
from symshift.metrics.judging import ROWS_SCHEMA
from symshift.metrics.result import Result, read_result
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

    def to_plain(self) -> dict[str, Any]:
        """Return it as plain values that JSON can hold."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        return {**plain, "difference": _plain_estimate(self.difference)}


def _plain_estimate(estimate: Estimate) -> Mapping[str, Any]:
    return {name: getattr(estimate, name) for name in estimate.__slots__}


def compare(result_a: Result, rows_a: pa.Table, result_b: Result, rows_b: pa.Table) -> Comparison:
    """Compare two systems row by row.

    Where rows are renamings of the same problem they are not independent: the bootstrap then draws
    problems, and the test counts problems that either system solves more of the time.

    Args:
        result_a: The first result.
        rows_a: Its row table.
        result_b: The second result.
        rows_b: Its row table.

    Raises:
        DataError: If the results are of different rows.
    """
    _require_same_rows(result_a, result_b)
    if not len(rows_a):
        raise DataError("there are no rows to compare")
    order_b = _places(rows_a, rows_b)
    right_a, right_b = _is_right(rows_a), _is_right(rows_b)[order_b]
    gain = right_a.astype(np.float64) - right_b
    clusters = _clusters(rows_a)
    sums, counts = (gain, None) if clusters is None else per_cluster(gain, clusters)
    n, only_a, only_b = len(gain), int((gain > 0).sum()), int((gain < 0).sum())
    return Comparison(
        name_a=result_a.system.name,
        name_b=result_b.system.name,
        n=n,
        both=int((right_a & right_b).sum()),
        only_a=only_a,
        only_b=only_b,
        neither=int((~right_a & ~right_b).sum()),
        difference=bootstrap_mean(sums, counts, min_value=-1.0),
        p_value=mcnemar(int((sums > 0).sum()), int((sums < 0).sum())),
        test="mcnemar" if clusters is None else "sign-test",
    )


def compare_files(path_a: Path, path_b: Path) -> Comparison:
    """Compare two result files, with the row tables beside them.

    Raises:
        DataError: If a file is missing or broken, or they are of different rows.
    """
    return compare(
        read_result(path_a),
        read_rows(rows_path(path_a)),
        read_result(path_b),
        read_rows(rows_path(path_b)),
    )


def read_rows(path: Path) -> pa.Table:
    """Read a row table.

    Raises:
        DataError: If it is missing or no row table.
    """
    import pyarrow.parquet as pq

    try:
        with path.open("rb") as file:
            table = pq.ParquetFile(file).read()
            return table.select(ROWS_SCHEMA.names).cast(ROWS_SCHEMA)
    except (OSError, KeyError, UnicodeDecodeError, pa.ArrowException) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(
            f"{path}: no table of rows ({reason}); `symshift score` writes it beside the result"
        ) from error


def _require_same_rows(result_a: Result, result_b: Result) -> None:
    for key in ("fingerprint", "split", "rows"):
        a, b = getattr(result_a.dataset, key), getattr(result_b.dataset, key)
        if a != b:
            raise DataError(
                f"{result_a.system.name} and {result_b.system.name} answered different rows: "
                f"{key} {a!r} and {b!r}; score both on the same data set and split"
            )


def _places(rows_a: pa.Table, rows_b: pa.Table) -> npt.NDArray[np.int64]:
    keys_a, keys_b = (keys_of(rows["id"].to_pylist()) for rows in (rows_a, rows_b))
    order_a, order_b = np.argsort(keys_a), np.argsort(keys_b)
    if len(keys_a) != len(keys_b) or not np.array_equal(keys_a[order_a], keys_b[order_b]):
        raise DataError("the row tables hold different ids; score both again")
    places = np.empty(len(keys_a), dtype=np.int64)
    places[order_a] = order_b
    return places


def _is_right(rows: pa.Table) -> npt.NDArray[np.bool_]:
    found = pc.is_in(rows["verdict"], value_set=_RIGHT)
    return np.asarray(found.to_numpy(), dtype=np.bool_)


def _clusters(rows: pa.Table) -> npt.NDArray[np.int64] | None:
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
    return "\n".join(
        [
            f"A  {c.name_a}",
            f"B  {c.name_b}",
            f"rows solved      {counts} (of {c.n})",
            f"A - B            {d.value:+.4f}  [{d.low:+.4f}, {d.high:+.4f}]  {d.method}",
            f"p                {c.p_value:.3g}  {test}",
            "over items; seeds and random tables are another matter",
        ]
    )
