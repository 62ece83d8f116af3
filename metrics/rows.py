"""The rows of a split as scoring needs them: again and again, few columns, a batch at a time."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from symshift.data.dataset import BATCH_ROWS, Dataset, broken_shard

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


class SplitRows:
    """The rows of one split of a data set on disk; every loop over them reads them anew."""

    def __init__(self, dataset: Dataset, split: str) -> None:
        self._dataset = dataset
        self._split = split

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return self._read(COLUMNS)

    def ids(self) -> Iterator[str]:
        """Yield the rows' ids, in order."""
        return (row["id"] for row in self._read(("id",)))

    def _read(self, columns: Iterable[str]) -> Iterator[dict[str, Any]]:
        import pyarrow.parquet as pq

        for path in self._dataset.files(self._split):
            try:
                file = pq.ParquetFile(path)
                wanted = [name for name in columns if name in file.schema_arrow.names]
                for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=wanted):
                    yield from batch.to_pylist()
            except (pa.ArrowException, OSError) as error:
                raise broken_shard(path, error) from error


def ids_of(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the ids of rows, with as little reading as their kind allows."""
    if isinstance(rows, SplitRows):
        return rows.ids()
    return (row["id"] for row in rows)
