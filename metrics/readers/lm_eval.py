"""lm-evaluation-harness: `samples_*.jsonl`, which `--log_samples` writes (0.4).

Each line holds the whole document as `doc`, whose `id` names the row (`symshift export lm-eval`
puts it there), and the answer after one filter as `filtered_resps`. A file has a line for each
document and filter, so of several filters one must be chosen. Under the harness's filter `none`,
which keeps the first of its repeats, all of them are samples.
"""

from collections.abc import Iterator
from typing import Any, BinaryIO

from symshift.data.errors import UsageError, unknown_name
from symshift.metrics.readers.jsonl import json_objects
from symshift.metrics.record import Problems, Reader, Reading, Record, RecordError, record_of

_NO_FILTER = "none"


def _records(stream: BinaryIO, problems: Problems, reading: Reading) -> Iterator[Record]:
    wanted, found = reading.filter, set[str]()
    for line, sample in json_objects(stream, problems):
        try:
            name = _filter_of(sample)
            found.add(name)
            wanted = wanted or name
            if name == wanted:
                yield record_of(line, _id_of(sample), _answer(sample, name))
        except RecordError as error:
            problems.add(line, str(error))
    if reading.filter is None and len(found) > 1:
        names = ", ".join(sorted(found))
        raise UsageError(f"{problems.name}: holds the filters {names}; choose one with --filter")
    if reading.filter is not None and found and reading.filter not in found:
        raise UsageError(f"{problems.name}: {unknown_name('filter', reading.filter, found)}")


def _filter_of(sample: dict[str, Any]) -> str:
    name = sample.get("filter")
    if not isinstance(name, str) or "filtered_resps" not in sample:
        raise RecordError('expected an object {"doc": ..., "filter": ..., "filtered_resps": ...}')
    return name


def _id_of(sample: dict[str, Any]) -> Any:
    doc = sample.get("doc")
    if not isinstance(doc, dict) or "id" not in doc:
        raise RecordError(
            "its doc has no id to join by; `symshift export lm-eval` writes tasks that have one"
        )
    return doc["id"]


def _answer(sample: dict[str, Any], name: str) -> Any:
    """Return the text after the filter, or the list of them."""
    filtered, raw = sample["filtered_resps"], sample.get("resps")
    if not isinstance(filtered, list) or len(filtered) != 1:
        raise RecordError("filtered_resps is no list of one answer: its task generates no text")
    repeats = raw[0] if isinstance(raw, list) and len(raw) == 1 else None
    if name == _NO_FILTER and isinstance(repeats, list) and repeats[:1] == filtered:
        return repeats
    return filtered[0]


READER = Reader(read=_records, marks=frozenset(("doc", "filtered_resps")), has_filters=True)
