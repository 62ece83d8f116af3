"""Predictions: JSON lines, CSV or Parquet, read as a stream and kept as compact columns.

Each record has an `id` and a `prediction`. A prediction is a text, a list of texts (several
samples, the first of which counts), or null. Anything else is kept as an answer that is invalid,
with its reason: one odd value does not spoil a file. What cannot be joined does: broken JSON or
UTF-8, an id that is no text, repeated or unknown ids.
"""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from symshift.data.errors import DataError
from symshift.data.lines import Line, lines_of

BATCH_RECORDS = 65_536
MAX_BATCH_CHARACTERS = 1 << 26
MAX_PROBLEMS_SHOWN = 10
SCHEMA = pa.schema(
    [
        ("line", pa.int64()),
        ("id", pa.large_string()),
        ("samples", pa.large_list(pa.large_string())),
        ("reason", pa.large_string()),
    ]
)


@dataclass(frozen=True, slots=True)
class Record:
    """One prediction as it was found."""

    line: int
    """Where: the line of a text file, the row of a Parquet file; both from 1."""
    id: str
    """The row that it answers."""
    samples: tuple[str | None, ...] | None
    """Its texts, the first of which counts; None where the value is no answer at all."""
    reason: str
    """Why the first sample is no answer; empty where it is one."""


@dataclass(frozen=True, slots=True)
class Predictions:
    """All the predictions of one file."""

    name: str
    """What messages call it: the path."""
    table: pa.Table
    """Columns as in SCHEMA, in the order of the file."""


class Problems:
    """What is wrong with a file, each with its line; the first few are shown, all are counted."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.unit = "row" if name.lower().endswith(".parquet") else "line"
        """What a record's place is called."""
        self._shown: list[str] = []
        self._count = 0

    def add(self, line: int, text: str) -> None:
        """Note a problem."""
        self._count += 1
        if len(self._shown) < MAX_PROBLEMS_SHOWN:
            self._shown.append(f"{self.unit} {line}: {text}")

    def raise_any(self) -> None:
        """Refuse the file if there was a problem.

        Raises:
            DataError: With the first problems and the number of the others.
        """
        if self._count:
            rest = self._count - len(self._shown)
            more = f"; and {rest} more" if rest else ""
            raise DataError(f"{self._name}: {'; '.join(self._shown)}{more}")


class RecordError(ValueError):
    """A record that cannot be joined to any row; the message says why."""


def read_predictions(path: Path | str) -> Predictions:
    """Read a file of predictions: Parquet or CSV by its suffix, anything else as JSON lines.

    Raises:
        DataError: If the file cannot be read or holds records that cannot be joined; the message
            names the file and the lines.
    """
    file = Path(path)
    problems = Problems(str(file))
    readers = {".csv": _csv_records, ".parquet": _parquet_records}
    read = readers.get(file.suffix.lower(), _json_records)
    try:
        with file.open("rb") as stream:
            table = _to_table(read(stream, problems))
    except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        raise DataError(f"{file}: cannot be read ({reason})") from error
    problems.raise_any()
    return Predictions(str(file), table)


def predictions_from(answers: Mapping[str, Any], name: str = "predictions") -> Predictions:
    """Return predictions that are in memory already.

    Args:
        answers: Row id to text, list of texts, or None.
        name: What messages call them.
    """
    pairs = enumerate(answers.items(), 1)
    return Predictions(name, _to_table(_record(line, id, value) for line, (id, value) in pairs))


def _to_table(records: Iterable[Record]) -> pa.Table:
    batches: list[pa.RecordBatch] = []
    columns: list[tuple[Any, ...]] = []
    characters = 0
    for record in records:
        columns.append((record.line, record.id, record.samples, record.reason or None))
        characters += sum(len(sample or "") for sample in record.samples or ())
        if len(columns) == BATCH_RECORDS or characters > MAX_BATCH_CHARACTERS:
            batches.append(_to_batch(columns))
            columns, characters = [], 0
    table = pa.Table.from_batches([*batches, _to_batch(columns)], schema=SCHEMA)
    # In one piece, so that it can be indexed without another copy.
    return table.combine_chunks()


def _to_batch(records: list[tuple[Any, ...]]) -> pa.RecordBatch:
    columns = zip(*records, strict=True) if records else [()] * len(SCHEMA)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def _record(line: int, row_id: Any, value: Any) -> Record:
    if not isinstance(row_id, str):
        raise RecordError(f"id {row_id!r:.60} is not a text")
    if not _is_unicode(row_id):
        raise RecordError(f"id {row_id!r:.60} holds a lone surrogate")
    if not isinstance(value, (list, tuple)):
        text, reason = _answer(value)
        return Record(line, row_id, (text,), reason)
    if not value:
        return Record(line, row_id, None, "the list of samples is empty")
    answers = [_answer(sample) for sample in value]
    return Record(line, row_id, tuple(text for text, _ in answers), answers[0][1])


def _answer(value: Any) -> tuple[str | None, str]:
    if value is None:
        return None, "the prediction is null"
    if isinstance(value, str):
        return (value, "") if _is_unicode(value) else (None, "the text holds a lone surrogate")
    kinds = {bool: "a Boolean", int: "a number", float: "a number", dict: "an object"}
    return None, f"the prediction is {kinds.get(type(value), 'no text')}, not a text"


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _lines(stream: BinaryIO, problems: Problems) -> Iterator[Line]:
    for line in lines_of(stream):
        if line.problem:
            problems.add(line.number, line.problem)
        else:
            yield line


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = dict(pairs)
    if len(keys) < len(pairs):
        raise RecordError("a key is repeated")
    return keys


def _json_record(line: int, text: str, decode: json.JSONDecoder) -> Record:
    try:
        value = decode.decode(text)
    except json.JSONDecodeError as error:
        raise RecordError(f"broken JSON at column {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise RecordError("JSON nested too deeply") from error
    if not isinstance(value, dict) or not {"id", "prediction"} <= value.keys():
        raise RecordError('expected an object {"id": ..., "prediction": ...}')
    return _record(line, value["id"], value["prediction"])


def _json_records(stream: BinaryIO, problems: Problems) -> Iterator[Record]:
    decode = json.JSONDecoder(object_pairs_hook=_unique_keys)
    for line in _lines(stream, problems):
        if line.text.strip():
            try:
                yield _json_record(line.number, line.text, decode)
            except ValueError as error:
                problems.add(line.number, str(error))


def _csv_records(stream: BinaryIO, problems: Problems) -> Iterator[Record]:
    reader = csv.reader((line.text + "\n" for line in _lines(stream, problems)), strict=True)
    try:
        header = next(reader, [])
        if not {"id", "prediction"} <= set(header) or len(set(header)) < len(header):
            problems.add(1, f"expected the columns id and prediction, found {header!r:.80}")
            return
        places = header.index("id"), header.index("prediction")
        for cells in reader:
            if len(cells) == len(header):
                yield _record(reader.line_num, cells[places[0]], cells[places[1]])
            elif cells:
                problems.add(reader.line_num, f"{len(cells)} cells, the header has {len(header)}")
    except csv.Error as error:
        problems.add(reader.line_num, str(error))


def _parquet_records(stream: BinaryIO, problems: Problems) -> Iterator[Record]:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(stream)
    names = file.schema_arrow.names
    if names.count("id") != 1 or names.count("prediction") != 1:
        problems.add(1, f"expected the columns id and prediction, found {names!r:.80}")
        return
    line = 0
    for batch in file.iter_batches(batch_size=BATCH_RECORDS, columns=["id", "prediction"]):
        batch.validate(full=True)
        for row in batch.to_pylist():
            line += 1
            try:
                yield _record(line, row["id"], row["prediction"])
            except RecordError as error:
                problems.add(line, str(error))
