"""Predictions meet rows: by id, whatever the order, in a few bytes a row.

Ids are compared by 128-bit hashes, so that ten million of them are sorted arrays of numbers and
not a dictionary of strings.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from symshift.metrics.predictions import BATCH_RECORDS, Predictions, Problems

_KEY_BYTES = 16
_NO_KEYS = np.empty(0, dtype=f"S{_KEY_BYTES}")
Keys = npt.NDArray[np.bytes_]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system said about one row."""

    samples: Sequence[str | None] | None
    """Its texts, the first of which counts; None where it gave nothing that could be one."""
    reason: str = ""
    """Why the first sample is no answer; empty where it is one."""
    is_missing: bool = False
    """Whether the file does not mention the row."""


MISSING = Answer(None, "no prediction", is_missing=True)


def keys_of(ids: Iterable[str]) -> Keys:
    """Return one fixed-size key for each id, in order."""
    waiting, packed = iter(ids), bytearray()
    # By batches: join would make a list of all digests first.
    while batch := list(islice(waiting, BATCH_RECORDS)):
        packed += b"".join(blake2b(i.encode(), digest_size=_KEY_BYTES).digest() for i in batch)
    return np.frombuffer(packed, dtype=f"S{_KEY_BYTES}") if packed else _NO_KEYS


class Joined:
    """The predictions of one file in the order of the data set's rows."""

    def __init__(self, table: pa.Table, places: npt.NDArray[np.int64]) -> None:
        self._samples = _combined(table, "samples")
        self._reasons = _combined(table, "reason")
        self._places = places

    def answers(self, start: int, stop: int) -> list[Answer]:
        """Return the answers to the rows from `start` to `stop`, the latter excluded."""
        places = self._places[start:stop]
        wanted = pa.array(places, mask=places < 0)
        samples: list[Any] = self._samples.take(wanted).to_pylist()
        reasons: list[Any] = self._reasons.take(wanted).to_pylist()
        found = zip(places.tolist(), samples, reasons, strict=True)
        return [
            Answer(texts, reason or "") if place >= 0 else MISSING for place, texts, reason in found
        ]


def join(predictions: Predictions, row_keys: Keys) -> Joined:
    """Match predictions with rows.

    Args:
        predictions: One file's predictions.
        row_keys: The keys of the data set's ids, in row order, each once.

    Raises:
        DataError: If an id is repeated or is not in the data set; the message names the lines.
    """
    table = predictions.table
    starts = range(0, len(table), BATCH_RECORDS)
    parts = (table["id"].slice(start, BATCH_RECORDS).to_pylist() for start in starts)
    keys = keys_of(id for part in parts for id in part)
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    places = np.full(len(row_keys), -1, dtype=np.int64)
    if len(keys):
        at = np.searchsorted(sorted_keys, row_keys).clip(max=len(keys) - 1)
        found = sorted_keys[at] == row_keys
        places[found] = order[at[found]]
    _refuse_wrong_ids(predictions, sorted_keys, order, places)
    return Joined(table, places)


def _combined(table: pa.Table, column: str) -> pa.Array:
    whole = table[column]
    return whole.chunk(0) if whole.num_chunks == 1 else whole.combine_chunks()


def _refuse_wrong_ids(
    predictions: Predictions,
    sorted_keys: Keys,
    order: npt.NDArray[np.int64],
    places: npt.NDArray[np.int64],
) -> None:
    problems = Problems(predictions.name)
    ids, lines = predictions.table["id"], predictions.table["line"]
    again = np.zeros(len(order), dtype=bool)
    again[1:] = sorted_keys[1:] == sorted_keys[:-1]
    first = order[np.maximum.accumulate(np.where(again, 0, np.arange(len(order))))]
    unknown = np.ones(len(order), dtype=bool)
    unknown[places[places >= 0]] = False
    earlier = dict(zip(order[again].tolist(), first[again].tolist(), strict=True))
    for record in sorted({*earlier, *np.flatnonzero(unknown).tolist()}):
        line, shown = lines[record].as_py(), f"id {ids[record].as_py()!r:.80}"
        if record in earlier:
            before = f"{problems.unit} {lines[earlier[record]]}"
            problems.add(line, f"{shown} was given in {before} already")
        else:
            problems.add(line, f"{shown} is not in the data set")
    problems.raise_any()
