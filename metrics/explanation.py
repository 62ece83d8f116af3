"""Why one row got its verdict."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from symshift.data.dataset import Dataset
from symshift.data.errors import UsageError
from symshift.data.task import Task
from symshift.metrics.joining import join, keys_of
from symshift.metrics.judging import Judge
from symshift.metrics.predictions import read_predictions
from symshift.metrics.rows import SplitRows, ids_of


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
    verdict: str
    """What it got."""
    why: str
    """The failing place, a counter-word, or what is wrong with the text."""

    def to_plain(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)

    def to_text(self) -> str:
        """Return it as lines to read."""
        return "\n".join(f"{name:10}  {value}" for name, value in asdict(self).items())


def explain_row(
    dataset: Dataset, split: str, predictions: Path, task: Task, row_id: str
) -> Explanation:
    """Say why a row's answer got its verdict.

    Args:
        dataset: The data set.
        split: The split that was answered.
        predictions: The file of predictions.
        task: The data set's task.
        row_id: The row's id.

    Raises:
        UsageError: If the split has no such row.
        DataError: If a file is broken or does not fit the data set.
    """
    rows = SplitRows(dataset, split)
    keys = keys_of(ids_of(rows))
    answers = join(read_predictions(predictions), keys)
    at, row = next(((n, r) for n, r in enumerate(rows) if r["id"] == row_id), (0, None))
    if row is None:
        raise UsageError(f"{dataset.path}: no {split} row has the id {row_id!r}")
    answer = answers.answers(at, at + 1)[0]
    judgement = Judge(task, row).answer(answer)
    text = answer.samples[0] if answer.samples and not answer.reason else None
    return Explanation(
        id=row_id,
        input=row["input"],
        target=row["target"],
        prediction=text,
        verdict=judgement.verdict.value,
        why=judgement.reason if text is None else task.explain(row, text),
    )
