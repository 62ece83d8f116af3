"""Which rows are equivalent, among millions: 128-bit identities in sorted arrays.

Two rows are equivalent when their identities are equal: hashes of the canonical form
(example.canonical_id_of), made anew from each row's text. Rows that rename one problem share a
*family*, the row that they were made from, and are equivalent by intention. A row takes 48 bytes
here, and 16 more for a task whose names matter.
"""

import struct
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from symshift.data.task import Cell

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_PACK = struct.Struct("<16s8s8sqii").pack
_KEY = np.dtype([("high", "<u8"), ("low", "<u8")])
_ROW = np.dtype(
    [
        *((name, "<u8") for name in ("high", "low", "family", "text")),
        ("place", "<i8"),
        ("file", "<i4"),
        ("cell", "<i4"),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What decides which rows a row is equivalent to."""

    canonical: bytes
    """The hash of its canonical form, 16 bytes."""
    family: bytes
    """The hash of the row that it renames, or of itself; 8 bytes."""
    text: bytes
    """The hash of its text, 8 bytes."""
    loose: bytes | None
    """The hash of its form modulo renaming, 16 bytes, where names matter to the task."""
    cell: Cell
    """Its number of symbols and its size."""


class RowCollector:
    """Collects the identities of a split's rows, in order."""

    def __init__(self) -> None:
        self._rows = bytearray()
        self._loose = bytearray()
        self._cells: dict[Cell, int] = {}

    def add(self, identity: Identity, file: int, place: int) -> None:
        """Take in the next row.

        Args:
            identity: Its identity.
            file: The number of its file.
            place: Its line or row there.
        """
        cell = self._cells.setdefault(identity.cell, len(self._cells))
        self._rows += _PACK(identity.canonical, identity.family, identity.text, place, file, cell)
        if identity.loose is not None:
            self._loose += identity.loose

    def rows(self) -> "Rows":
        """Return all rows, sorted by identity."""
        rows = np.frombuffer(self._rows, _ROW)
        loose = np.frombuffer(self._loose, _KEY) if self._loose else None
        return Rows(rows, None if loose is None else _distinct(loose), list(self._cells))


class Rows:
    """The rows of one split, grouped into problems: the sets of equivalent rows."""

    def __init__(self, rows: npt.NDArray[Any], loose: npt.NDArray[Any] | None, cells: list[Cell]):
        self._rows = rows
        self._cells = cells
        self.loose = loose
        """The distinct forms modulo renaming, where names matter to the task."""
        self.order = _sorting(rows)
        """The rows by identity; equivalent rows stay in their order."""
        self.starts = np.flatnonzero(_changes(rows[self.order]))
        """Where each problem starts in `order`."""

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def counts(self) -> Ints:
        """How many rows each problem has."""
        return np.diff(self.starts, append=len(self))

    @property
    def keys(self) -> npt.NDArray[Any]:
        """The identity of each problem, ascending."""
        return _keys(self._rows[self.order[self.starts]])

    @property
    def texts(self) -> npt.NDArray[np.uint64]:
        """The distinct hashes of texts, ascending."""
        return np.unique(self._rows["text"])

    def place(self, row: int) -> tuple[int, int]:
        """Return the file and the line or row of a row, given by its position."""
        return int(self._rows["file"][row]), int(self._rows["place"][row])

    def cells(self, rows: Ints | None = None) -> Counter[Cell]:
        """Count rows, all or those at the positions given, by number of symbols and size."""
        codes = self._rows["cell"] if rows is None else self._rows["cell"][rows]
        counts = np.bincount(codes, minlength=len(self._cells))
        return Counter({c: int(n) for c, n in zip(self._cells, counts, strict=True) if n})

    @property
    def has_renamings(self) -> bool:
        """Whether any row renames another one."""
        return bool((self._rows["family"] != self._rows["text"]).any())

    def family_range(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """Return the least and the greatest family of each problem."""
        families = self._rows["family"][self.order]
        least = np.minimum.reduceat(families, self.starts)
        return least, np.maximum.reduceat(families, self.starts)

    def firsts(self) -> Ints:
        """Return, for each place of `order`, the position of the first row of its problem."""
        return np.repeat(self.order[self.starts], self.counts)

    def repeated(self) -> Flags:
        """Tell for each place of `order` whether its row is one too many.

        Of the rows of a problem, those that rename the same row as its first one, each with
        another text, may stay.
        """
        problem = np.repeat(np.arange(len(self.starts)), self.counts)
        sorted_rows = self._rows[self.order]
        by_text = np.lexsort((sorted_rows["text"], problem))
        texts, problems = sorted_rows["text"][by_text], problem[by_text]
        is_new = np.ones(len(self), np.bool_)
        is_new[by_text[1:]] = (texts[1:] != texts[:-1]) | (problems[1:] != problems[:-1])
        in_family: Flags = sorted_rows["family"] == self._rows["family"][self.firsts()]
        return ~(is_new & in_family)


@dataclass(frozen=True, slots=True)
class Overlap:
    """The problems that two splits share."""

    first: Ints
    """The position in the first split of the first row of each shared problem."""
    second: Ints
    """The same in the second split."""
    num_first: int
    """How many rows of the first split they are."""
    num_second: int
    """How many rows of the second split they are."""
    num_exempt: int
    """Problems left out, because all their rows rename one and the same row."""


def overlap(one: Rows, two: Rows, *, families_apart: bool) -> Overlap:
    """Find the problems that two splits share.

    Args:
        one: The first split.
        two: The second.
        families_apart: Leave out problems all of whose rows rename one and the same row.
    """
    in_one, in_two = common_keys(one.keys, two.keys)
    num_common = len(in_one)
    if families_apart and num_common:
        (least_one, most_one), (least_two, most_two) = one.family_range(), two.family_range()
        least = np.minimum(least_one[in_one], least_two[in_two])
        most = np.maximum(most_one[in_one], most_two[in_two])
        in_one, in_two = in_one[least != most], in_two[least != most]
    return Overlap(
        one.order[one.starts[in_one]],
        two.order[two.starts[in_two]],
        int(one.counts[in_one].sum()),
        int(two.counts[in_two].sum()),
        num_common - len(in_one),
    )


def common_keys(one: npt.NDArray[Any], two: npt.NDArray[Any]) -> tuple[Ints, Ints]:
    """Return where the keys stand that two arrays of distinct keys have in common."""
    both = np.concatenate([one, two])
    order = _sorting(both)
    at = np.flatnonzero(~_changes(both[order]))
    # Sorting is stable: of two equal keys, the one of the first array comes first.
    return order[at - 1], order[at] - len(one)


def num_common_texts(one: Rows, two: Rows) -> int:
    """Return how many distinct texts two splits share."""
    return len(np.intersect1d(one.texts, two.texts, assume_unique=True))


def _keys(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    keys = np.empty(len(rows), _KEY)
    keys["high"], keys["low"] = rows["high"], rows["low"]
    return keys


def _distinct(keys: npt.NDArray[Any]) -> npt.NDArray[Any]:
    keys = keys[_sorting(keys)]
    return keys[_changes(keys)]


def _sorting(keys: npt.NDArray[Any]) -> Ints:
    return np.lexsort((keys["low"], keys["high"]))


def _changes(keys: npt.NDArray[Any]) -> Flags:
    """Tell for each of sorted keys whether it differs from the one before it."""
    high, low = keys["high"], keys["low"]
    changes = np.ones(len(keys), np.bool_)
    changes[1:] = (high[1:] != high[:-1]) | (low[1:] != low[:-1])
    return changes
