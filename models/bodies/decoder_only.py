"""The decoder-only body: one causal Transformer over the problem, then the answer.

Pre-norm (GPT-2; arXiv 2002.04745), a LayerNorm at the end. The problem ends with END and the answer
begins with START, so nothing else stands between them. Only states of the answer are returned.

A whole row is read without a gap: problem, answer, then what fills the batch, which no token before
it sees. Writing keeps a problem's padding in the cache and masks it; positions go on behind the
problem either way, so a row's answer does not depend on the batch that it is in.

Shapes: B batch, S problem tokens, T answer tokens, N = S + T (or room for all), D width.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from symshift.models.bodies.attention import Cache, SelfAttention, initialise
from symshift.models.bodies.body import Body, BodyOptions, Problems
from symshift.models.bodies.copying import CopyAttention, copy_places
from symshift.models.bodies.packing import UNPACKED, AnyPacking, Packing
from symshift.models.bodies.position import Positions
from symshift.models.bodies.transformer import FeedForward


class BlockCaches(NamedTuple):
    """Where a block keeps what it attends to and what it copies; None where nothing is kept."""

    attended: Cache | None
    copied: Cache | None


class SequenceState:
    """A batch of answers that are being written: caches of problem and answer so far."""

    def __init__(self, caches: list[BlockCaches], problems: Problems, max_length: int) -> None:
        batch, self._num_problem, _ = problems.tokens.shape
        self.caches = caches
        self.lengths = problems.lengths
        """lengths_B of the problems, without padding."""
        room = problems.mask.new_ones(batch, 1, 1, max_length)
        self.mask = torch.cat((problems.mask, room), dim=-1)
        """mask_B11N: False on the problems' padding."""
        self.num_written = 0
        """How many tokens each answer has so far."""

    @property
    def num_seen(self) -> int:
        """How many places of the mask are in use."""
        return self._num_problem + self.num_written

    def select(self, rows_B: Tensor) -> None:
        """Keep some rows of the batch, in the order given; a row may be kept several times."""
        self.lengths, self.mask = self.lengths[rows_B], self.mask[rows_B]
        self._select(rows_B, 0)

    def select_answers(self, rows_B: Tensor) -> None:
        """Let row i continue the answer of row rows_B[i], which has the same problem."""
        self._select(rows_B, self._num_problem)

    def _select(self, rows_B: Tensor, since: int) -> None:
        for caches in self.caches:
            for cache in caches:
                if cache is not None:
                    cache.select(rows_B, since)


class Block(nn.Module):
    """Causal self-attention and feed-forward, each on normed states and added to them."""

    def __init__(self, options: BodyOptions, positions: Positions, copies: bool) -> None:
        super().__init__()
        self.attention = SelfAttention(options.width, options.num_heads, positions)
        self.feed_forward = FeedForward(options.width, options.ff_width)
        self.norms = nn.ModuleList(nn.LayerNorm(options.width) for _ in range(2))
        self.dropout = nn.Dropout(options.dropout)
        self.copying = CopyAttention(options) if copies else None

    def forward(
        self,
        x_BTD: Tensor,
        mask_B11N: Tensor | None,
        cache: Cache | None,
        start: int | Tensor,
        packing: AnyPacking = UNPACKED,
    ) -> Tensor:
        """Return the tokens, the first of them at position start, after this block."""
        attended = self.attention(
            self.norms[0](x_BTD), mask_B11N, causal=True, cache=cache, start=start, packing=packing
        )
        x_BTD = x_BTD + self.dropout(attended)
        x_BTD = x_BTD + self.dropout(self.feed_forward(self.norms[1](x_BTD)))
        return x_BTD

    def copied(
        self,
        asking_BTD: Tensor,
        embedded_BTD: Tensor,
        mask_B11N: Tensor | None,
        cache: Cache | None,
    ) -> Tensor:
        """Return what the block's inputs copy from the embeddings so far."""
        assert self.copying is not None
        seen = self.copying.key_values(asking_BTD, embedded_BTD)
        if cache is not None:
            seen = cache.append(seen)
        copied_BTD: Tensor = self.dropout(self.copying(asking_BTD, seen, mask_B11N, causal=True))
        return copied_BTD


class DecoderOnly(Body[SequenceState]):
    """Blocks over embedded tokens, with a norm behind the last."""

    def __init__(self, options: BodyOptions, generator: torch.Generator) -> None:
        super().__init__()
        assert options.decoder_layers is not None
        self.positions = options.answer_positions()
        self.blocks = nn.ModuleList(
            Block(options, self.positions, copies)
            for copies in copy_places(options, options.decoder_layers)
        )
        self.norm = nn.LayerNorm(options.width)
        self.dropout = nn.Dropout(options.dropout)
        self._copies_after_norm = options.copy_place == "after-norm"
        initialise(self, generator)

    def needs(self, num_problem: int, num_answer: int) -> list[tuple[Positions, int]]:
        """Return the one scheme, for problem and answer in a row."""
        return [(self.positions, num_problem + num_answer)]

    def hidden(
        self, problems: Problems, answers_BTD: Tensor, packing: AnyPacking = UNPACKED
    ) -> Tensor:
        """Return the states that predict the next tokens of whole answers."""
        num_problem, num_answer = problems.tokens.shape[1], answers_BTD.shape[1]
        self.require(num_problem, num_answer)
        if isinstance(packing, Packing):
            return self._packed_hidden(problems, answers_BTD, packing)
        both_BND = torch.cat((problems.tokens, answers_BTD), dim=1)
        places_N = torch.arange(both_BND.shape[1], device=both_BND.device)
        lengths_B1 = problems.lengths[:, None]
        padding_B1 = num_problem - lengths_B1
        at_BN = torch.where(places_N < lengths_B1, places_N, places_N + padding_B1)
        rows_BND = _taken(both_BND, at_BN.clamp(max=num_problem + num_answer - 1))
        nothing = [BlockCaches(None, None)] * len(self.blocks)
        return _taken(self._run(rows_BND, nothing), lengths_B1 + places_N[:num_answer])

    def _packed_hidden(self, problems: Problems, answers_BTD: Tensor, packing: Packing) -> Tensor:
        """Return hidden_ND of answers: tokens of all problems come first, then all answers'."""
        assert isinstance(problems.packing, Packing)
        (batch, num_problem, _), num_answer = problems.tokens.shape, answers_BTD.shape[1]
        length = num_problem + num_answer
        asked_N, answered_N = problems.packing.places, packing.places
        rows_N = answered_N // num_answer
        at_asked_N = asked_N // num_problem * length + asked_N % num_problem
        at_answered_N = rows_N * length + problems.lengths[rows_N] + answered_N % num_answer
        both = Packing(torch.cat((at_asked_N, at_answered_N)), batch, length)
        tokens_ND = torch.cat(
            (problems.packing.packed(problems.tokens), packing.packed(answers_BTD))
        )
        nothing = [BlockCaches(None, None)] * len(self.blocks)
        hidden_ND = self._run(both.padded(tokens_ND), nothing, packing=both)
        return hidden_ND[len(asked_N) :]

    def begin(self, problems: Problems, max_length: int) -> SequenceState:
        """Read the problems and begin answers of at most max_length tokens."""
        num_problem = problems.tokens.shape[1]
        self.require(num_problem, max_length)
        caches = []
        for block in self.blocks:
            kept = Cache(num_problem + max_length)
            copied = Cache(num_problem + max_length) if block.copying is not None else None
            caches.append(BlockCaches(kept, copied))
        self._run(problems.tokens, caches)
        return SequenceState(caches, problems, max_length)

    def step(self, embedded_BD: Tensor, state: SequenceState) -> Tensor:
        """Take in the next token of each answer and return its hidden_BD; moves the state on."""
        start_B = state.lengths + state.num_written
        state.num_written += 1
        mask_B11N = state.mask[..., : state.num_seen]
        return self._run(embedded_BD[:, None], state.caches, mask_B11N, start_B)[:, 0]

    def _run(
        self,
        embedded_BTD: Tensor,
        caches: list[BlockCaches],
        mask_B11N: Tensor | None = None,
        start: int | Tensor = 0,
        packing: AnyPacking = UNPACKED,
    ) -> Tensor:
        """Return the states of tokens, the first of them at position start, behind the norm."""
        placed_BTD = self.positions.added(embedded_BTD, start, None)
        x_BTD: Tensor = self.dropout(packing.packed(placed_BTD))
        late_BTD = None
        for block, cache in zip(self.blocks, caches, strict=True):
            assert isinstance(block, Block)
            asking_BTD, x_BTD = x_BTD, block(x_BTD, mask_B11N, cache.attended, start, packing)
            if block.copying is None:
                continue
            copied_BTD = packing.packed(
                block.copied(packing.padded(asking_BTD), embedded_BTD, mask_B11N, cache.copied)
            )
            if self._copies_after_norm:
                late_BTD = copied_BTD
            else:
                x_BTD = x_BTD + copied_BTD
        normed_BTD: Tensor = self.norm(x_BTD)
        return normed_BTD if late_BTD is None else normed_BTD + late_BTD


def _taken(x_BND: Tensor, at_BT: Tensor) -> Tensor:
    """Return the states_BTD at some places of each row."""
    return x_BND.gather(1, at_BT[..., None].expand(-1, -1, x_BND.shape[-1]))
