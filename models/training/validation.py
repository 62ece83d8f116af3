"""Validation by solving: answers are written and checked, beside what would be right by chance."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from symshift.data.dataset import Dataset
from symshift.data.example import Example
from symshift.data.task import Task
from symshift.models.batches import Batch, batch_of
from symshift.models.decoding.answering import Answerer
from symshift.models.encoding import EncodedRows
from symshift.models.model import Rows
from symshift.models.streams import mixed_precision

BATCH_ROWS = 256


def validation_sample(dataset: Dataset, num_rows: int) -> list[Example]:
    """Return rows of the validation split; none where there is no such split.

    They are spread evenly over it: neighbours may be renamings of one problem.
    """
    if "validation" not in dataset.splits:
        return []
    total = dataset.num_rows("validation")
    places = {number * total // num_rows for number in range(num_rows)}
    return [row for place, row in enumerate(dataset.rows("validation")) if place in places]


def chance_levels(
    task: Task, targets: Sequence[str], sample: Sequence[Example]
) -> dict[str, float]:
    """Return the share of rows that each trivial answer solves.

    Args:
        task: The task.
        targets: The training targets; the most frequent one is the answer "majority".
        sample: The rows to solve, at least one.
    """
    majority, _ = Counter(targets).most_common(1)[0]
    right = {name: sum(name in row.shortcuts for row in sample) for name in task.shortcut_names}
    right["majority"] = sum(task.check(row, majority).is_right for row in sample)
    return {name: count / len(sample) for name, count in right.items()}


@dataclass(frozen=True, kw_only=True)
class Validation:
    """A fixed sample of rows that a model is tried on during training."""

    answerer: Answerer
    """Writes the answers."""
    sample: Sequence[Example]
    """The rows, at least one."""
    encoded: EncodedRows
    """The same rows as numbers."""

    def first_batch(self) -> Batch:
        """Return the first rows, as many as are looked at in one go."""
        return batch_of(self.encoded, np.arange(min(len(self.sample), BATCH_ROWS)))

    def measure(self, rows: Rows) -> dict[str, float]:
        """Return the loss, and the share of rows that are solved."""
        model = self.answerer.model
        model.eval()
        right = sum(
            self.answerer.task.check(self.sample[number], text).is_right
            for batch in self.answerer.answers(rows, self.encoded, beam=1, batch_size=BATCH_ROWS)
            for number, text in batch
        )
        measured = {"loss": self._loss(rows), "correct": right / len(self.sample)}
        model.train()
        return measured

    @torch.no_grad()
    def _loss(self, rows: Rows) -> float:
        """Return the mean over batches of the mean loss of their tokens."""
        losses = []
        for start in range(0, len(self.sample), BATCH_ROWS):
            numbers = np.arange(start, min(start + BATCH_ROWS, len(self.sample)))
            batch = batch_of(self.encoded, numbers)
            with mixed_precision(batch.source.device, self.answerer.dtype):
                losses.append(self.answerer.model.batch_loss(batch, rows).item())
        return float(np.mean(losses))
