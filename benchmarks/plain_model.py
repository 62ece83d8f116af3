"""The published model, written plainly: what benchmarks/training.py trains beside ours.

A rendering of what the public code of Interchangeable Token Embeddings (arXiv 2410.17161) does, in
words of our own: float32 throughout; three maps for queries, keys and values; scores, a mask as a
matrix of numbers that is made at every step, softmax, product; angles of the rotary positions made
in every layer; codes drawn with Python's random at every step, bit by bit. Rotary positions in the
attention to the problem are left out: ours has none there, and it takes less time.

The model is ours, value for value: `PlainModel.load` takes our weights.

Shapes: B batch, S problem tokens, T answer tokens, D width, H heads, K width of a head, V rows, M
symbols.
"""

import math
import random
from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from symshift.models.configuration import RunConfig
from symshift.models.encoding import PAD, START


def turned(heads_BHTK: Tensor) -> Tensor:
    """Return queries or keys turned by their positions."""
    num, width = heads_BHTK.shape[2:]
    places_T = torch.arange(num, device=heads_BHTK.device)
    rates = 10000.0 ** (-torch.arange(0, width, 2, device=heads_BHTK.device) / width)
    angles_TK = torch.cat([places_T[:, None] * rates] * 2, dim=-1)
    first, second = heads_BHTK.chunk(2, dim=-1)
    return heads_BHTK * angles_TK.cos() + torch.cat((-second, first), dim=-1) * angles_TK.sin()


class PlainAttention(nn.Module):
    """Attention of several heads, its scores as a matrix."""

    def __init__(self, width: int, num_heads: int) -> None:
        super().__init__()
        self._num_heads = num_heads
        self.queries, self.keys = nn.Linear(width, width), nn.Linear(width, width)
        self.values, self.merge = nn.Linear(width, width), nn.Linear(width, width)

    def forward(
        self, asking_BTD: Tensor, seen_BSD: Tensor, mask: Tensor, is_rotary: bool = False
    ) -> Tensor:
        """Return what the tokens take; the mask is 1 where they may not look."""
        queries, keys = self._split(self.queries(asking_BTD)), self._split(self.keys(seen_BSD))
        if is_rotary:
            queries, keys = turned(queries), turned(keys)
        scores_BHTS = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
        scores_BHTS = scores_BHTS + mask * torch.finfo(scores_BHTS.dtype).min
        taken_BHTK = scores_BHTS.softmax(dim=-1) @ self._split(self.values(seen_BSD))
        merged: Tensor = self.merge(taken_BHTK.transpose(1, 2).contiguous().flatten(2))
        return merged

    def _split(self, x_BTD: Tensor) -> Tensor:
        return x_BTD.view(*x_BTD.shape[:2], self._num_heads, -1).transpose(1, 2)


class PlainLayer(nn.Module):
    """A layer of the encoder, or of the decoder if it attends to the problem too."""

    def __init__(self, config: RunConfig, *, crosses: bool) -> None:
        super().__init__()
        train, width = config.train, config.train.width
        self.attention = PlainAttention(width, train.num_heads)
        self.cross = PlainAttention(width, train.num_heads) if crosses else None
        self.feed_forward = nn.Sequential(
            nn.Linear(width, train.ff_width), nn.ReLU(), nn.Linear(train.ff_width, width)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3 if crosses else 2))
        self.dropout = nn.Dropout(train.dropout)

    def forward(
        self, x_BTD: Tensor, mask: Tensor, memory_BSD: Tensor | None, padding: Tensor
    ) -> Tensor:
        """Return the tokens after this layer."""
        is_decoder = self.cross is not None
        attended = self.attention(x_BTD, x_BTD, mask, is_rotary=is_decoder)
        x_BTD = self.norms[0](x_BTD + self.dropout(attended))
        if self.cross is not None and memory_BSD is not None:
            x_BTD = self.norms[1](x_BTD + self.dropout(self.cross(x_BTD, memory_BSD, padding)))
        x_BTD = self.norms[-1](x_BTD + self.dropout(self.feed_forward(x_BTD)))
        return x_BTD


class PlainModel(nn.Module):
    """The encoder-decoder with the dual-part embedding, codes at hypercube vertices."""

    def __init__(self, config: RunConfig) -> None:
        super().__init__()
        train = config.train
        self._code_dim, self._num_symbols = config.options.symbol_dim, len(config.window)
        self._width = train.width
        num_rows = config.codec.num_fixed + 1
        self.meanings = nn.Parameter(torch.empty(num_rows, train.width - self._code_dim))
        assert train.encoder_layers is not None
        assert train.decoder_layers is not None
        self.encoder = nn.ModuleList(
            PlainLayer(config, crosses=False) for _ in range(train.encoder_layers)
        )
        self.decoder = nn.ModuleList(
            PlainLayer(config, crosses=True) for _ in range(train.decoder_layers)
        )
        self.dropout = nn.Dropout(train.dropout)

    def load(self, weights: Mapping[str, Tensor]) -> None:
        """Take our model's weights."""
        own = {"meanings": torch.cat((weights["method.fixed"], weights["method.symbol"]))}
        for name, value in weights.items():
            if name.startswith("body."):
                own |= _unstacked(name.removeprefix("body."), value)
        self.load_state_dict(own)

    def codes(self) -> Tensor:
        """Draw a code for each symbol: codes_MS."""
        numbers = random.sample(range(2**self._code_dim), self._num_symbols)
        signs = [
            [-1.0 if bit == "1" else 1.0 for bit in format(number, f"0{self._code_dim}b")]
            for number in numbers
        ]
        return torch.tensor(signs, device=self.meanings.device)

    def table(self) -> Tensor:
        """Return the rows_VD of this step."""
        num_fixed, meaning_dim = len(self.meanings) - 1, self.meanings.shape[1]
        rows_VD = self.meanings.new_zeros(num_fixed + self._num_symbols, self._width)
        meanings = F.normalize(self.meanings, dim=-1)
        rows_VD[:num_fixed, :meaning_dim] = meanings[:-1]
        rows_VD[num_fixed:, :meaning_dim] = meanings[-1]
        rows_VD[num_fixed:, meaning_dim:] = F.normalize(self.codes(), dim=-1)
        return F.normalize(rows_VD, dim=-1)

    def forward(self, source_BS: Tensor, target_BT: Tensor, branches_BSD: Tensor) -> Tensor:
        """Return the cosines_BTV of each next token of whole answers; pad and start get -inf."""
        table_VD, scale = self.table(), math.sqrt(self._width)
        padding_B11S = (source_BS == PAD).float()[:, None, None]
        num = target_BT.shape[1]
        future_11TT = torch.triu(torch.ones(num, num, device=target_BT.device), diagonal=1)[None]
        memory_BSD = self.dropout(F.embedding(source_BS, table_VD) * scale + branches_BSD)
        for layer in self.encoder:
            memory_BSD = layer(memory_BSD, padding_B11S, None, padding_B11S)
        x_BTD = self.dropout(F.embedding(target_BT, table_VD) * scale)
        for layer in self.decoder:
            x_BTD = layer(x_BTD, future_11TT, memory_BSD, padding_B11S)
        cosines_BTV = F.linear(F.normalize(x_BTD, dim=-1), table_VD)
        cosines_BTV[..., [PAD, START]] = -torch.inf
        return cosines_BTV


def _unstacked(name: str, value: Tensor) -> dict[str, Tensor]:
    """Return our maps, which lie in one matrix, as one for each purpose."""
    for stacked, parts in {
        "attention.project.": ("attention.queries.", "attention.keys.", "attention.values."),
        "cross.project_memory.": ("cross.keys.", "cross.values."),
        "cross.project_queries.": ("cross.queries.",),
    }.items():
        if stacked in name:
            shares = value.chunk(len(parts))
            return {
                name.replace(stacked, part): share
                for part, share in zip(parts, shares, strict=True)
            }
    return {name: value}
