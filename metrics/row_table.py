"""The row table of a result: what became of every row, as Parquet in a temporary file.

It is written while rows are scored, so that ten million of them take no memory.
"""

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

import pyarrow as pa

_ROW_COLUMNS = ("id", "base_id", "verdict", "reason")
_PROOF_COLUMNS = ("proof", "proof_reason")
ROWS_SCHEMA = pa.schema([(name, pa.string()) for name in _ROW_COLUMNS])
"""What every row table has, whichever version wrote it."""
_LENIENT_SCHEMA = ROWS_SCHEMA.append(pa.field("lenient", pa.string()))
_ALL_COLUMNS = pa.unify_schemas(
    [_LENIENT_SCHEMA, pa.schema([(name, pa.string()) for name in _PROOF_COLUMNS])]
)
_GROUP_ROWS = 65_536
_MEMORY_BYTES = 1 << 24

Values = tuple[str | None, ...]


class RowTable:
    """A table that grows row by row, and is then read or copied."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(_MEMORY_BYTES)  # noqa: SIM115
        # It lives as long as this does, which no `with` can say.
        weakref.finalize(self, self._file.close)
        self._writer: Any = None
        self._schema = _LENIENT_SCHEMA
        # Columns of text, since a tuple for each row would be work for the garbage collector.
        self._waiting: list[list[str | None]] = [[] for _ in _ALL_COLUMNS]

    def add(self, values: Values) -> None:
        """Take in a row: id, base_id, verdict, reason, lenient verdict, proof and its reason.

        Tasks whose answers have no proofs give None for the last two; their columns are left out.
        """
        for column, value in zip(self._waiting, values, strict=True):
            column.append(value)
        if len(self._waiting[0]) == _GROUP_ROWS:
            self._write()

    def _write(self) -> None:
        import pyarrow.parquet as pq

        if self._writer is None:
            if any(value is not None for value in self._waiting[-2]):
                self._schema = _ALL_COLUMNS
            self._writer = pq.ParquetWriter(self._file, self._schema, compression="zstd")
        columns = self._waiting[: len(self._schema)]
        arrays = [pa.array(column, pa.string()) for column in columns]
        self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=self._schema))
        for column in self._waiting:
            column.clear()

    def finish(self) -> None:
        """Write what is waiting, and the end of the table."""
        if self._waiting[0] or self._writer is None:
            self._write()
        self._writer.close()

    def read(self) -> pa.Table:
        """Return the whole table."""
        import pyarrow.parquet as pq

        self._file.seek(0)
        return pq.ParquetFile(self._file).read()

    def copy_to(self, path: Path) -> None:
        """Write the table to a file."""
        self._file.seek(0)
        with path.open("wb") as target:
            shutil.copyfileobj(self._file, target)
