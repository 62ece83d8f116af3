"""inspect_ai: evaluation logs as JSON (`--log-format json`, or `inspect log dump`).

Each of the log's `samples` has an `id`, which names the row, an `epoch`, and the model's `output`.
The epochs of one id are its samples, in order; one that is absent or ended with an error has no
answer. The first epoch counts.
"""

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from symshift.metrics.record import Problems, Reader, Reading, Record, RecordError, answer_of

Epochs = dict[int, tuple[int, str | None, str]]
"""For each epoch: the place of its sample, its text, and why it has none."""


def _records(stream: BinaryIO, problems: Problems, reading: Reading) -> Iterator[Record]:
    by_id: dict[str, Epochs] = {}
    for place, sample in enumerate(_samples(stream, problems), 1):
        try:
            _take(by_id, place, sample)
        except RecordError as error:
            problems.add(place, str(error))
    every = sorted({epoch for epochs in by_id.values() for epoch in epochs})
    for row_id, epochs in by_id.items():
        place = min(place for place, _, _ in epochs.values())
        found = [epochs.get(epoch, (0, None, f"epoch {epoch} is absent")) for epoch in every]
        yield Record(place, row_id, tuple(text for _, text, _ in found), found[0][2])


def _samples(stream: BinaryIO, problems: Problems) -> list[Any]:
    content = stream.read()
    if content.startswith(b"PK"):
        problems.add(0, "an .eval archive; `inspect log dump FILE > FILE.json` gives the JSON")
        return []
    try:
        log = json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        problems.add(0, f"not UTF-8 at byte {error.start}")
        return []
    except RecursionError:
        problems.add(0, "JSON nested too deeply")
        return []
    except ValueError as error:
        problems.add(0, f"broken JSON: {error}")
        return []
    samples = log.get("samples") if isinstance(log, dict) else None
    if not isinstance(samples, list):
        problems.add(0, 'no inspect_ai log: expected an object with "samples"')
        return []
    return samples


def _take(by_id: dict[str, Epochs], place: int, sample: Any) -> None:
    if not isinstance(sample, dict):
        raise RecordError("expected an object")
    row_id, epoch = sample.get("id"), sample.get("epoch", 1)
    if not isinstance(row_id, str) or answer_of(row_id)[0] is None:
        raise RecordError(f"id {row_id!r:.60} is not a text: give Sample(id=...) the row's id")
    if type(epoch) is not int:
        raise RecordError(f"epoch {epoch!r:.60} is not a number")
    epochs = by_id.setdefault(row_id, {})
    if epoch in epochs:
        before = epochs[epoch][0]
        raise RecordError(f"id {row_id!r:.60}, epoch {epoch} was given in sample {before} already")
    epochs[epoch] = (place, *_answer(sample))


def _answer(sample: dict[str, Any]) -> tuple[str | None, str]:
    if sample.get("error"):
        error = sample["error"]
        message = error.get("message") if isinstance(error, dict) else error
        return None, f"the sample ended with an error: {message!r:.60}"
    output = sample.get("output")
    choices = output.get("choices") if isinstance(output, dict) else None
    if not isinstance(output, dict) or not isinstance(choices, list):
        return None, "the sample has no output"
    if output.get("completion"):
        return answer_of(output["completion"])
    return answer_of(_text(choices[0])) if choices else (None, "the model gave no answer")


def _text(choice: Any) -> Any:
    """Return the text of a choice, whose content is a text or a list of parts."""
    message = choice.get("message") if isinstance(choice, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list):
        return content
    parts = (part for part in content if isinstance(part, dict) and part.get("type") == "text")
    return "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))


READER = Reader(
    read=_records,
    suffixes=(".eval",),
    marks=frozenset(("eval", "samples")),
    unit="sample",
)
