"""Parquet with the columns id and prediction, texts or lists of texts; others are not read."""

from collections.abc import Iterator
from typing import Any, BinaryIO

import pyarrow as pa

from symshift.metrics.packing import BATCH_RECORDS
from symshift.metrics.record import Problems, Reader, Reading, Record, RecordError, record_of

# Dates beyond the year 9999, nanoseconds, time zones that nobody knows.
_NO_VALUE = (OverflowError, ValueError, KeyError)


def _records(stream: BinaryIO, problems: Problems, reading: Reading) -> Iterator[Record]:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(stream)
    names = file.schema_arrow.names
    if names.count("id") != 1 or names.count("prediction") != 1:
        problems.add(1, f"expected the columns id and prediction, found {names!r:.80}")
        return
    row = 0
    for batch in file.iter_batches(batch_size=BATCH_RECORDS, columns=["id", "prediction"]):
        batch.validate(full=True)
        ids, values = _values(batch.column("id")), _values(batch.column("prediction"))
        for row_id, value in zip(ids, values, strict=True):
            row += 1
            try:
                yield record_of(row, row_id, value)
            except RecordError as error:
                problems.add(row, str(error))


def _values(column: "pa.Array[Any]") -> list[Any]:
    """Return a column's values; where Python has none for one, its type, which is no text."""
    try:
        return list(column.to_pylist())
    except _NO_VALUE:
        return [_value(scalar) for scalar in column]


def _value(scalar: "pa.Scalar[Any]") -> Any:
    try:
        return scalar.as_py()
    except _NO_VALUE:
        return scalar.type


READER = Reader(read=_records, suffixes=(".parquet",), unit="row")
