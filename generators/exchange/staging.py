"""Rows on their way into a data set, in hidden files: split by split, in the order they come."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from symshift.data.example import SPLITS, Example
from symshift.data.schema import to_table
from symshift.generators.shards import GROUP_ROWS


class Staging:
    """A folder of rows, one file a split; open it as a context manager."""

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        self._folder = folder
        self._schema = schema
        self._held: dict[str, list[Example]] = {split: [] for split in SPLITS}
        self._writers: dict[str, pq.ParquetWriter] = {}
        folder.mkdir(parents=True)

    def __enter__(self) -> "Staging":
        return self

    def __exit__(self, *_: object) -> None:
        for writer in self._writers.values():
            writer.close()

    def add(self, row: Example) -> None:
        """Take in the next row of its split."""
        held = self._held[row.split]
        held.append(row)
        if len(held) >= GROUP_ROWS:
            self._flush(row.split)

    def _flush(self, split: str) -> None:
        if split not in self._writers:
            path = self._folder / f"{split}.parquet"
            self._writers[split] = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._writers[split].write_table(to_table(self._held[split], self._schema))
        self._held[split] = []

    def finish(self) -> None:
        """Write what is held."""
        for split, held in self._held.items():
            if held:
                self._flush(split)
        self.__exit__()

    def tables(self, split: str) -> Iterator[pa.Table]:
        """Yield the rows of a split, in order."""
        if split in self._writers:
            with pq.ParquetFile(self._folder / f"{split}.parquet") as file:
                for batch in file.iter_batches(batch_size=GROUP_ROWS):
                    yield pa.Table.from_batches([batch], schema=self._schema)
