"""Why one row got its verdict."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from symshift.data.dataset import Dataset
from symshift.data.errors import UsageError
from symshift.data.task import Task
from symshift.data.terminal import printable
from symshift.data.verdict import Judgement
from symshift.metrics.joining import Answer, join
from symshift.metrics.judging import Judge
from symshift.metrics.notations import Notation, NotationError, notation_for
from symshift.metrics.predictions import read_predictions
from symshift.metrics.record import BY_ID, Reading
from symshift.metrics.rows import SplitRows, keys_of_ids, keys_of_inputs

_MAX_SHOWN = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A row, what was answered, and why that got its verdict."""

    id: str
    """The row."""
    input: str
    """Its problem."""
    target: str
    """A right answer."""
    prediction: str | None
    """What was answered; None where nothing was that could be an answer."""
    num_samples: int
    """How many samples were given, the first of which counts."""
    verdict: str
    """What it got."""
    lenient: str
    """What it got in the lenient reading."""
    why: str
    """The failing place, a counter-word, or what is wrong with the text."""

    def to_plain(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)

    def to_text(self) -> str:
        """Return it as lines to read."""
        shown = asdict(self)
        shown.update((name, _shown(shown[name])) for name in ("input", "target", "prediction"))
        num_samples = shown.pop("num_samples")
        if num_samples > 1:
            shown["prediction"] += f"  (the first of {num_samples} samples, which counts)"
        return "\n".join(printable(f"{name:10}  {value}") for name, value in shown.items())


def explain_row(
    dataset: Dataset,
    split: str,
    predictions: Path,
    task: Task,
    row_id: str,
    reading: Reading | None = None,
    listing: Path | None = None,
) -> Explanation:
    """Say why a row's answer got its verdict.

    Args:
        dataset: The data set.
        split: The split that was answered.
        predictions: The file of predictions.
        task: The data set's task.
        row_id: The row's id.
        reading: What the user says of the file.
        listing: Where to write all that is wrong with it.

    Raises:
        UsageError: If the split has no such row.
        DataError: If a file is broken or does not fit the data set.
    """
    rows = SplitRows(dataset, split)
    found = read_predictions(predictions, reading, listing=listing)
    notation = notation_for(found.notation, task)
    answers = join(found, keys_of_ids(rows) if found.joined_by == BY_ID else keys_of_inputs(rows))
    at, row = next(((n, r) for n, r in enumerate(rows) if r["id"] == row_id), (0, None))
    if row is None:
        raise UsageError(f"{dataset.path}: no {split} row has the id {row_id!r}")
    answer = answers.answers(at, at + 1)[0]
    judge = Judge(task, row)
    judgement = judge.answer(answer, notation)
    return Explanation(
        id=row_id,
        input=row["input"],
        target=row["target"],
        prediction=answer.text,
        num_samples=len(answer.samples),
        verdict=judgement.verdict.value,
        lenient=judge.lenient(answer, notation, judgement).verdict.value,
        why=_why(task, row, answer, notation, judgement),
    )


def _why(
    task: Task, row: Mapping[str, Any], answer: Answer, notation: Notation, judgement: Judgement
) -> str:
    """Return what the task says of an answer that can be read; else the judgement's reason."""
    why = judgement.reason
    if answer.text is not None:
        with suppress(NotationError):
            why = task.explain(row, notation.native(answer.text))
    return f"{why}; the answer uses symbols that the input lacks" if judgement.foreign else why


def _shown(text: str | None) -> str:
    """Return a text as it can stand in a line: quoted where it could be misread there."""
    if text is None:
        return "(none)"
    cut = text[:_MAX_SHOWN]
    plain = cut if cut.isprintable() and cut.strip() == cut != "" else json.dumps(cut)
    return plain if cut == text else f"{plain}... ({len(text)} characters)"
