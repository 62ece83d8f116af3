"""One prediction as a reader found it, and what a reader must be told and may complain of.

A prediction is a text, a list of texts (several samples, the first of which counts), or null.
Anything else is kept as an answer that is invalid, with its reason: one odd value does not spoil a
file. What cannot be joined to a row does: broken JSON or UTF-8, an id that is no text.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from symshift.data.errors import DataError
from symshift.data.files import write_text
from symshift.data.lines import Line, lines_of

MAX_PROBLEMS_SHOWN = 10
MAX_PROBLEMS_KEPT = 100_000
NATIVE = "native"
"""The notation of the rows' own targets."""
BY_ID = "id"
BY_INPUT = "input"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How files of predictions are read: what the user says of them."""

    format: str | None = None
    """The name of a reader; None: the file shows it."""
    filter: str | None = None
    """Which of a log's filters to read; None where there is one only."""
    notation: str = NATIVE
    """The notation of the answers."""


@dataclass(frozen=True, slots=True)
class Record:
    """One prediction as it was found."""

    line: int
    """Where: the line of a text file, else the row or sample; all from 1."""
    id: str
    """The row that it answers: its id, or its input."""
    samples: tuple[str | None, ...]
    """Its texts, the first of which counts; none where the value is no answer at all."""
    reason: str
    """Why the first sample is no answer; empty where it is one."""


class RecordError(ValueError):
    """A record that cannot be joined to any row; the message says why."""


class Problems:
    """What is wrong with a file, each with its place; a message shows the first ones."""

    def __init__(self, name: str, unit: str = "line") -> None:
        self.name = name
        """What messages call the file."""
        self.unit = unit
        """What a record's place is called."""
        self._kept: list[tuple[int, str]] = []
        self._count = 0

    def __bool__(self) -> bool:
        """Tell whether there is a problem."""
        return self._count > 0

    def add(self, line: int, text: str) -> None:
        """Note a problem."""
        self._count += 1
        if len(self._kept) < MAX_PROBLEMS_KEPT:
            self._kept.append((line, text))

    def raise_any(self, listing: Path | None = None) -> None:
        """Refuse the file if there was a problem.

        Args:
            listing: Where to write all of them, a line each.

        Raises:
            DataError: With the first problems and the number of the others.
        """
        lines = [f"{self.unit} {line}: {text}" for line, text in sorted(self._kept)]
        if listing is not None:
            self._list(listing, lines)
        if not self._count:
            return
        rest = self._count - min(self._count, MAX_PROBLEMS_SHOWN)
        more = f"; and {rest} more" if rest else ""
        if listing is not None:
            more += f"; all are in {listing}"
        elif rest:
            more += " (--problems FILE lists them)"
        raise DataError(f"{self.name}: {'; '.join(lines[:MAX_PROBLEMS_SHOWN])}{more}")

    def _list(self, path: Path, lines: list[str]) -> None:
        """Write all problems, or an empty file where there is none."""
        lost = self._count - len(lines)
        listed = [*lines, *([f"and {lost} more"] if lost else [])]
        write_text(path, "".join(f"{self.name}: {line}\n" for line in listed))


Read = Callable[[BinaryIO, Problems, Reading], Iterator[Record]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A format of predictions: metrics/readers/NAME.py holds one as READER."""

    read: Read
    """Yields the records of a file, and notes what cannot be one."""
    suffixes: tuple[str, ...] = ()
    """The file names' ends that mean this format, whatever the file holds."""
    marks: frozenset[str] = field(default_factory=frozenset)
    """The keys by which the first line, read as a JSON object, means this format."""
    unit: str = "line"
    """What a record's place is called."""
    joined_by: str = BY_ID
    """What records name their row by: BY_ID or BY_INPUT."""
    notation: str | None = None
    """The notation that the format prescribes; None where the user says it."""
    has_filters: bool = False
    """Whether one file may hold the answers of several filters."""


def record_of(line: int, row_id: Any, value: Any) -> Record:
    """Return the record of an id and a prediction of whatever type.

    Raises:
        RecordError: If the id can be none.
    """
    if not isinstance(row_id, str):
        raise RecordError(f"id {row_id!r:.60} is not a text")
    if not _is_unicode(row_id):
        raise RecordError(f"id {row_id!r:.60} holds a lone surrogate")
    if not isinstance(value, (list, tuple)):
        text, reason = answer_of(value)
        return Record(line, row_id, (text,), reason)
    if not value:
        return Record(line, row_id, (), "the list of samples is empty")
    answers = [answer_of(sample) for sample in value]
    return Record(line, row_id, tuple(text for text, _ in answers), answers[0][1])


def answer_of(value: Any) -> tuple[str | None, str]:
    """Return the text that a value is, or None and why it is none."""
    if isinstance(value, str):
        return (value, "") if _is_unicode(value) else (None, "the text holds a lone surrogate")
    if value is None:
        return None, "the prediction is null"
    kinds = {bool: "a Boolean", int: "a number", float: "a number", dict: "an object"}
    return None, f"the prediction is {kinds.get(type(value), 'no text')}, not a text"


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def readable_lines(stream: BinaryIO, problems: Problems) -> Iterator[Line]:
    """Yield the lines that can be read, and note the others."""
    for line in lines_of(stream):
        if line.problem:
            problems.add(line.number, line.problem)
        else:
            yield line
