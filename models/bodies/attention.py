"""Multi-head attention, with storage for the keys and values of tokens decoded so far.

Shapes: B batch, T queries, S keys, D width, H heads, K width of a head.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from symshift.models.bodies.packing import UNPACKED, AnyPacking
from symshift.models.bodies.position import Positions

TABLE_STD = 0.02
"""Of first values in the body's own tables, as in GPT-2."""


class KeyValues(NamedTuple):
    """What a query attends to: keys_BHSK and values_BHSK (copies: values_B1SD)."""

    keys: Tensor
    values: Tensor

    def select(self, rows_B: Tensor) -> "KeyValues":
        """Return the keys and values of some rows of the batch."""
        # On a CPU twice as fast as indexing.
        return KeyValues(*(part.index_select(0, rows_B) for part in self))


class Cache:
    """Keys and values of the tokens so far, in storage for a fixed number of them."""

    # Stored as BSHK, where a token lies in one piece: attention is up to twice as fast on a CPU.

    def __init__(self, max_length: int) -> None:
        """Prepare storage for max_length tokens, of the shape and type of the first ones."""
        self._max_length = max_length
        self._stored: KeyValues | None = None
        self.length = 0
        """How many tokens are held."""

    def append(self, new: KeyValues) -> KeyValues:
        """Take in the keys and values of the next tokens and return all of them."""
        new = _swapped(new)
        if self._stored is None:
            self._stored = self._storage(new)
        start, self.length = self.length, self.length + new.keys.shape[1]
        for storage, part in zip(self._stored, new, strict=True):
            storage[:, start : self.length] = part
        return _swapped(_between(self._stored, 0, self.length))

    def select(self, rows_B: Tensor, since: int = 0) -> None:
        """Keep some rows of the batch, in the order given; only what is filled is copied.

        Args:
            rows_B: The rows; one may be kept several times.
            since: Tokens before this one stay: the rows that change places share them.
        """
        if self._stored is None:
            return
        chosen = _between(self._stored, since, self.length).select(rows_B)
        if len(rows_B) != len(self._stored.keys):
            assert since == 0, "rows that share tokens cannot change their number"
            self._stored = self._storage(chosen)
        for storage, part in zip(self._stored, chosen, strict=True):
            storage[:, since : self.length] = part

    def _storage(self, like: KeyValues) -> KeyValues:
        """Return empty storage for the batch, heads, widths and types of some tokens."""
        return KeyValues(
            *(part.new_empty((len(part), self._max_length, *part.shape[2:])) for part in like)
        )


def _between(stored: KeyValues, start: int, stop: int) -> KeyValues:
    return KeyValues(*(part[:, start:stop] for part in stored))


def _swapped(parts: KeyValues) -> KeyValues:
    """Return the same with the axes of heads and tokens swapped."""
    return KeyValues(*(part.transpose(1, 2) for part in parts))


class StackedLinear(nn.Linear):
    """Several square linear maps in one multiplication."""

    def __init__(self, width: int, num_maps: int) -> None:
        super().__init__(width, num_maps * width)
        self.num_maps = num_maps


def split_heads(x_BTD: Tensor, num_heads: int) -> Tensor:
    """Return heads_BHTK of equal shares of the width."""
    return x_BTD.view(*x_BTD.shape[:-1], num_heads, -1).transpose(1, 2)


def _merge_heads(x_BHTK: Tensor) -> Tensor:
    return x_BHTK.transpose(1, 2).flatten(2)


class SelfAttention(nn.Module):
    """Tokens attend to one another; queries and keys are turned by their positions."""

    def __init__(self, width: int, num_heads: int, positions: Positions) -> None:
        super().__init__()
        self._num_heads = num_heads
        # Not as a module: a learned scheme's rows belong to the body alone.
        self._turned = positions.turned
        self.project = StackedLinear(width, 3)
        self.merge = nn.Linear(width, width)

    def forward(
        self,
        x_BTD: Tensor,
        mask_B11S: Tensor | None = None,
        *,
        causal: bool = False,
        cache: Cache | None = None,
        start: int | Tensor = 0,
        packing: AnyPacking = UNPACKED,
    ) -> Tensor:
        """Return the attended tokens.

        Args:
            x_BTD: The tokens; with a cache that holds some, the one token that follows them.
            mask_B11S: True where a key may be attended to; None for everywhere.
            causal: Whether a token sees only itself and those before it.
            cache: The tokens before these, which are added to it.
            start: The position of the first of these tokens: one for all rows, or start_B.
            packing: How the tokens are packed.
        """
        width = x_BTD.shape[-1]
        projected: Tensor = packing.padded(self.project(x_BTD))
        asking_BTD, values_BTD = projected.tensor_split((2 * width,), dim=-1)
        turned = self._turned(split_heads(asking_BTD, 2 * self._num_heads), start)
        queries, keys = turned.chunk(2, dim=1)
        seen = KeyValues(keys, split_heads(values_BTD, self._num_heads))
        if cache is not None:
            seen = cache.append(seen)
        attended = F.scaled_dot_product_attention(
            queries, *seen, attn_mask=mask_B11S, is_causal=causal and queries.shape[2] > 1
        )
        merged: Tensor = self.merge(packing.packed(_merge_heads(attended)))
        return merged


class CrossAttention(nn.Module):
    """Tokens of the answer attend to those of the problem."""

    def __init__(self, width: int, num_heads: int) -> None:
        super().__init__()
        self._num_heads = num_heads
        self.project_queries = nn.Linear(width, width)
        self.project_memory = StackedLinear(width, 2)
        self.merge = nn.Linear(width, width)

    def key_values(self, memory_BSD: Tensor, packing: AnyPacking = UNPACKED) -> KeyValues:
        """Return the keys and values of the problem: computed once for all tokens of the answer."""
        keys, values = packing.padded(self.project_memory(memory_BSD)).chunk(2, dim=-1)
        return KeyValues(split_heads(keys, self._num_heads), split_heads(values, self._num_heads))

    def forward(
        self,
        x_BTD: Tensor,
        memory: KeyValues,
        mask_B11S: Tensor | None,
        packing: AnyPacking = UNPACKED,
    ) -> Tensor:
        """Return what the tokens take from the problem."""
        queries = split_heads(packing.padded(self.project_queries(x_BTD)), self._num_heads)
        attended = F.scaled_dot_product_attention(queries, *memory, attn_mask=mask_B11S)
        merged: Tensor = self.merge(packing.packed(_merge_heads(attended)))
        return merged


def initialise(module: nn.Module, generator: torch.Generator) -> None:
    """Draw the weights of a module's linear maps (Glorot uniform) and tables, set biases to 0."""
    for part in module.modules():
        if isinstance(part, nn.Linear):
            num_maps = part.num_maps if isinstance(part, StackedLinear) else 1
            for weight in part.weight.data.chunk(num_maps):
                nn.init.xavier_uniform_(weight, generator=generator)
            if part.bias is not None:
                nn.init.zeros_(part.bias)
        elif isinstance(part, nn.Embedding):
            nn.init.normal_(part.weight, std=TABLE_STD, generator=generator)
