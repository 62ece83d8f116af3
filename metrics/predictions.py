"""Predictions: one file of any format, read as a stream and kept as compact columns.

The format is the one that `--format` names. Without it: the suffix decides where a reader claims it
(.csv, .parquet, .txt, .eval); else the first line does, if it is a JSON object with the keys that
mark a format; else a `.json` file is an inspect_ai log, and everything else JSON lines.
"""

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from symshift.data.errors import DataError, UsageError
from symshift.data.files import require_regular
from symshift.data.lines import lines_of
from symshift.data.plugins import plugin, plugin_names
from symshift.data.terminal import printable
from symshift.metrics.packing import PackedRecords
from symshift.metrics.record import (
    BY_ID,
    NATIVE,
    Problems,
    Reader,
    Reading,
    Record,
    record_of,
)

_PACKAGE = "metrics.readers"
_OTHERWISE = {".json": "inspect"}
_DEFAULT = "jsonl"
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictions:
    """All the predictions of one file."""

    packed: PackedRecords
    """They, in the order of the file."""
    problems: Problems
    """What is wrong with the file; joining adds to it, and refuses the file if there is any."""
    reread: Callable[[], Iterable[Record]]
    """Yields the records once more: ids are not kept."""
    joined_by: str = BY_ID
    """What they name their row by."""
    notation: str = NATIVE
    """The notation of the answers."""
    listing: Path | None = None
    """Where to write all problems, if there are any."""


def read_predictions(
    path: Path | str, reading: Reading | None = None, *, listing: Path | None = None
) -> Predictions:
    """Read a file of predictions. Records that cannot be joined are noted, and refused by `join`.

    Args:
        path: The file.
        reading: What the user says of it.
        listing: Where `join` shall write all that is wrong.

    Raises:
        DataError: If the file cannot be read at all.
        UsageError: If the format is unknown, or does not fit what the user says, or the file is
            no regular one.
    """
    file, reading = Path(path), reading or Reading()
    require_regular(file)
    name = format_of(file, reading)
    reader = _reader(name)
    if reading.filter is not None and not reader.has_filters:
        raise UsageError(f"--filter {reading.filter}: {file} is {name}, which has no filters")
    if reading.notation != NATIVE and reader.notation not in (None, reading.notation):
        raise UsageError(f"--notation {reading.notation}: {name} is always {reader.notation}")
    problems = Problems(str(file), reader.unit)
    packed = PackedRecords(_records(file, reader, problems, reading))
    if not len(packed) and not problems:
        _LOG.warning("no predictions in %s", printable(str(file)))
    return Predictions(
        packed=packed,
        problems=problems,
        reread=lambda: _records(file, reader, Problems(str(file)), reading),
        joined_by=reader.joined_by,
        notation=reader.notation or reading.notation,
        listing=listing,
    )


def predictions_from(answers: Mapping[str, Any], name: str = "predictions") -> Predictions:
    """Return predictions that are in memory already.

    Args:
        answers: Row id to text, list of texts, or None.
        name: What messages call them.
    """

    def records() -> Iterator[Record]:
        return (record_of(line, *item) for line, item in enumerate(answers.items(), 1))

    return Predictions(packed=PackedRecords(records()), problems=Problems(name), reread=records)


def format_of(file: Path, reading: Reading) -> str:
    """Return the name of a file's format.

    Raises:
        DataError: If the file cannot be read.
        UsageError: If the first line has the marks of several formats.
    """
    if reading.format is not None:
        return reading.format
    names = plugin_names(_PACKAGE)
    suffix = file.suffix.lower()
    claiming = [name for name in names if suffix in _reader(name).suffixes]
    if claiming:
        return claiming[0]
    keys = _first_keys(file)
    marked = [n for n in names if _reader(n).marks and _reader(n).marks <= keys]
    if len(marked) > 1:
        raise UsageError(f"{file}: may be {' or '.join(marked)}; say which with --format")
    return marked[0] if marked else _OTHERWISE.get(suffix, _DEFAULT)


def _first_keys(file: Path) -> frozenset[str]:
    """Return the keys of the object in the first line that is not blank; none if it holds none."""
    try:
        with file.open("rb") as stream:
            first = next((line.text for line in lines_of(stream) if line.text.strip()), "")
        value = json.loads(first)
    except OSError as error:
        raise _unreadable(file, error) from error
    except (ValueError, RecursionError):
        return frozenset()
    return frozenset(value) if isinstance(value, dict) else frozenset()


def _reader(name: str) -> Reader:
    return cast(Reader, plugin(_PACKAGE, "format", name).READER)


def _records(file: Path, reader: Reader, problems: Problems, reading: Reading) -> Iterator[Record]:
    try:
        with file.open("rb") as stream:
            yield from reader.read(stream, problems, reading)
    except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
        raise _unreadable(file, error) from error


def _unreadable(file: Path, error: Exception) -> DataError:
    reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
    return DataError(f"{file}: cannot be read ({reason})")
