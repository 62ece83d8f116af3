"""Files that are whole or absent: written under a hidden name, synced, then renamed."""

import errno
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from symshift.data.errors import DataError, SymshiftError, UsageError

LOCK_NAME = ".symshift.lock"
_MARKS = (
    ("manifest.json",),
    (".partial",),
    ("part.json",),
    ("model.safetensors",),
    ("config.json", "log.jsonl"),
)
"""What tells a data set or a run, finished or not, from other folders."""


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a hidden path to write to; it becomes `path` at the end, or vanishes on an error."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    hidden = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield hidden
        with hidden.open("rb") as file:
            os.fsync(file.fileno())
        hidden.replace(path)
    finally:
        hidden.unlink(missing_ok=True)


def require_output(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Refuse to write where something would be destroyed that took work to make.

    Args:
        path: The file or folder that a user wants to be written.
        inputs: What it is made from.

    Raises:
        UsageError: If it is one of the inputs, or lies in a data set or a run.
    """
    place = path.resolve()
    if any(place == given.resolve() for given in inputs):
        raise UsageError(f"{path}: is read here, and would be overwritten; choose another name")
    _require_outside(path, (place, *place.parents))


def require_outputs(paths: Iterable[Path], inputs: Iterable[Path] = ()) -> None:
    """Refuse files to write that would destroy one another, an input, or a data set or a run.

    Args:
        paths: All the files that one command writes.
        inputs: All that it reads.

    Raises:
        UsageError: If two are the same, one is a folder, or `require_output` refuses one.
    """
    given, places = list(inputs), set[Path]()
    for path in paths:
        require_output(path, given)
        if path.is_dir():
            raise UsageError(f"{path}: is a folder; name a file to write")
        if (place := path.resolve()) in places:
            raise UsageError(f"{path}: would be written twice; choose another name")
        places.add(place)


def require_regular(path: Path) -> None:
    """Refuse what cannot be read several times, such as a pipe.

    Missing files and folders are left to what reads them.

    Raises:
        UsageError: If it is there and neither a regular file nor a folder.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise UsageError(
            f"{path}: is no regular file, and would be read several times; write it to a file first"
        )


def _require_outside(path: Path, folders: Iterable[Path]) -> None:
    for folder in folders:
        if any(all((folder / name).exists() for name in mark) for mark in _MARKS):
            raise UsageError(f"{path}: lies in the data set or run {folder}; choose another place")


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8 with Unix line ends, whole or not at all."""
    with whole_file(path) as hidden:
        hidden.write_bytes(text.encode())


def json_text(value: Any) -> str:
    """Return a value as JSON with sorted keys and a final line end; NaN is refused."""
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file, whole or not at all."""
    write_text(path, json_text(value))


def read_json(path: Path) -> Any:
    """Read a JSON file.

    Raises:
        DataError: If it is missing or broken; the message names the file and the line.
    """
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except json.JSONDecodeError as error:
        raise DataError(f"{path}: broken JSON in line {error.lineno}: {error.msg}") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 at byte {error.start}") from None
    except (RecursionError, ValueError) as error:
        raise DataError(f"{path}: JSON that cannot be read ({error})") from None


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Keep every other run out of a folder; the system frees the lock of a run that died.

    Raises:
        UsageError: If it lies inside a data set or a run.
        SymshiftError: If another run holds the folder.
    """
    _require_outside(folder, folder.resolve().parents)
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / LOCK_NAME, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise SymshiftError(f"{folder}: another run is writing here; wait for it to end") from None
    try:
        yield
    finally:
        lock.release()
