"""Where examples come from: a data set of symshift, or anybody's files, split by split."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from symshift.data import polish
from symshift.data.dataset import open_dataset
from symshift.data.errors import DataError, UsageError, unknown_name
from symshift.data.example import SPLITS
from symshift.data.plugins import plugin_names
from symshift.data.records import (
    Columns,
    Record,
    is_trace_line,
    json_records,
    pair_records,
    parquet_records,
)

FORMATS = {".parquet": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl", ".txt": "deepltl"}
"""What a file holds, by its suffix."""
_PAIR_TARGETS = {"ltl": is_trace_line, "prop": polish.is_assignment}
_ROLES = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("val", "valid", "validation", "dev"), "validation"),
    **dict.fromkeys(("test", "testing"), "test"),
}
_ORDER = {split: place for place, split in enumerate(SPLITS)}
_SHARD = re.compile(r"-\d{5}-of-\d{5}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """One file of a source."""

    path: Path
    """Where it is."""
    name: str
    """Its path inside the source."""
    format: str
    """parquet, jsonl or deepltl."""
    split: str
    """The split that its rows are of: train, validation or test, or its own name."""
    stated_sha256: str | None = None
    """What the manifest says of it, where there is one."""

    @property
    def role(self) -> str | None:
        """What the split is for: train, validation, test, or None where its name does not say."""
        return role_of(self.split)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A set of examples to read; open one with `open_source`."""

    name: str
    """The folder's or file's name, to show."""
    path: Path
    """Where it is."""
    task: str
    """The task of all its rows."""
    format: str
    """symshift, parquet, jsonl, deepltl or mixed."""
    files: tuple[SourceFile, ...]
    """Its files, those of one split together."""
    columns: Columns = field(default_factory=Columns)
    """Which columns hold what."""
    fingerprint: str | None = None
    """The fingerprint that a manifest states."""

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits, in the order of the files."""
        return tuple(dict.fromkeys(file.split for file in self.files))

    def of(self, split: str) -> list[SourceFile]:
        """Return the files of a split."""
        return [file for file in self.files if file.split == split]

    def records(self, file: SourceFile) -> Iterator[Record]:
        """Yield the records of a file; a file that holds none gives one that says so.

        Raises:
            UsageError: If it lacks a column that was asked for.
        """
        record = None
        for record in self._records(file):
            yield record
        if record is None:
            yield Record(0, problem="holds no record")

    def _records(self, file: SourceFile) -> Iterator[Record]:
        if file.format == "parquet":
            return parquet_records(file.path, self.columns)
        if file.format == "jsonl":
            return json_records(file.path, self.columns)
        return pair_records(file.path, _PAIR_TARGETS[self.task])


def role_of(split: str) -> str | None:
    """Return what a split is for, as far as one word of its name says: train, validation, test."""
    words = re.split(r"[^a-z]+", split.lower())
    roles = {_ROLES[word] for word in words if word in _ROLES}
    return roles.pop() if len(roles) == 1 else None


def _split_named(stem: str) -> str:
    name = _SHARD.sub("", stem)
    return _ROLES.get(name.lower(), name)


def open_source(
    path: Path,
    *,
    task: str | None = None,
    columns: Columns | None = None,
    formats: frozenset[str] | None = None,
) -> Source:
    """Open a data set of symshift, a folder of other files, or one such file.

    Args:
        path: The folder or file. In a folder without a manifest, the files that are read are
            those with a suffix of FORMATS in it and in its folder `data`, no hidden ones.
        task: The task of the rows; not needed where a manifest says it.
        columns: Which columns of other files hold what.
        formats: Read only these formats, and no manifest.

    Raises:
        DataError: If there is nothing to read.
        UsageError: If the task is missing, unknown, or has no such format.
    """
    if not path.exists():
        raise DataError(f"{path}: no such file or folder")
    if formats is None and (path / "manifest.json").is_file():
        return _own(path, task)
    wanted = formats or frozenset(FORMATS.values())
    files = _foreign_files(path, wanted)
    if not files:
        suffixes = ", ".join(suffix for suffix, kind in FORMATS.items() if kind in wanted)
        raise DataError(f"{path}: holds no manifest.json and no file to read ({suffixes})")
    found = sorted({file.format for file in files})
    return Source(
        name=path.resolve().name,
        path=path,
        task=_checked_task(path, task, found),
        format=found[0] if len(found) == 1 else "mixed",
        files=files,
        columns=columns or Columns(),
    )


def _own(path: Path, task: str | None) -> Source:
    dataset = open_dataset(path)
    if task not in (None, dataset.task_name):
        raise UsageError(f"{path}: its task is {dataset.task_name}, not {task}")
    return Source(
        name=dataset.name,
        path=path,
        task=dataset.task_name,
        format="symshift",
        files=tuple(_own_file(path, entry) for entry in dataset.manifest["files"]),
        fingerprint=dataset.fingerprint,
    )


def _own_file(folder: Path, entry: dict[str, Any]) -> SourceFile:
    return SourceFile(
        path=folder / entry["path"],
        name=entry["path"],
        format="parquet",
        split=entry["split"],
        stated_sha256=entry["sha256"],
    )


def _foreign_files(path: Path, formats: frozenset[str]) -> tuple[SourceFile, ...]:
    if path.is_file():
        # A single file may have any suffix where only one format comes into question.
        only = next(iter(formats)) if len(formats) == 1 else None
        found = _foreign_file(path, path.name, formats, only)
        return (found,) if found else ()
    entries = sorted(entry for folder in (path, path / "data") for entry in folder.glob("[!.]*"))
    files = [
        found
        for entry in entries
        if entry.is_file()
        and (found := _foreign_file(entry, entry.relative_to(path).as_posix(), formats, None))
    ]
    # The three splits in their order, then the others by name.
    return tuple(sorted(files, key=lambda file: (_ORDER.get(file.split, len(_ORDER)), file.split)))


def _foreign_file(
    path: Path, name: str, formats: frozenset[str], default: str | None
) -> SourceFile | None:
    kind = FORMATS.get(path.suffix.lower(), default)
    if kind not in formats:
        return None
    return SourceFile(path=path, name=name, format=kind, split=_split_named(path.stem))


def _checked_task(path: Path, task: str | None, formats: list[str]) -> str:
    if task is None:
        raise UsageError(f"{path}: nothing in it says its task; give --task, such as --task ltl")
    if task not in (names := plugin_names("tasks")):
        raise unknown_name("task", task, names)
    if "deepltl" in formats and task not in _PAIR_TARGETS:
        raise UsageError(f"{path}: DeepLTL's text holds ltl or prop, not {task}")
    return task
