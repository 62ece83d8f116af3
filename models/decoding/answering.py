"""A model's answers as texts: for validation during training, and for predictions.

Shapes: B rows of a batch.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from symshift.data.grammar import Grammar
from symshift.data.task import Task
from symshift.models.batches import batch_of
from symshift.models.bodies.body import answer_limit
from symshift.models.decoding.constraint import Constraint, constraint_of
from symshift.models.decoding.search import decode
from symshift.models.encoding import Codec, EncodedRows
from symshift.models.model import ReferenceModel, Rows
from symshift.models.streams import mixed_precision


@dataclass(frozen=True, kw_only=True)
class Answerer:
    """Writes a model's answers to rows."""

    model: ReferenceModel
    """The model, in evaluation mode."""
    task: Task
    """The rows' task."""
    codec: Codec
    """The ids that the rows were encoded with."""
    dtype: torch.dtype
    """What matrix products are computed in."""
    grammar: Grammar | None = None
    """What answers must look like; None to write whatever the model likes best."""

    def require(self, encoded: EncodedRows) -> None:
        """Raise UsageError if the model cannot take some of the problems, or their answers."""
        lengths = encoded.source.lengths
        longest = int(lengths.max(initial=0))
        self.model.body.require(longest, answer_limit(longest))

    def answers(
        self, rows: Rows, encoded: EncodedRows, *, beam: int, batch_size: int
    ) -> Iterator[list[tuple[int, str]]]:
        """Yield a batch of answers at a time, as pairs of a row's number and its text.

        Args:
            rows: The model's rows.
            encoded: The problems.
            beam: Answers that are kept at each step; 1 is greedy.
            batch_size: Rows in a batch; those of similar length share one.
        """
        self.require(encoded)
        lengths = encoded.source.lengths
        order = np.argsort(lengths, kind="stable")
        limits = torch.from_numpy(answer_limit(lengths))
        longest = int(answer_limit(lengths).max(initial=0))
        constraint = self._constraint(longest, encoded.source.values.device)
        for start in range(0, len(order), batch_size):
            chosen = order[start : start + batch_size]
            batch = batch_of(encoded, chosen)
            device = batch.source.device
            limits_B = limits[torch.from_numpy(chosen)].to(device)
            with mixed_precision(device, self.dtype):
                written = decode(self.model, rows, batch, limits_B, beam, constraint)
            texts = (self.task.decode(self.codec.decode(ids)) for ids in written)
            yield list(zip(chosen.tolist(), texts, strict=True))

    def _constraint(self, longest: int, device: torch.device) -> Constraint | None:
        if self.grammar is None:
            return None
        return constraint_of(self.grammar, self.codec, longest, device)
