"""The rows of a split as scoring needs them: again and again, few columns, a batch at a time."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from symshift.data import formula as formulas
from symshift.data.dataset import BATCH_ROWS, Dataset, broken_shard
from symshift.data.errors import DataError
from symshift.data.formula import FormulaError
from symshift.metrics.keys import Keys, has_repeats, keys_of

COLUMNS = (
    "id",
    "input",
    "target",
    "num_symbols",
    "size",
    "shortcuts",
    "base_id",
    "renaming",
    "regime",
)
_LISTED_ROWS = 256


class SplitRows:
    """The rows of one split of a data set on disk; every loop over them reads them anew."""

    def __init__(self, dataset: Dataset, split: str) -> None:
        self._dataset = dataset
        self._split = split

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        for batch in self._batches(COLUMNS):
            # Few mappings live at a time, so the garbage collector has little to look through.
            for start in range(0, len(batch), _LISTED_ROWS):
                yield from batch.slice(start, _LISTED_ROWS).to_pylist()

    def column(self, name: str) -> Iterator[str]:
        """Yield one column, in order."""
        for batch in self._batches((name,)):
            yield from batch.column(name).to_pylist()

    def _batches(self, columns: Iterable[str]) -> Iterator[pa.RecordBatch]:
        import pyarrow.parquet as pq

        for path in self._dataset.files(self._split):
            try:
                file = pq.ParquetFile(path)
                wanted = [name for name in columns if name in file.schema_arrow.names]
                yield from file.iter_batches(batch_size=BATCH_ROWS, columns=wanted)
            except (pa.ArrowException, OSError) as error:
                raise broken_shard(path, error) from error


def keys_of_ids(rows: Iterable[Mapping[str, Any]]) -> Keys:
    """Return the keys of the rows' ids, in order."""
    return keys_of(_column(rows, "id"))


def keys_of_inputs(rows: Iterable[Mapping[str, Any]]) -> Keys:
    """Return the keys of the rows' formulas as formulas.show prints them, in order.

    Raises:
        DataError: If an input is no formula, or two rows have the same.
    """
    keys = keys_of(map(_shown, _column(rows, "input")))
    if has_repeats(keys):
        raise DataError(
            "the data set has rows with the same formula: answers without ids cannot be joined"
        )
    return keys


def _column(rows: Iterable[Mapping[str, Any]], name: str) -> Iterator[str]:
    """Yield one column, with as little reading as the rows' kind allows."""
    if isinstance(rows, SplitRows):
        return rows.column(name)
    return (row[name] for row in rows)


def _shown(text: str) -> str:
    try:
        return formulas.show(formulas.parse(text))
    except FormulaError as error:
        raise DataError(f"input {text[:60]!r} is no formula to join by: {error}") from None
