"""The encoder-decoder Transformer, on embedded tokens: it knows nothing of tables or names.

Post-norm, ReLU (Vaswani et al. 2017), with the choices of Interchangeable Token Embeddings
(arXiv 2410.17161): tree or sinusoidal positions in the encoder, rotary ones in the decoder's
self-attention. Dropout acts on the inputs and on what each sub-layer adds.

Shapes: B batch, T answer tokens, S problem tokens, D width.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from symshift.data.errors import UsageError
from symshift.models.attention import Cache, CrossAttention, KeyValues, SelfAttention, initialise
from symshift.models.position import Positions, load_positions


@dataclass(frozen=True, kw_only=True)
class BodyShape:
    """The sizes of a Transformer and its schemes of positions."""

    width: int
    num_heads: int
    ff_width: int
    encoder_layers: int
    decoder_layers: int
    dropout: float
    encoder_positions: str
    decoder_positions: str


class Memory(NamedTuple):
    """The encoded problems: hidden_BSD, and mask_B11S that is True on their tokens (None: all)."""

    hidden: Tensor
    mask: Tensor | None


class LayerState(NamedTuple):
    """What a decoder layer attends to: the problem, and the tokens so far where they are kept."""

    memory: KeyValues
    cache: Cache | None


class DecoderState:
    """A batch of answers that are being written, one token at a time."""

    def __init__(self, layers: list[LayerState], mask_B11S: Tensor | None) -> None:
        self.layers = layers
        self.mask = mask_B11S

    @property
    def length(self) -> int:
        """How many tokens each answer has so far."""
        cache = self.layers[0].cache
        return cache.length if cache is not None else 0

    def select(self, rows_B: Tensor) -> None:
        """Keep some rows of the batch, in the order given; a row may be kept several times."""
        self.layers = [
            LayerState(layer.memory.select(rows_B), layer.cache) for layer in self.layers
        ]
        self.mask = None if self.mask is None else self.mask[rows_B]
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

    def __init__(self, shape: BodyShape, positions: Positions) -> None:
        super().__init__()
        self.attention = SelfAttention(shape.width, shape.num_heads, positions)
        self.feed_forward = FeedForward(shape.width, shape.ff_width)
        self.norms = nn.ModuleList(nn.LayerNorm(shape.width) for _ in range(2))
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, x_BSD: Tensor, mask_B11S: Tensor | None) -> Tensor:
        """Return the problem's tokens after this layer."""
        x_BSD = self.norms[0](x_BSD + self.dropout(self.attention(x_BSD, mask_B11S)))
        encoded: Tensor = self.norms[1](x_BSD + self.dropout(self.feed_forward(x_BSD)))
        return encoded


class DecoderLayer(nn.Module):
    """Causal self-attention, attention to the problem and feed-forward, each added and normed."""

    def __init__(self, shape: BodyShape, positions: Positions) -> None:
        super().__init__()
        self.attention = SelfAttention(shape.width, shape.num_heads, positions)
        self.cross = CrossAttention(shape.width, shape.num_heads)
        self.feed_forward = FeedForward(shape.width, shape.ff_width)
        self.norms = nn.ModuleList(nn.LayerNorm(shape.width) for _ in range(3))
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, x_BTD: Tensor, state: LayerState, mask_B11S: Tensor | None) -> Tensor:
        """Return the answer's tokens after this layer."""
        attended = self.attention(x_BTD, causal=True, cache=state.cache)
        x_BTD = self.norms[0](x_BTD + self.dropout(attended))
        x_BTD = self.norms[1](x_BTD + self.dropout(self.cross(x_BTD, state.memory, mask_B11S)))
        decoded: Tensor = self.norms[2](x_BTD + self.dropout(self.feed_forward(x_BTD)))
        return decoded


class Transformer(nn.Module):
    """Encoder and decoder layers over embedded tokens."""

    def __init__(self, shape: BodyShape, generator: torch.Generator) -> None:
        super().__init__()
        if shape.width % shape.num_heads:
            raise UsageError(
                f"width={shape.width} cannot be shared by num_heads={shape.num_heads}: "
                "give a width that is a multiple of it"
            )
        sizes = (shape.width, shape.width // shape.num_heads)
        self.encoder_positions = load_positions(shape.encoder_positions)(*sizes)
        self.decoder_positions = load_positions(shape.decoder_positions)(*sizes)
        self.encoder = nn.ModuleList(
            EncoderLayer(shape, self.encoder_positions) for _ in range(shape.encoder_layers)
        )
        self.decoder = nn.ModuleList(
            DecoderLayer(shape, self.decoder_positions) for _ in range(shape.decoder_layers)
        )
        self.dropout = nn.Dropout(shape.dropout)
        initialise(self, generator)

    def encode(
        self, embedded_BSD: Tensor, mask_B11S: Tensor | None, paths_BS: Tensor | None
    ) -> Memory:
        """Encode problems.

        Args:
            embedded_BSD: Their tokens.
            mask_B11S: True on tokens, False on padding; None where there is no padding.
            paths_BS: Their packed tree paths, where the encoder's positions need them.
        """
        x_BSD = self.dropout(self.encoder_positions.added(embedded_BSD, 0, paths_BS))
        for layer in self.encoder:
            x_BSD = layer(x_BSD, mask_B11S)
        return Memory(x_BSD, mask_B11S)

    def decode(self, embedded_BTD: Tensor, memory: Memory) -> Tensor:
        """Return the hidden states of whole answers, each token seeing those before it."""
        return self._decode(embedded_BTD, self._begin(memory, None))

    def begin(self, memory: Memory, max_length: int) -> DecoderState:
        """Begin answers of at most max_length tokens."""
        return self._begin(memory, max_length)

    def step(self, embedded_BD: Tensor, state: DecoderState) -> Tensor:
        """Take in the next token of each answer and return its hidden_BD; moves the state on."""
        return self._decode(embedded_BD[:, None], state)[:, 0]

    def _begin(self, memory: Memory, max_length: int | None) -> DecoderState:
        layers = []
        for layer in self.decoder:
            assert isinstance(layer, DecoderLayer)
            seen = layer.cross.key_values(memory.hidden)
            cache = None if max_length is None else Cache.empty(seen, max_length)
            layers.append(LayerState(seen, cache))
        return DecoderState(layers, memory.mask)

    def _decode(self, embedded_BTD: Tensor, state: DecoderState) -> Tensor:
        start = state.length
        x_BTD: Tensor = self.dropout(self.decoder_positions.added(embedded_BTD, start, None))
        for layer, layer_state in zip(self.decoder, state.layers, strict=True):
            x_BTD = layer(x_BTD, layer_state, state.mask)
        return x_BTD
