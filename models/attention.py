"""Multi-head attention, with storage for the keys and values of tokens decoded so far.

Shapes: B batch, T queries, S keys, D width, H heads, K width of a head.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from symshift.models.position import Positions


class KeyValues(NamedTuple):
    """What a query attends to: keys_BHSK and values_BHSK."""

    keys: Tensor
    values: Tensor

    def select(self, rows_B: Tensor) -> "KeyValues":
        """Return the keys and values of some rows of the batch."""
        return KeyValues(self.keys[rows_B], self.values[rows_B])


class Cache:
    """Keys and values of the tokens so far, in storage for a fixed number of them."""

    def __init__(self, stored: KeyValues) -> None:
        self._stored = stored
        self.length = 0
        """How many tokens are held."""

    @classmethod
    def empty(cls, like: KeyValues, max_length: int) -> "Cache":
        """Return storage for max_length tokens, of the batch, heads and type of other keys."""
        batch, heads, _, width = like.keys.shape
        shape = (batch, heads, max_length, width)
        return cls(KeyValues(like.keys.new_empty(shape), like.values.new_empty(shape)))

    def append(self, new: KeyValues) -> KeyValues:
        """Take in the keys and values of the next tokens and return all of them."""
        start, self.length = self.length, self.length + new.keys.shape[2]
        for storage, part in zip(self._stored, new, strict=True):
            storage[:, :, start : self.length] = part
        return self._filled()

    def select(self, rows_B: Tensor) -> None:
        """Keep some rows of the batch, in the order given; only what is filled is copied."""
        filled, length = self._filled().select(rows_B), self.length
        if len(rows_B) != len(self._stored.keys):
            self._stored = Cache.empty(filled, self._stored.keys.shape[2])._stored
        for storage, part in zip(self._stored, filled, strict=True):
            storage[:, :, :length] = part

    def _filled(self) -> KeyValues:
        return KeyValues(*(storage[:, :, : self.length] for storage in self._stored))


class StackedLinear(nn.Linear):
    """Several square linear maps in one multiplication."""

    def __init__(self, width: int, num_maps: int) -> None:
        super().__init__(width, num_maps * width)
        self.num_maps = num_maps


def _split_heads(x_BTD: Tensor, num_heads: int) -> Tensor:
    return x_BTD.view(*x_BTD.shape[:-1], num_heads, -1).transpose(1, 2)


def _merge_heads(x_BHTK: Tensor) -> Tensor:
    return x_BHTK.transpose(1, 2).flatten(2)


class SelfAttention(nn.Module):
    """Tokens attend to one another; queries and keys are turned by their positions."""

    def __init__(self, width: int, num_heads: int, positions: Positions) -> None:
        super().__init__()
        self._num_heads = num_heads
        self._positions = positions
        self.project = StackedLinear(width, 3)
        self.merge = nn.Linear(width, width)

    def forward(
        self,
        x_BTD: Tensor,
        mask_B11S: Tensor | None = None,
        *,
        causal: bool = False,
        cache: Cache | None = None,
    ) -> Tensor:
        """Return the attended tokens.

        Args:
            x_BTD: The tokens; with a cache, the one token that follows those it holds.
            mask_B11S: True where a key may be attended to; None for everywhere.
            causal: Whether a token sees only itself and those before it.
            cache: The tokens before these, which are added to it.
        """
        start = cache.length if cache is not None else 0
        queries, keys, values = (
            _split_heads(part, self._num_heads) for part in self.project(x_BTD).chunk(3, dim=-1)
        )
        queries = self._positions.turned(queries, start)
        seen = KeyValues(self._positions.turned(keys, start), values)
        if cache is not None:
            seen = cache.append(seen)
        attended = F.scaled_dot_product_attention(
            queries, *seen, attn_mask=mask_B11S, is_causal=causal and cache is None
        )
        merged: Tensor = self.merge(_merge_heads(attended))
        return merged


class CrossAttention(nn.Module):
    """Tokens of the answer attend to those of the problem."""

    def __init__(self, width: int, num_heads: int) -> None:
        super().__init__()
        self._num_heads = num_heads
        self.project_queries = nn.Linear(width, width)
        self.project_memory = StackedLinear(width, 2)
        self.merge = nn.Linear(width, width)

    def key_values(self, memory_BSD: Tensor) -> KeyValues:
        """Return the keys and values of the problem: computed once for all tokens of the answer."""
        keys, values = self.project_memory(memory_BSD).chunk(2, dim=-1)
        return KeyValues(_split_heads(keys, self._num_heads), _split_heads(values, self._num_heads))

    def forward(self, x_BTD: Tensor, memory: KeyValues, mask_B11S: Tensor | None) -> Tensor:
        """Return what the tokens take from the problem."""
        queries = _split_heads(self.project_queries(x_BTD), self._num_heads)
        attended = F.scaled_dot_product_attention(queries, *memory, attn_mask=mask_B11S)
        merged: Tensor = self.merge(_merge_heads(attended))
        return merged


def initialise(module: nn.Module, generator: torch.Generator) -> None:
    """Draw the weights of all linear maps in a module (Glorot uniform), and set biases to 0."""
    for part in module.modules():
        if isinstance(part, nn.Linear):
            num_maps = part.num_maps if isinstance(part, StackedLinear) else 1
            for weight in part.weight.data.chunk(num_maps):
                nn.init.xavier_uniform_(weight, generator=generator)
            nn.init.zeros_(part.bias)
