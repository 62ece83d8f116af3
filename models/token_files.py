"""An entry of the token cache: arrays that are written a piece at a time and mapped when read.

```
KEY/ entry.json        what it was made from, and each array's type, length and SHA-256
     source.npy        ids of the problems, one row behind the other, and a 0
     source_lengths.npy
     target.npy        ids of the answers, likewise
     target_lengths.npy
     paths.npy         packed tree paths, where the model needs them; as long as source.npy
```

`entry.json` is written last. An entry is used only if its files are the ones that were written:
every file is hashed when it is opened, which takes less time than copying it, and tells a torn
write or a worn disk from ids that merely look right.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from symshift.data.errors import DataError
from symshift.data.files import read_json, sha256_of, whole_file, write_json
from symshift.models.encoding import EncodedRows
from symshift.models.ragged import AnyInt, AnyInts, Ragged

RECORD = "entry.json"
SOURCE, TARGET, PATHS = "source", "target", "paths"
_LENGTHS = "_lengths"


class BrokenEntryError(Exception):
    """An entry that is not what was written; the text says why."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What an entry is made from, and what its arrays must therefore be."""

    parts: Mapping[str, Any]
    """All that decides the numbers, as plain JSON."""
    num_rows: int
    """The number of rows."""
    num_ids: int
    """The number of ids."""
    id_type: np.dtype[AnyInt]
    """The type of ids."""
    with_paths: bool
    """Whether there are paths."""

    @property
    def key(self) -> str:
        """The name of the entry: 64 hexadecimal digits that only these parts have."""
        text = json.dumps(self.parts, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def types(self) -> dict[str, np.dtype[AnyInt]]:
        """The type of each array."""
        length_type: np.dtype[AnyInt] = np.dtype(np.int32)
        types = {
            SOURCE: self.id_type,
            SOURCE + _LENGTHS: length_type,
            TARGET: self.id_type,
            TARGET + _LENGTHS: length_type,
        }
        return types | ({PATHS: np.dtype(np.int64)} if self.with_paths else {})


def write_entry(folder: Path, recipe: Recipe, batches: Iterable[EncodedRows]) -> None:
    """Write an entry from batches of rows, of which one is in memory at a time.

    What a writer that was killed has left is removed.
    """
    (folder / RECORD).unlink(missing_ok=True)
    for left in folder.glob(".*.tmp"):
        left.unlink()
    with ExitStack() as files:
        append = {
            name: files.enter_context(_growing_array(_path(folder, name), kind))
            for name, kind in recipe.types.items()
        }
        for batch in batches:
            for name, values in _arrays(batch).items():
                append[name](values)
        for name in {SOURCE, TARGET, PATHS} & append.keys():
            append[name](np.zeros(1, np.int64))
    arrays = {name: _description(_path(folder, name)) for name in recipe.types}
    write_json(folder / RECORD, {"parts": recipe.parts, "arrays": arrays})


def read_entry(folder: Path, recipe: Recipe) -> EncodedRows | None:
    """Return the rows of an entry, mapped from its files; None if there is no entry.

    Raises:
        BrokenEntryError: If it is not the entry that this recipe gives.
    """
    if not (folder / RECORD).is_file():
        return None
    try:
        record = read_json(folder / RECORD)
        arrays = {name: _description(_path(folder, name)) for name in recipe.types}
        if record != {"parts": recipe.parts, "arrays": arrays}:
            raise BrokenEntryError("a file is not the one that was written")
        return _rows({name: _mapped(_path(folder, name)) for name in recipe.types}, recipe)
    except (DataError, OSError, ValueError, EOFError) as error:
        raise BrokenEntryError(str(error)) from error


def _path(folder: Path, name: str) -> Path:
    return folder / f"{name}.npy"


def _arrays(rows: EncodedRows) -> dict[str, AnyInts]:
    arrays = {
        SOURCE: rows.source.values[:-1].numpy(),
        SOURCE + _LENGTHS: rows.source.lengths,
        TARGET: rows.target.values[:-1].numpy(),
        TARGET + _LENGTHS: rows.target.lengths,
    }
    return arrays | ({} if rows.paths is None else {PATHS: rows.paths.values[:-1].numpy()})


@contextmanager
def _growing_array(path: Path, kind: np.dtype[AnyInt]) -> Iterator[Callable[[AnyInts], None]]:
    """Yield what appends numbers to a one-dimensional .npy file, which is whole at the end."""
    length = 0

    def append(values: AnyInts) -> None:
        nonlocal length
        file.write(values.astype(kind, copy=False).tobytes())
        length += len(values)

    with whole_file(path) as hidden, hidden.open("wb") as file:
        _write_header(file, kind, length)
        start = file.tell()
        yield append
        file.seek(0)
        _write_header(file, kind, length)
        assert file.tell() == start, "NumPy leaves room for the length in a header"


def _write_header(file: BinaryIO, kind: np.dtype[AnyInt], length: int) -> None:
    header = {"descr": kind.str, "fortran_order": False, "shape": (length,)}
    np.lib.format.write_array_header_1_0(file, header)


def _mapped(path: Path) -> AnyInts:
    """Map an array into memory; whatever is written to it stays in memory.

    PyTorch takes only arrays that can be written to.
    """
    return np.lib.format.open_memmap(path, mode="c")


def _description(path: Path) -> dict[str, Any]:
    array = _mapped(path)
    return {"dtype": str(array.dtype), "shape": list(array.shape), "sha256": sha256_of(path)}


def _rows(arrays: Mapping[str, AnyInts], recipe: Recipe) -> EncodedRows:
    """Return arrays as rows.

    Raises:
        BrokenEntryError: If an array has another type or length, or a number is out of bounds.
    """
    for name, kind in recipe.types.items():
        if arrays[name].dtype != kind or arrays[name].ndim != 1:
            raise BrokenEntryError(f"{name} is no row of {kind}")
    rows = {
        name: _ragged(arrays[name], arrays[name + _LENGTHS], recipe) for name in (SOURCE, TARGET)
    }
    for name in (SOURCE, TARGET):
        _require_between(name, arrays[name], 0, recipe.num_ids - 1)
    if not recipe.with_paths:
        return EncodedRows(source=rows[SOURCE], target=rows[TARGET], paths=None)
    paths = _ragged(arrays[PATHS], arrays[SOURCE + _LENGTHS], recipe)
    _require_between(PATHS, arrays[PATHS], 0, (1 << 63) - 1)
    return EncodedRows(source=rows[SOURCE], target=rows[TARGET], paths=paths)


def _ragged(values: AnyInts, lengths: AnyInts, recipe: Recipe) -> Ragged:
    _require_between("a length", lengths, 1, len(values) - 1)
    lengths_N = lengths.astype(np.int64)
    if len(lengths_N) != recipe.num_rows or lengths_N.sum() != len(values) - 1 or values[-1]:
        raise BrokenEntryError(f"{recipe.num_rows} rows do not fill the numbers")
    return Ragged.stored(lengths_N, values)


def _require_between(name: str, values: AnyInts, low: int, high: int) -> None:
    if len(values) and not low <= values.min() <= values.max() <= high:
        raise BrokenEntryError(f"{name} is not between {low} and {high}")
