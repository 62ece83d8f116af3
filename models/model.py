"""A reference model: an embedding method, a body and a loss.

Shapes: B batch, T answer tokens, S problem tokens, N tokens of all answers, D width, V rows, C rows
that can be answers (all but pad and start, in the same order).
"""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from symshift.models.batches import Batch
from symshift.models.bodies.body import Body, BodyState, Problems
from symshift.models.bodies.packing import UNPACKED, AnyPacking
from symshift.models.embedding import EmbeddingMethod
from symshift.models.encoding import END, PAD
from symshift.models.losses import IGNORED, LOSS_MODULES

FIRST_ANSWER = END


class Rows(NamedTuple):
    """One table, as it reads and as it answers: input_VD and answers_CD."""

    input: Tensor
    answers: Tensor


class ReferenceModel(nn.Module):
    """Reads and writes token ids. The rows are asked for once and handed to every call."""

    def __init__(self, method: EmbeddingMethod, body: Body[Any], num_classes: int) -> None:
        super().__init__()
        self.method = method
        self.body = body
        self.loss = LOSS_MODULES[method.loss](num_classes)

    def rows(self, num_symbols: int, generator: torch.Generator) -> Rows:
        """Return rows for num_symbols symbols, drawn from the generator where they are drawn."""
        table_VD = self.method.table(num_symbols, generator)
        return Rows(table_VD, self.method.answers(table_VD)[FIRST_ANSWER:])

    def batch_loss(self, batch: Batch, rows: Rows, num_labels: int | None = None) -> Tensor:
        """Return the sum of the losses of the answers' tokens over num_labels, or their number."""
        loss: Tensor = self.loss(*self.batch_scores(batch, rows), num_labels)
        return loss

    def batch_scores(self, batch: Batch, rows: Rows) -> tuple[Tensor, Tensor]:
        """Return scores_NC of the answers' tokens and their labels_N; IGNORED for padding."""
        packing = batch.answer_packing
        hidden_ND = self._hidden(batch, rows, packing).flatten(0, -2)
        labels_N = packing.packed(batch.target[:, 1:, None]).flatten()
        labels_N = torch.where(labels_N == PAD, IGNORED, labels_N - FIRST_ANSWER)
        return self._scores(hidden_ND, rows), labels_N

    def begin(self, batch: Batch, rows: Rows, max_length: int) -> BodyState:
        """Read the problems and begin answers of at most max_length tokens."""
        state: BodyState = self.body.begin(self._problems(batch, rows), max_length)
        return state

    def step(self, ids_B: Tensor, state: BodyState, rows: Rows) -> Tensor:
        """Take in each answer's next token; return the logits_BC of the one after it."""
        hidden_BD = self.body.step(self._embed(ids_B, rows), state)
        return self.loss.scale * self._scores(hidden_BD, rows)

    def answer_logits(self, batch: Batch, rows: Rows) -> Tensor:
        """Return the logits_BTC of each next token of whole answers, given those before it."""
        return self.loss.scale * self._scores(self._hidden(batch, rows), rows)

    def _problems(self, batch: Batch, rows: Rows) -> Problems:
        return Problems(self._embed(batch.source, rows), batch.mask, batch.paths)

    def _hidden(self, batch: Batch, rows: Rows, packing: AnyPacking = UNPACKED) -> Tensor:
        problems = self._problems(batch, rows)
        if packing is not UNPACKED:
            problems = problems._replace(packing=batch.problem_packing)
        return self.body.hidden(problems, self._embed(batch.target[:, :-1], rows), packing)

    def _embed(self, ids: Tensor, rows: Rows) -> Tensor:
        scale = self.method.input_scale
        if scale is None:
            scale = math.sqrt(rows.input.shape[-1])
        return F.embedding(ids, rows.input) * scale

    def _scores(self, hidden: Tensor, rows: Rows) -> Tensor:
        # Scores stay in float32: a scale of up to 100 would magnify the rounding of bfloat16.
        with torch.autocast(hidden.device.type, enabled=False):
            hidden = hidden.float()
            if self.method.feature_norm:
                hidden = F.normalize(hidden, dim=-1)
            return F.linear(hidden, rows.answers.float())
