"""The finished files of a data set: Parquet shards, manifest, card."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from symshift.data.dataset import Fingerprint
from symshift.data.files import sha256_of, whole_file
from symshift.generators.theories.statistics import LabelStatistics

SHARD_ROWS = 100_000
GROUP_ROWS = 10_000
"""Rows in memory at a time; a shard is so many of these groups as fill it."""
_PLAIN_ROWS = 1_000


def _rechunk(tables: Iterable[pa.Table], num_rows: int) -> Iterator[pa.Table]:
    """Yield tables of exactly `num_rows` rows (the last may be shorter) from tables of any."""
    held: list[pa.Table] = []
    rows = 0
    for table in tables:
        held.append(table)
        rows += table.num_rows
        while rows >= num_rows:
            joined = pa.concat_tables(held).combine_chunks()
            yield joined.slice(0, num_rows)
            held = [joined.slice(num_rows)]
            rows -= num_rows
    if rows:
        yield pa.concat_tables(held).combine_chunks()


class ShardWriter:
    """Writes splits into a folder as shards, counting and hashing every row on the way."""

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        self._folder = folder
        self._schema = schema
        self._fingerprint = Fingerprint()
        self.files: list[dict[str, Any]] = []
        """One entry a file: path, split, rows, bytes, sha256."""
        self.cells: dict[str, Counter[tuple[int, int]]] = {}
        """Rows by (num_symbols, size), for each split."""
        self.hard: Counter[str] = Counter()
        """Rows that no shortcut solves, by split."""
        self.solvers: Counter[str] = Counter()
        """Rows by the solver that made their target."""
        self.labels = LabelStatistics()
        """What gives the label away, for tasks whose answer is one."""

    def summary(self) -> dict[str, Any]:
        """Return what the manifest says of the rows written."""
        return {
            "files": self.files,
            "fingerprint": self._fingerprint.hexdigest(),
            "cells": _cells_as_list(self.cells),
            "hard_rows": dict(self.hard),
            "solvers": dict(self.solvers),
            **({"shortcut_statistics": found} if (found := self.labels.summary()) else {}),
        }

    def write_split(self, split: str, tables: Iterable[pa.Table]) -> int:
        """Write all rows of a split; the splits come in the order train, validation, test.

        Args:
            split: Its name.
            tables: Its rows, in order.

        Returns:
            The number of rows; with none, no file is written.
        """
        shards: list[tuple[Path, int]] = []
        groups = _rechunk(tables, min(GROUP_ROWS, SHARD_ROWS))
        for first in groups:
            # How many shards there will be is only known at the end.
            path = self._folder / "data" / f".{split}-{len(shards)}"
            others = islice(groups, max(0, SHARD_ROWS // GROUP_ROWS - 1))
            shards.append((path, self._write_shard(split, path, chain([first], others))))
        for number, (path, rows) in enumerate(shards):
            name = f"{split}-{number:05d}-of-{len(shards):05d}.parquet"
            self._note(split, path.rename(path.with_name(name)), rows)
        return sum(rows for _, rows in shards)

    def _write_shard(self, split: str, path: Path, groups: Iterable[pa.Table]) -> int:
        rows = 0
        with (
            whole_file(path) as hidden,
            pq.ParquetWriter(hidden, self._schema, compression="zstd") as writer,
        ):
            for group in groups:
                self._count(split, group)
                writer.write_table(group)
                rows += group.num_rows
        return rows

    def _note(self, split: str, path: Path, rows: int) -> None:
        self.files.append(
            {
                "path": f"data/{path.name}",
                "split": split,
                "rows": rows,
                "bytes": path.stat().st_size,
                "sha256": sha256_of(path),
            }
        )

    def _count(self, split: str, table: pa.Table) -> None:
        cells = self.cells.setdefault(split, Counter())
        for batch in table.to_batches(max_chunksize=_PLAIN_ROWS):
            for row in batch.to_pylist():
                self._fingerprint.update(row)
                cells[row["num_symbols"], row["size"]] += 1
                self.hard[split] += not row["shortcuts"]
                self.solvers[row["solver"]] += 1
                if row.get("label") is not None:
                    self.labels.add(row)


def _cells_as_list(cells: Mapping[str, Counter[tuple[int, int]]]) -> list[dict[str, Any]]:
    return [
        {"split": split, "num_symbols": num_symbols, "size": size, "rows": rows}
        for split, counts in cells.items()
        for (num_symbols, size), rows in sorted(counts.items())
    ]
