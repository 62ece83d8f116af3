"""Predictions meet rows: by id (or by input), whatever the order, in a few bytes a row."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from symshift.metrics.keys import Keys
from symshift.metrics.packing import PackedRecords
from symshift.metrics.predictions import Predictions

_SEARCHED_ROWS = 65_536
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system said about one row."""

    samples: Sequence[str | None]
    """Its texts, the first of which counts; none where it gave nothing that could be one."""
    reason: str = ""
    """Why the first sample is no answer; empty where it is one."""
    is_missing: bool = False
    """Whether the file does not mention the row."""

    @property
    def text(self) -> str | None:
        """The first sample, where it is an answer."""
        return self.samples[0] if self.samples and not self.reason else None


MISSING = Answer((), "no prediction", is_missing=True)


class Joined:
    """The predictions of one file in the order of the data set's rows."""

    def __init__(self, packed: PackedRecords, places: Integers, notation: str) -> None:
        self._packed = packed
        self._places = places
        self.notation = notation
        """The notation of the answers."""

    def answers(self, start: int, stop: int) -> list[Answer]:
        """Return the answers to the rows from `start` to `stop`, the latter excluded."""
        places = self._places[start:stop]
        found = zip(places.tolist(), self._packed.samples(places), strict=True)
        return [
            Answer(texts, self._packed.reason(place)) if place >= 0 else MISSING
            for place, texts in found
        ]


def join(predictions: Predictions, row_keys: Keys) -> Joined:
    """Match predictions with rows.

    Args:
        predictions: One file's predictions, whose ids are forgotten here.
        row_keys: The keys of the data set's ids (or inputs, as the file joins), in row order, each
            once.

    Raises:
        DataError: If an id is repeated or is not in the data set, or the file has other problems;
            the message names the lines.
    """
    packed = predictions.packed
    order = np.argsort(packed.keys, kind="stable")
    sorted_keys = packed.keys[order]
    # Here is the peak of memory, so nothing is kept twice.
    packed.drop_ids()
    places = _found_places(sorted_keys, order, row_keys)
    _note_wrong_ids(predictions, sorted_keys, order, places)
    predictions.problems.raise_any(predictions.listing)
    return Joined(packed, places, predictions.notation)


def _found_places(sorted_keys: Keys, order: Integers, row_keys: Keys) -> Integers:
    """Return the place of each row's record in its file, or -1; of equal ones the first."""
    places = np.full(len(row_keys), -1, dtype=np.int64)
    if not len(sorted_keys):
        return places
    for start in range(0, len(row_keys), _SEARCHED_ROWS):
        wanted = row_keys[start : start + _SEARCHED_ROWS]
        at = np.searchsorted(sorted_keys, wanted).clip(max=len(sorted_keys) - 1)
        is_found = sorted_keys[at] == wanted
        places[start : start + len(wanted)][is_found] = order[at[is_found]]
    return places


def _note_wrong_ids(
    predictions: Predictions, sorted_keys: Keys, order: Integers, places: Integers
) -> None:
    again = np.zeros(len(order), dtype=bool)
    again[1:] = sorted_keys[1:] == sorted_keys[:-1]
    is_unknown = np.ones(len(order), dtype=bool)
    is_unknown[places[places >= 0]] = False
    if not again.any() and not is_unknown.any():
        return
    first = order[np.maximum.accumulate(np.where(again, 0, np.arange(len(order))))]
    earlier = dict(zip(order[again].tolist(), first[again].tolist(), strict=True))
    lines = dict.fromkeys(earlier.values(), 0)
    problems = predictions.problems
    for at, record in enumerate(predictions.reread()):
        if at in lines:
            lines[at] = record.line
        shown = f"{predictions.joined_by} {record.id!r:.80}"
        if at in earlier:
            before = f"{problems.unit} {lines[earlier[at]]}"
            problems.add(record.line, f"{shown} was given in {before} already")
        elif is_unknown[at]:
            problems.add(record.line, f"{shown} is not in the data set")
