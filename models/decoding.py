"""Writing answers: greedily, or with a beam; both keep keys and values of the tokens so far.

With a constraint, only what its grammar lets pass is written, by either.

Shapes: B batch, K beams of a row, C possible answers, T tokens.
"""

import torch
from torch import Tensor

from symshift.models.batches import Batch
from symshift.models.constraint import Constraint, Restriction
from symshift.models.encoding import END, START
from symshift.models.model import FIRST_ANSWER, ReferenceModel, Rows

LENGTH_PENALTY = 1.0


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
    if beam < 1:
        raise ValueError(f"beam={beam} must be at least 1")
    restriction = None
    if constraint is not None:
        restriction = constraint.begin(limits_B.repeat_interleave(beam))
    written_BT = (
        _greedy(model, rows, batch, limits_B, restriction)
        if beam == 1
        else _beam_search(model, rows, batch, limits_B, beam, restriction)
    )
    return [ids[: ids.index(END)] if END in ids else ids for ids in written_BT.tolist()]


def _greedy(
    model: ReferenceModel,
    rows: Rows,
    batch: Batch,
    limits_B: Tensor,
    restriction: Restriction | None,
) -> Tensor:
    longest = int(limits_B.max())
    written_BT = torch.full((len(limits_B), longest), END, device=limits_B.device)
    open_B = torch.arange(len(limits_B), device=limits_B.device)
    state = model.begin(batch, rows, longest)
    ids_B = torch.full_like(limits_B, START)
    done_B = torch.zeros_like(limits_B, dtype=torch.bool)
    for place in range(longest):
        logits_BC = model.step(ids_B, state, rows)
        if restriction is not None:
            logits_BC = restriction.restrict(logits_BC)
        best_B = logits_BC.argmax(dim=-1) + FIRST_ANSWER
        ids_B = torch.where(done_B | (limits_B <= place), END, best_B)
        if restriction is not None:
            restriction.advance(ids_B)
        written_BT[open_B, place] = ids_B
        done_B = ids_B == END
        left = (~done_B).nonzero()[:, 0]
        if not len(left):
            break
        # A few long answers should not cost as much as the whole batch.
        if 2 * len(left) <= len(open_B):
            state.select(left)
            if restriction is not None:
                restriction.select(left)
            ids_B, done_B, open_B, limits_B = (
                part[left] for part in (ids_B, done_B, open_B, limits_B)
            )
    return written_BT


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
        for name in ("limits", "scores_BK", "tokens_BKT", "best_B", "best_BT", "done_B"):
            setattr(self, name, getattr(self, name)[rows_B])

    def advance(self, log_probs_BKC: Tensor, place: int) -> Tensor:
        """Extend every answer by one token.

        Returns:
            parents_BK: which open answer each of the new ones continues.
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
        return parents_BK

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


def _beam_search(
    model: ReferenceModel,
    rows: Rows,
    batch: Batch,
    limits_B: Tensor,
    beam: int,
    restriction: Restriction | None,
) -> Tensor:
    beams = _Beams(limits_B, beam)
    written_BT = beams.best_BT.clone()
    open_B = torch.arange(len(limits_B), device=limits_B.device)
    state = model.begin(batch, rows, int(limits_B.max()))
    state.select(torch.arange(len(limits_B), device=limits_B.device).repeat_interleave(beam))
    ids = torch.full((len(limits_B) * beam,), START, device=limits_B.device)
    for place in range(int(limits_B.max())):
        logits = model.step(ids, state, rows)
        if restriction is not None:
            logits = restriction.restrict(logits)
        log_probs = logits.log_softmax(dim=-1)
        parents_BK = beams.advance(log_probs.view(-1, beam, log_probs.shape[-1]), place)
        parents_BK = parents_BK + beams.first_B1
        left = (~beams.done_B).nonzero()[:, 0]
        if not len(left):
            break
        if is_shrinking := 2 * len(left) <= len(open_B):
            written_BT[open_B] = beams.best_BT
            open_B, parents_BK = open_B[left], parents_BK[left]
            beams.keep(left)
        parents = parents_BK.flatten()
        if is_shrinking:
            state.select(parents)
        else:
            state.select_answers(parents)
        ids = beams.tokens_BKT[:, :, place].flatten()
        if restriction is not None:
            restriction.select(parents)
            restriction.advance(ids)
    written_BT[open_B] = beams.best_BT
    return written_BT


def length_penalty(num_tokens: Tensor) -> Tensor:
    """Return what log-probabilities are divided by: ((5 + length) / 6)^1 (arXiv 1609.08144)."""
    return ((5 + num_tokens) / 6) ** LENGTH_PENALTY
