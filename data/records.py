"""Records of anybody's files: JSON lines, Parquet, and DeepLTL's two lines an example.

Every line or row gives a record; one that cannot be read says why and is never left out. Nothing
that a file says is run or trusted.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from symshift.data import formula as formulas
from symshift.data import polish
from symshift.data.errors import UsageError, unknown_name
from symshift.data.formula import FormulaError
from symshift.data.lines import lines_of

BATCH_ROWS = 4096
DEFAULT_TARGET = "target"
_KEPT = ("base_id", "renaming")


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Which columns of a JSON-lines or Parquet file hold what."""

    input: str = "input"
    """The problem."""
    target: str | None = None
    """The answer; if None, `target` where there is such a column."""


@dataclass(frozen=True, slots=True)
class Record:
    """One example as it was found."""

    place: int
    """Its line, or its row in a Parquet file; both from 1. 0 stands for the whole file."""
    input: str = ""
    """The problem in symshift's notation; empty where there is a problem."""
    target: str | None = None
    """The answer in the file's notation, where there is one."""
    problem: str = ""
    """Why it cannot be read; empty where it can."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """The other columns of a JSON line; of a Parquet row, those that renamed sets have."""


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = dict(pairs)
    if len(keys) < len(pairs):
        raise ValueError("a key is repeated")
    return keys


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text, object_pairs_hook=_unique_keys)
    except json.JSONDecodeError as error:
        raise ValueError(f"broken JSON at column {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise ValueError("JSON nested too deeply") from error
    if not isinstance(value, dict):
        raise ValueError("no JSON object")
    if not all(map(_is_unicode, value)):
        raise ValueError("a key holds a lone surrogate")
    return value


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _require(path: Path, column: str | None, names: list[str]) -> None:
    if column is not None and column not in names:
        raise UsageError(f"{path}: {unknown_name('column', column, names)}")


def _record(place: int, row: Mapping[str, Any], columns: Columns) -> Record:
    target_name = columns.target or DEFAULT_TARGET
    for name in (columns.input, *([target_name] if columns.target else [])):
        if name not in row:
            return Record(place, problem=f"no column {name!r}")
        if not isinstance(row[name], str):
            return Record(place, problem=f"column {name!r} holds {row[name]!r:.40}, not a text")
    target = row.get(target_name)
    target = target if isinstance(target, str) else None
    if not _is_unicode(row[columns.input] + (target or "")):
        return Record(place, problem="a text holds a lone surrogate")
    return Record(place, row[columns.input], target, "", row)


def json_records(path: Path, columns: Columns) -> Iterator[Record]:
    """Yield the records of a file of JSON lines; blank lines count as lines, not as records.

    Raises:
        UsageError: If the first object lacks a column that was asked for; the nearest is offered.
    """
    is_first = True
    with path.open("rb") as stream:
        for line in lines_of(stream):
            if line.problem:
                yield Record(line.number, problem=line.problem)
            elif line.text.strip():
                try:
                    row = _json_object(line.text)
                except ValueError as error:
                    yield Record(line.number, problem=str(error))
                    continue
                if is_first:
                    _require(path, columns.input, list(row))
                    _require(path, columns.target, list(row))
                    is_first = False
                yield _record(line.number, row, columns)


def parquet_records(path: Path, columns: Columns) -> Iterator[Record]:
    """Yield the records of a Parquet file, a batch in memory at a time.

    Raises:
        UsageError: If it lacks a column that was asked for; the nearest is offered.
    """
    place = 0
    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            _require(path, columns.input, names)
            _require(path, columns.target, names)
            wanted = {columns.input, columns.target or DEFAULT_TARGET, *_KEPT} & set(names)
            for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=sorted(wanted)):
                batch.validate(full=True)
                for row in batch.to_pylist():
                    place += 1
                    yield _record(place, row, columns)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        cause = str(error).partition("\n")[0][:120]
        yield Record(place, problem=f"no readable Parquet behind row {place} ({cause})")


def pair_records(path: Path, is_target: Callable[[str], bool]) -> Iterator[Record]:
    """Yield the records of DeepLTL's text: a formula in Polish notation, below it the target.

    A line that is missing spoils one record: what stands where is seen from the lines themselves.

    Args:
        path: The file.
        is_target: Tells a target from a formula; the empty line may be a target.
    """
    above: tuple[int, str] | None = None
    is_spoilt = False  # The line above cannot be read and stands for a formula.
    blank = 0
    with path.open("rb") as stream:
        for line in lines_of(stream):
            text = line.text.strip(" \t\r")
            belongs = not line.problem and is_target(text)
            if belongs and (above is not None or is_spoilt):
                if above is not None:
                    yield _pair(*above, text)
                above, is_spoilt = None, False
                continue
            if blank and (text or line.problem):
                yield Record(blank, problem="a blank line, where DeepLTL's own reader stops")
                blank = 0
            if line.problem:
                yield Record(line.number, problem=line.problem)
            elif above is not None:
                yield Record(above[0], problem="no target in the line below")
            elif belongs and text:
                yield Record(line.number, problem="a target without a formula above")
            elif not text:
                blank = line.number
            is_spoilt = bool(line.problem) and above is None
            above = (line.number, text) if text and not belongs else None
    if above is not None:
        yield Record(above[0], problem="no target in the line below")


def _pair(number: int, formula: str, target: str) -> Record:
    try:
        return Record(number, formulas.show(polish.parse_formula(formula)), target)
    except FormulaError as error:
        return Record(number, problem=f"{formula[:40]!r}: {error}")


def is_trace_line(text: str) -> bool:
    """Tell whether a line of DeepLTL's LTL files is a target: a trace, or `-` for none found."""
    return "{" in text or text == polish.NO_TRACE
