"""A stated row table held against the one that rescoring gives."""

from pathlib import Path

import pyarrow as pa

from symshift.data.errors import DataError


def row_faults(path: Path, rescored: pa.Table) -> list[str]:
    """Return where a row table differs from the rescored rows, a line each; none if it holds.

    Rows are matched by id: their order says nothing.

    Args:
        path: The stated table.
        rescored: The rows as rescoring gives them.

    Raises:
        DataError: If the file is no table.
    """
    import pyarrow.parquet as pq

    try:
        with path.open("rb") as file:
            stated = pq.ParquetFile(file).read()
    except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"{path}: no table of rows ({reason})") from error
    if stated.column_names != rescored.column_names:
        return [f"{path}: columns {stated.column_names}, found {rescored.column_names}"]
    kinds = {str(kind) for kind in stated.schema.types if kind != pa.string()}
    if kinds:
        return [f"{path}: columns of {', '.join(sorted(kinds))}, expected string"]
    if len(stated) != len(rescored):
        return [f"{path}: {len(stated)} rows, found {len(rescored)}"]
    left, right = stated.sort_by("id"), rescored.sort_by("id")
    faults = (_fault(left, right, name) for name in rescored.column_names)
    return [f"{path}: {fault}" for fault in faults if fault]


def _fault(left: pa.Table, right: pa.Table, name: str) -> str:
    """Return how many rows differ in a column, and the first of them; empty if none does."""
    if left[name].equals(right[name]):
        return ""
    pairs = zip(left[name].to_pylist(), right[name].to_pylist(), strict=True)
    differing = [(at, a, b) for at, (a, b) in enumerate(pairs) if a != b]
    at, stated, found = differing[0]
    place = f"row {right['id'][at].as_py()}: {name}"
    more = f" (and {len(differing) - 1} more)" if len(differing) > 1 else ""
    return f"{place} stated {stated!r:.80}, found {found!r:.80}{more}"
