"""Unfinished data sets: blocks of rows in a hidden folder, from which a run resumes exactly.

Each block holds the rows of one fixed range of candidates, with the counts so far in its
metadata. A block is whole or absent, so a run that was killed goes on behind its last block, and
comes to the same rows as one that was not.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from symshift.data.errors import DataError
from symshift.data.example import Example
from symshift.data.files import read_json, whole_file, write_json
from symshift.data.schema import to_table
from symshift.generators.quota import Quota

FOLDER = ".partial"
BLOCK_CANDIDATES = 8192
_META = b"symshift"


class Blocks:
    """The hidden folder of a data set that is being written."""

    def __init__(self, out: Path, schema: pa.Schema) -> None:
        self.folder = out / FOLDER
        self._schema = schema
        self._count = 0

    def open(self, config: dict[str, Any]) -> None:
        """Start, or go on with a run of the same configuration.

        Raises:
            DataError: If the folder was begun with another configuration.
        """
        marker = self.folder / "config.json"
        if marker.is_file() and read_json(marker) != config:
            raise DataError(
                f"{self.folder.parent}: holds an unfinished data set of another configuration; "
                "finish it with its own command, choose another folder, or give --overwrite"
            )
        if not marker.is_file():
            write_json(marker, config)

    def restore(self, quota: Quota) -> None:
        """Bring a quota to the state behind the last whole block."""
        while self._path(self._count).is_file():
            path = self._path(self._count)
            for row in pq.read_table(path).to_pylist():
                quota.note(Example.from_columns(row))
            self._count += 1
        if self._count:
            last = pq.read_schema(self._path(self._count - 1))
            quota.restore(json.loads(last.metadata[_META]))

    def append(self, rows: Sequence[Example], quota: Quota) -> None:
        """Write the next block with the state that its end leaves."""
        state = json.dumps(quota.state())
        table = to_table(rows, self._schema.with_metadata({_META: state}))
        with whole_file(self._path(self._count)) as hidden:
            pq.write_table(table, hidden, compression="zstd")
        self._count += 1

    def tables(self, split: str) -> Iterator[pa.Table]:
        """Yield the rows of a split, block by block, in the order of their candidates."""
        for number in range(self._count):
            path = self._path(number)
            table = pq.read_table(path, filters=[("split", "=", split)], schema=self._schema)
            yield table.replace_schema_metadata(None)

    def remove(self) -> None:
        """Delete the hidden folder."""
        shutil.rmtree(self.folder)

    def _path(self, number: int) -> Path:
        return self.folder / f"block-{number:06d}.parquet"
