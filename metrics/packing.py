"""Predictions as a few flat arrays: what is kept of ten million of them."""

from array import array
from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from symshift.metrics.keys import Keys, packed_keys, unpacked_keys
from symshift.metrics.record import Record

BATCH_RECORDS = 512
_MAX_BATCH_CHARACTERS = 1 << 26
Integers = npt.NDArray[np.int64]


class PackedRecords:
    """Records in the order of their file."""

    def __init__(self, records: Iterable[Record]) -> None:
        """Take in all records."""
        self._keys = bytearray()
        self._num_records = 0
        self._ends = array("q")
        """Behind the last sample of each record; empty while each has one."""
        self._reasons = array("i")
        """Places in _known_reasons, each -1 where the first sample is an answer."""
        self._known_reasons: dict[str, int] = {}
        self._reason_names: tuple[str, ...] = ()
        self._text = bytearray()
        self._text_ends = array("q", [0])
        self._nulls = array("q")
        for batch in _batches(records):
            self._add(batch)
        self._samples = self._text_array()

    def __len__(self) -> int:
        return self._num_records

    @property
    def keys(self) -> Keys:
        """The key of each record's id."""
        return unpacked_keys(self._keys)

    def drop_ids(self) -> None:
        """Forget the keys, which nobody needs after joining."""
        self._keys = bytearray()

    def reason(self, at: int) -> str:
        """Return why the first sample of a record is no answer; empty where it is one."""
        code = self._reasons[at]
        return self._reason_names[code] if code >= 0 else ""

    def samples(self, places: Integers) -> Iterator[list[str | None]]:
        """Yield the texts of the records at some places, in order; none for a negative place."""
        if not self._ends:
            taken = self._samples.take(pa.array(places, mask=places < 0))
            yield from ([text] for text in taken.to_pylist())
            return
        for place in places.tolist():
            start = self._ends[place - 1] if place > 0 else 0
            stop = self._ends[place] if place >= 0 else start
            yield self._samples.slice(start, stop - start).to_pylist()

    def _add(self, batch: list[Record]) -> None:
        self._keys += packed_keys(record.id for record in batch)
        self._num_records += len(batch)
        self._reasons.extend([self._code(record.reason) for record in batch])
        self._reason_names = tuple(self._known_reasons)
        num_before = len(self._text_ends) - 1
        texts = [text for record in batch for text in record.samples]
        if self._ends or len(texts) != len(batch) or not all(r.samples for r in batch):
            if not self._ends:
                self._ends.extend(range(1, num_before + 1))
            counts = np.array([len(record.samples) for record in batch], dtype=np.int64)
            self._ends.frombytes((num_before + np.cumsum(counts)).tobytes())
        self._nulls.extend([num_before + at for at, text in enumerate(texts) if text is None])
        self._add_texts(texts)

    def _code(self, reason: str) -> int:
        return self._known_reasons.setdefault(reason, len(self._known_reasons)) if reason else -1

    def _add_texts(self, texts: list[str | None]) -> None:
        if not texts:
            return
        _, ends, text = pa.array(texts, pa.large_string()).buffers()
        moved = np.frombuffer(ends, dtype=np.int64, count=len(texts) + 1) + len(self._text)
        self._text_ends.frombytes(moved[1:].tobytes())
        if text is not None:
            self._text += memoryview(text)[: int(moved[-1]) - len(self._text)]

    def _text_array(self) -> pa.Array:
        num = len(self._text_ends) - 1
        buffers = (pa.py_buffer(self._text_ends), pa.py_buffer(self._text))
        validity = None
        if self._nulls:
            is_text = np.ones(num, dtype=bool)
            is_text[np.frombuffer(self._nulls, dtype=np.int64)] = False
            validity = pa.py_buffer(np.packbits(is_text, bitorder="little"))
        return pa.LargeStringArray.from_buffers(num, *buffers, validity, len(self._nulls))


def _batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Yield the records in lists that are short, and short in characters too."""
    waiting = iter(records)
    while batch := list(islice(waiting, BATCH_RECORDS // 16)):
        characters = _characters(batch)
        while len(batch) < BATCH_RECORDS and characters < _MAX_BATCH_CHARACTERS:
            more = list(islice(waiting, BATCH_RECORDS // 16))
            if not more:
                break
            batch += more
            characters += _characters(more)
        yield batch


def _characters(records: list[Record]) -> int:
    return sum(len(text or "") for record in records for text in record.samples)
