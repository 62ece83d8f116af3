"""The encoder-decoder body: one Transformer reads the problem, one writes the answer.

Post-norm, ReLU (Vaswani et al. 2017), with the choices of Interchangeable Token Embeddings
(arXiv 2410.17161): tree or sinusoidal positions in the encoder, rotary ones in the decoder's
self-attention. Dropout acts on the inputs and on what each sub-layer adds. Copy attention asks with
the input of a decoder layer, compares with the encoder's output and takes the problem's embeddings.

Shapes: B batch, T answer tokens, S problem tokens, D width.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from symshift.models.bodies.attention import (
    Cache,
    CrossAttention,
    KeyValues,
    SelfAttention,
    initialise,
)
from symshift.models.bodies.body import Body, BodyOptions, Problems
from symshift.models.bodies.copying import CopyAttention, copy_places
from symshift.models.bodies.packing import UNPACKED, AnyPacking
from symshift.models.bodies.position import Positions


class LayerState(NamedTuple):
    """What a decoder layer attends to: the problem, the copied, the tokens so far if kept."""

    memory: KeyValues
    copied: KeyValues | None
    cache: Cache | None

    def select(self, rows_B: Tensor) -> "LayerState":
        """Return the same for some rows' problems, with the cache as it is."""
        copied = None if self.copied is None else self.copied.select(rows_B)
        return LayerState(self.memory.select(rows_B), copied, self.cache)


class DecoderState:
    """A batch of answers that are being written, one token at a time."""

    def __init__(self, layers: list[LayerState], mask_B11S: Tensor) -> None:
        self.layers = layers
        self.mask = mask_B11S

    @property
    def length(self) -> int:
        """How many tokens each answer has so far."""
        cache = self.layers[0].cache
        return cache.length if cache is not None else 0

    def select(self, rows_B: Tensor) -> None:
        """Keep some rows of the batch, in the order given; a row may be kept several times."""
        self.layers = [layer.select(rows_B) for layer in self.layers]
        self.mask = self.mask[rows_B]
        self.select_answers(rows_B)

    def select_answers(self, rows_B: Tensor) -> None:
        """Let row i continue the answer of row rows_B[i], which has the same problem."""
        for layer in self.layers:
            if layer.cache is not None:
                layer.cache.select(rows_B)


class FeedForward(nn.Sequential):
    """Two linear maps with a ReLU between them."""

    def __init__(self, width: int, ff_width: int) -> None:
        super().__init__(nn.Linear(width, ff_width), nn.ReLU(), nn.Linear(ff_width, width))


class EncoderLayer(nn.Module):
    """Self-attention and feed-forward, each added and normed."""

    def __init__(self, options: BodyOptions, positions: Positions) -> None:
        super().__init__()
        self.attention = SelfAttention(options.width, options.num_heads, positions)
        self.feed_forward = FeedForward(options.width, options.ff_width)
        self.norms = nn.ModuleList(nn.LayerNorm(options.width) for _ in range(2))
        self.dropout = nn.Dropout(options.dropout)

    def forward(self, x_BSD: Tensor, mask_B11S: Tensor, packing: AnyPacking = UNPACKED) -> Tensor:
        """Return the problem's tokens after this layer."""
        attended = self.attention(x_BSD, mask_B11S, packing=packing)
        x_BSD = self.norms[0](x_BSD + self.dropout(attended))
        encoded: Tensor = self.norms[1](x_BSD + self.dropout(self.feed_forward(x_BSD)))
        return encoded


class DecoderLayer(nn.Module):
    """Causal self-attention, attention to the problem and feed-forward, each added and normed."""

    def __init__(self, options: BodyOptions, positions: Positions, copies: bool) -> None:
        super().__init__()
        self.attention = SelfAttention(options.width, options.num_heads, positions)
        self.cross = CrossAttention(options.width, options.num_heads)
        self.feed_forward = FeedForward(options.width, options.ff_width)
        self.norms = nn.ModuleList(nn.LayerNorm(options.width) for _ in range(3))
        self.dropout = nn.Dropout(options.dropout)
        self.copying = CopyAttention(options) if copies else None
        self._copies_after_norm = options.copy_place == "after-norm"

    def forward(
        self,
        x_BTD: Tensor,
        state: LayerState,
        mask_B11S: Tensor,
        start: int,
        packing: AnyPacking = UNPACKED,
    ) -> Tensor:
        """Return the answer's tokens, the first at position start, after this layer."""
        asking_BTD = x_BTD
        attended = self.attention(
            x_BTD, causal=True, cache=state.cache, start=start, packing=packing
        )
        x_BTD = self.norms[0](x_BTD + self.dropout(attended))
        attended = self.cross(x_BTD, state.memory, mask_B11S, packing)
        x_BTD = self.norms[1](x_BTD + self.dropout(attended))
        x_BTD = x_BTD + self.dropout(self.feed_forward(x_BTD))
        if self.copying is None:
            decoded: Tensor = self.norms[2](x_BTD)
            return decoded
        copied_BTD = self.copying(packing.padded(asking_BTD), state.copied, mask_B11S)
        copied_BTD = self.dropout(packing.packed(copied_BTD))
        if self._copies_after_norm:
            decoded = self.norms[2](x_BTD) + copied_BTD
        else:
            decoded = self.norms[2](x_BTD + copied_BTD)
        return decoded


class EncoderDecoder(Body[DecoderState]):
    """Encoder and decoder layers over embedded tokens."""

    def __init__(self, options: BodyOptions, generator: torch.Generator) -> None:
        super().__init__()
        assert options.encoder_positions is not None
        assert options.encoder_layers is not None
        assert options.decoder_layers is not None
        self.encoder_positions = options.positions(options.encoder_positions)
        self.decoder_positions = options.answer_positions()
        self.encoder = nn.ModuleList(
            EncoderLayer(options, self.encoder_positions) for _ in range(options.encoder_layers)
        )
        self.decoder = nn.ModuleList(
            DecoderLayer(options, self.decoder_positions, copies)
            for copies in copy_places(options, options.decoder_layers)
        )
        self.dropout = nn.Dropout(options.dropout)
        initialise(self, generator)

    def needs(self, num_problem: int, num_answer: int) -> list[tuple[Positions, int]]:
        """Return both schemes, one for problems and one for answers."""
        return [(self.encoder_positions, num_problem), (self.decoder_positions, num_answer)]

    def hidden(
        self, problems: Problems, answers_BTD: Tensor, packing: AnyPacking = UNPACKED
    ) -> Tensor:
        """Return the states that predict the next tokens of whole answers."""
        self.require(problems.tokens.shape[1], answers_BTD.shape[1])
        return self._decode(answers_BTD, self._begin(problems, None), packing)

    def begin(self, problems: Problems, max_length: int) -> DecoderState:
        """Encode the problems and begin answers of at most max_length tokens."""
        self.require(problems.tokens.shape[1], max_length)
        return self._begin(problems, max_length)

    def step(self, embedded_BD: Tensor, state: DecoderState) -> Tensor:
        """Take in the next token of each answer and return its hidden_BD; moves the state on."""
        return self._decode(embedded_BD[:, None], state)[:, 0]

    def _encode(self, problems: Problems) -> Tensor:
        packing = problems.packing
        embedded_BSD = self.encoder_positions.added(problems.tokens, 0, problems.paths)
        x_BSD: Tensor = self.dropout(packing.packed(embedded_BSD))
        for layer in self.encoder:
            x_BSD = layer(x_BSD, problems.mask, packing)
        return x_BSD

    def _begin(self, problems: Problems, max_length: int | None) -> DecoderState:
        packing, memory_BSD = problems.packing, self._encode(problems)
        layers = []
        for layer in self.decoder:
            assert isinstance(layer, DecoderLayer)
            copied = None
            if layer.copying is not None:
                copied = layer.copying.key_values(packing.padded(memory_BSD), problems.tokens)
            cache = None if max_length is None else Cache(max_length)
            layers.append(LayerState(layer.cross.key_values(memory_BSD, packing), copied, cache))
        return DecoderState(layers, problems.mask)

    def _decode(
        self, embedded_BTD: Tensor, state: DecoderState, packing: AnyPacking = UNPACKED
    ) -> Tensor:
        start = state.length
        placed_BTD = self.decoder_positions.added(embedded_BTD, start, None)
        x_BTD: Tensor = self.dropout(packing.packed(placed_BTD))
        for layer, layer_state in zip(self.decoder, state.layers, strict=True):
            x_BTD = layer(x_BTD, layer_state, state.mask, start, packing)
        return x_BTD
