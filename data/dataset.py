"""A data set on disk, as it is read: a folder with a manifest, a card and Parquet shards.

Only files that the manifest names are read, so nothing stale or unfinished is ever picked up.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from symshift.data.errors import DataError, UsageError, unknown_name
from symshift.data.example import SPLIT_VERSION, SPLITS, Example
from symshift.data.files import read_json, sha256_of
from symshift.data.manifest import manifest_fault
from symshift.data.vocabulary import Window

AS_PUBLISHED = "as published"
"""The split_rule of an imported data set whose splits are its publisher's."""
BATCH_ROWS = 4096


class Fingerprint:
    """A running hash of row values: independent of file layout and of pyarrow."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256(b"fingerprint-v1")

    def update(self, row: Mapping[str, Any]) -> None:
        """Take in the next row; rows count in the order train, validation, test."""
        values = json.dumps(dict(row), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        self._hash.update(values.encode() + b"\n")

    def hexdigest(self) -> str:
        """Return the fingerprint of the rows so far, 64 hexadecimal digits."""
        return self._hash.hexdigest()


class Dataset:
    """A finished data set; open it with `open_dataset`."""

    def __init__(self, path: Path, manifest: Mapping[str, Any]) -> None:
        self.path = path
        """The folder."""
        self.manifest = manifest
        """The parsed manifest.json."""
        self.task_name: str = manifest["task"]
        """The task's name."""
        self.window = Window(*manifest["vocabulary"]["window"])
        """The names that the data set may use."""
        self.fingerprint: str = manifest["fingerprint"]
        """The hash of all row values."""
        self.split_rule: str = manifest.get("split_rule", SPLIT_VERSION)
        """What decides the split of a row: its content (SPLIT_VERSION), or AS_PUBLISHED."""
        self._files: Sequence[Mapping[str, Any]] = manifest["files"]
        self._sound: set[str] = set()

    @property
    def name(self) -> str:
        """The folder's name, to show."""
        return self.path.resolve().name

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that have rows, in the fixed order."""
        return tuple(s for s in SPLITS if any(f["split"] == s for f in self._files))

    def num_rows(self, split: str) -> int:
        """Return the number of rows of a split."""
        return sum(file["rows"] for file in self._of(split))

    def ranges(self, split: str) -> dict[str, str]:
        """Return the least and greatest `num_symbols` and `size` of a split's rows, as "A-B".

        They are the manifest's, and none where it does not say.
        """
        cells = [cell for cell in self.manifest["cells"] if cell["split"] == split]
        if not cells:
            return {}
        found = {name: [cell[name] for cell in cells] for name in ("num_symbols", "size")}
        return {name: f"{min(values)}-{max(values)}" for name, values in found.items()}

    def files(self, split: str) -> list[Path]:
        """Return the shards of a split, in order.

        Raises:
            DataError: If one is missing, or not the file that the manifest describes: results
                would else carry the fingerprint of other rows than were scored.
        """
        return [self._checked(file) for file in self._of(split)]

    def _checked(self, file: Mapping[str, Any]) -> Path:
        path: Path = self.path / file["path"]
        if file["path"] in self._sound:
            return path
        try:
            is_same = path.stat().st_size == file["bytes"] and sha256_of(path) == file["sha256"]
        except OSError as error:
            raise broken_shard(path, error) from error
        if not is_same:
            raise broken_shard(path, ValueError("its SHA-256 is not the manifest's"))
        self._sound.add(file["path"])
        return path

    def rows(self, split: str) -> Iterator[Example]:
        """Yield the rows of a split in order, a batch in memory at a time."""
        for batch in self._batches(split, None):
            yield from map(Example.from_columns, batch.to_pylist())

    def batches(self, split: str, names: Sequence[str]) -> Iterator[dict[str, list[Any]]]:
        """Yield some columns of a split in order, a batch in memory at a time."""
        for batch in self._batches(split, list(names)):
            yield batch.to_pydict()

    def columns(self, split: str, names: Sequence[str]) -> dict[str, list[Any]]:
        """Return whole columns of a split as lists."""
        tables = [self._open(path).read(columns=list(names)) for path in self.files(split)]
        table = pa.concat_tables(tables)
        return {name: table[name].to_pylist() for name in names}

    def _of(self, split: str) -> list[Mapping[str, Any]]:
        found = [file for file in self._files if file["split"] == split]
        if not found:
            if split not in SPLITS:
                raise unknown_name("split", split, SPLITS)
            raise UsageError(f"{self.path}: no {split} rows; it has {', '.join(self.splits)}")
        return found

    def _open(self, path: Path) -> pq.ParquetFile:
        try:
            return pq.ParquetFile(path, memory_map=True)
        except (pa.ArrowInvalid, OSError) as error:
            raise broken_shard(path, error) from error

    def _batches(self, split: str, names: list[str] | None) -> Iterator[Any]:
        for path in self.files(split):
            file = self._open(path)
            try:
                yield from file.iter_batches(batch_size=BATCH_ROWS, columns=names)
            except (pa.ArrowInvalid, OSError) as error:
                raise broken_shard(path, error) from error


def broken_shard(path: Path, error: Exception) -> DataError:
    """Return the error for a shard that cannot be read, with the remedy."""
    cause = str(error).splitlines()[0][:120]
    return DataError(
        f"{path}: missing, truncated or no Parquet ({cause}); run `symshift verify` on the data "
        "set, then generate it again with --overwrite or restore the file"
    )


def open_dataset(path: Path | str) -> Dataset:
    """Open a data set that symshift wrote.

    Raises:
        DataError: If the folder holds no finished data set, or one of a newer version.
    """
    folder = Path(path)
    if not (folder / "manifest.json").is_file():
        raise DataError(
            f"{folder}: no manifest.json, so no finished data set; "
            "`symshift generate` writes one, and the same command resumes an interrupted one"
        )
    manifest = read_json(folder / "manifest.json")
    if fault := manifest_fault(manifest):
        raise DataError(f"{folder / 'manifest.json'}: {fault}")
    return Dataset(folder, manifest)


def fingerprint_of(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the fingerprint of rows given in order."""
    fingerprint = Fingerprint()
    for row in rows:
        fingerprint.update(row)
    return fingerprint.hexdigest()
