"""Writing answers: greedily, or with a beam; both keep keys and values of the tokens so far.

With a constraint, only what its grammar lets pass is written, by either.

Shapes: B batch, K beams of a row, C possible answers, T tokens.
"""

import torch
from torch import Tensor

from symshift.models.batches import Batch
from symshift.models.decoding.constraint import Constraint, Restriction
from symshift.models.encoding import END, START
from symshift.models.model import FIRST_ANSWER, ReferenceModel, Rows

LENGTH_PENALTY = 1.0
MAX_BEAM = 1024
"""Far more than any paper keeps; memory and time grow with it."""


@torch.no_grad()
def decode(
    model: ReferenceModel,
    rows: Rows,
    batch: Batch,
    limits_B: Tensor,
    beam: int = 1,
    constraint: Constraint | None = None,
) -> list[list[int]]:
    """Write the answers to a batch of problems.

    Args:
        model: The model, in evaluation mode.
        rows: Its rows.
        batch: The problems; their targets are not looked at.
        limits_B: The most tokens that each answer may have (on the batch's device).
        beam: Answers that are kept at each step; 1 is greedy.
        constraint: What answers must look like; it must know of limits as long as these.

    Returns:
        The ids of each answer, without START and END. One that met its limit is as long as that;
        with a constraint it is whole all the same.
    """
    if not 1 <= beam <= MAX_BEAM:
        raise ValueError(f"beam={beam} must be at least 1 and at most {MAX_BEAM}")
    writer = _Writer(model, rows, batch, limits_B, beam, constraint)
    written_BT = _greedy(writer, limits_B) if beam == 1 else _beam_search(writer, limits_B, beam)
    return [ids[: ids.index(END)] if END in ids else ids for ids in written_BT.tolist()]


class _Writer:
    """Answers that a model is writing: K of each problem, under a constraint or none."""

    def __init__(
        self,
        model: ReferenceModel,
        rows: Rows,
        batch: Batch,
        limits_B: Tensor,
        beam: int,
        constraint: Constraint | None,
    ) -> None:
        self._model, self._rows = model, rows
        self._state = model.begin(batch, rows, int(limits_B.max()))
        self._restriction: Restriction | None = None
        if constraint is not None:
            self._restriction = constraint.begin(limits_B)
        self._has_begun = False
        if beam > 1:
            numbers_B = torch.arange(len(limits_B), device=limits_B.device)
            self.select(numbers_B.repeat_interleave(beam))

    def step(self, ids: Tensor) -> Tensor:
        """Take in each answer's next token; return the logits of the one after it."""
        if self._restriction is None:
            return self._model.step(ids, self._state, self._rows)
        if self._has_begun:
            self._restriction.advance(ids)
        self._has_begun = True
        return self._restriction.restrict(self._model.step(ids, self._state, self._rows))

    def select(self, answers: Tensor, *, same_problems: bool = False) -> None:
        """Keep some answers, in the order given; same_problems: each for one to its problem."""
        if same_problems:
            self._state.select_answers(answers)
        else:
            self._state.select(answers)
        if self._restriction is not None:
            self._restriction.select(answers)


def _greedy(writer: _Writer, limits_B: Tensor) -> Tensor:
    longest = int(limits_B.max())
    written_BT = torch.full((len(limits_B), longest), END, device=limits_B.device)
    open_B = torch.arange(len(limits_B), device=limits_B.device)
    ids_B = torch.full_like(limits_B, START)
    done_B = torch.zeros_like(limits_B, dtype=torch.bool)
    for place in range(longest):
        best_B = writer.step(ids_B).argmax(dim=-1) + FIRST_ANSWER
        ids_B = torch.where(done_B | (limits_B <= place), END, best_B)
        written_BT[open_B, place] = ids_B
        done_B = ids_B == END
        left = (~done_B).nonzero()[:, 0]
        if not len(left):
            break
        if _is_worth_shrinking(left, open_B):
            writer.select(left)
            ids_B, done_B, open_B, limits_B = (
                part[left] for part in (ids_B, done_B, open_B, limits_B)
            )
    return written_BT


def _is_worth_shrinking(left: Tensor, open_B: Tensor) -> bool:
    """Tell whether to go on without finished rows: a few long answers should not cost as all do."""
    return 2 * len(left) <= len(open_B)


class _Beams:
    """The open answers of each row, best first, and the best finished one."""

    def __init__(self, limits_B: Tensor, beam: int) -> None:
        batch, longest, device = len(limits_B), int(limits_B.max()), limits_B.device
        self.beam = beam
        self.limits = limits_B
        self.first_B1 = torch.arange(0, batch * beam, beam, device=device)[:, None]
        self.scores_BK = torch.full((batch, beam), -torch.inf, device=device)
        self.scores_BK[:, 0] = 0.0
        self.tokens_BKT = torch.full((batch, beam, longest), END, device=device)
        self.best_B = torch.full((batch,), -torch.inf, device=device)
        self.best_BT = torch.full((batch, longest), END, device=device)
        self.done_B = torch.zeros_like(limits_B, dtype=torch.bool)

    def keep(self, rows_B: Tensor) -> None:
        """Keep some rows, in the order given."""
        self.first_B1 = self.first_B1[: len(rows_B)]
        self.limits, self.done_B = self.limits[rows_B], self.done_B[rows_B]
        self.scores_BK, self.tokens_BKT = self.scores_BK[rows_B], self.tokens_BKT[rows_B]
        self.best_B, self.best_BT = self.best_B[rows_B], self.best_BT[rows_B]

    def advance(self, log_probs_BKC: Tensor, place: int) -> Tensor:
        """Extend every answer by one token.

        Returns:
            parents_BK: which open answer of the batch each of the new ones continues.
        """
        num_classes = log_probs_BKC.shape[-1]
        totals_BKC = self.scores_BK[..., None] + log_probs_BKC
        # Where a constraint left fewer than K answers, what fills their places stays out.
        totals = totals_BKC.masked_fill(self.scores_BK.isneginf()[..., None], -torch.inf).flatten(1)
        # Each answer has one end, so 2K candidates hold at least K that go on.
        scores, chosen = totals.topk(min(2 * self.beam, totals.shape[1]), dim=1)
        parents, tokens = chosen // num_classes, chosen % num_classes + FIRST_ANSWER
        ends = tokens == END
        self._finish(scores, parents, ends, place)
        going = scores.masked_fill(ends, -torch.inf).topk(self.beam, dim=1)
        parents_BK = parents.gather(1, going.indices)
        self.scores_BK = going.values
        index_BKT = parents_BK[..., None].expand(-1, -1, self.tokens_BKT.shape[2])
        self.tokens_BKT = self.tokens_BKT.gather(1, index_BKT)
        self.tokens_BKT[:, :, place] = tokens.gather(1, going.indices)
        self._close(place)
        return self.first_B1 + parents_BK

    def _finish(self, scores: Tensor, parents: Tensor, ends: Tensor, place: int) -> None:
        """Take the answers that end among the K best candidates; others end too unlikely."""
        ends = ends.clone()
        ends[:, self.beam :] = False
        ends &= ~self.done_B[:, None] & scores.isfinite()
        penalty = length_penalty(torch.tensor(place + 1))
        penalised = scores.masked_fill(~ends, -torch.inf) / penalty
        best = penalised.max(dim=1)
        parents_B1T = parents.gather(1, best.indices[:, None])[..., None]
        parents_B1T = parents_B1T.expand(-1, -1, self.tokens_BKT.shape[2])
        self._keep_better(best.values, self.tokens_BKT.gather(1, parents_B1T)[:, 0])

    def _close(self, place: int) -> None:
        """Close rows at their limit, and those where no open answer can get better than the best.

        An open answer only gets less likely; its penalty is greatest at the limit. A row that has
        no finished answer at its limit keeps the best open one.
        """
        at_limit_B = place + 1 >= self.limits
        unfinished_B = at_limit_B & ~self.done_B & self.best_B.isinf()
        cut_B = torch.where(unfinished_B, self.scores_BK[:, 0], -torch.inf)
        self._keep_better(cut_B, self.tokens_BKT[:, 0])
        bound_B = self.scores_BK[:, 0] / length_penalty(self.limits)
        self.done_B |= at_limit_B | (self.best_B >= bound_B)

    def _keep_better(self, scores_B: Tensor, tokens_BT: Tensor) -> None:
        better_B = scores_B > self.best_B
        self.best_B = torch.where(better_B, scores_B, self.best_B)
        self.best_BT = torch.where(better_B[:, None], tokens_BT, self.best_BT)


def _beam_search(writer: _Writer, limits_B: Tensor, beam: int) -> Tensor:
    beams = _Beams(limits_B, beam)
    written_BT = beams.best_BT.clone()
    open_B = torch.arange(len(limits_B), device=limits_B.device)
    ids = torch.full((len(limits_B) * beam,), START, device=limits_B.device)
    for place in range(int(limits_B.max())):
        log_probs = writer.step(ids).log_softmax(dim=-1)
        parents_BK = beams.advance(log_probs.view(-1, beam, log_probs.shape[-1]), place)
        left = (~beams.done_B).nonzero()[:, 0]
        if not len(left):
            break
        if _is_worth_shrinking(left, open_B):
            written_BT[open_B] = beams.best_BT
            open_B, parents_BK = open_B[left], parents_BK[left]
            beams.keep(left)
            writer.select(parents_BK.flatten())
        else:
            writer.select(parents_BK.flatten(), same_problems=True)
        ids = beams.tokens_BKT[:, :, place].flatten()
    written_BT[open_B] = beams.best_BT
    return written_BT


def length_penalty(num_tokens: Tensor) -> Tensor:
    """Return what log-probabilities are divided by: ((5 + length) / 6)^1 (arXiv 1609.08144)."""
    return ((5 + num_tokens) / 6) ** LENGTH_PENALTY
