"""JSON lines: `{"id": "...", "prediction": "..."}`, other keys aside."""

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from symshift.metrics.record import (
    Problems,
    Reader,
    Reading,
    Record,
    RecordError,
    readable_lines,
    record_of,
)


def json_objects(stream: BinaryIO, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each line's number and object; blank lines count as lines, not as objects."""
    decode = json.JSONDecoder(object_pairs_hook=_unique_keys).decode
    for line in readable_lines(stream, problems):
        if not line.text.strip():
            continue
        try:
            value = decode(line.text)
        except json.JSONDecodeError as error:
            problems.add(line.number, f"broken JSON at column {error.colno}: {error.msg}")
        except RecursionError:
            problems.add(line.number, "JSON nested too deeply")
        except ValueError as error:
            problems.add(line.number, str(error))
        else:
            if isinstance(value, dict):
                yield line.number, value
            else:
                problems.add(line.number, "expected an object, found another JSON value")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = dict(pairs)
    if len(keys) < len(pairs):
        raise RecordError("a key is repeated")
    return keys


def _records(stream: BinaryIO, problems: Problems, reading: Reading) -> Iterator[Record]:
    for line, value in json_objects(stream, problems):
        if not {"id", "prediction"} <= value.keys():
            problems.add(line, 'expected an object {"id": ..., "prediction": ...}')
            continue
        try:
            yield record_of(line, value["id"], value["prediction"])
        except RecordError as error:
            problems.add(line, str(error))


READER = Reader(read=_records, marks=frozenset(("prediction",)))
