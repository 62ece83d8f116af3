"""Rotary: queries and keys are turned by angles that grow with the position.

Source: RoPE (arXiv 2104.09864).
"""

from typing import Any

import torch
from torch import Tensor

from symshift.data.errors import UsageError
from symshift.models.bodies.position import Positions, places_from


class Rotary(Positions):
    """Features i and i + K/2 of a head are turned by t / 10000^(2i/K)."""

    def __init__(self, width: int, head_width: int, max_positions: int) -> None:
        super().__init__()
        if head_width % 2:
            raise UsageError(f"rotary positions need an even width of heads, not {head_width}")
        self._head_width = head_width
        self._last: tuple[tuple[Any, ...], Tensor, Tensor] | None = None

    def turned(self, heads_BHTK: Tensor, start: int | Tensor) -> Tensor:
        """Return queries or keys turned by their positions, computed in float32."""
        cos, sin = self._angles(start, heads_BHTK.shape[2], heads_BHTK.device)
        first, second = heads_BHTK.float().chunk(2, dim=-1)
        turned = torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)
        return turned.to(heads_BHTK.dtype)

    def _angles(self, start: int | Tensor, num: int, device: torch.device) -> tuple[Tensor, Tensor]:
        """Return cosines and sines: the last ones again where all layers ask for the same."""
        asked = (start, num, device)
        if self._last is not None and _is_same(self._last[0], asked):
            return self._last[1:]
        exponents = torch.arange(0, self._head_width, 2, device=device) / self._head_width
        angles = places_from(start, num, device)[:, None, :, None] / 10000.0**exponents
        self._last = asked, angles.cos(), angles.sin()
        return self._last[1:]


def _is_same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Tell whether two calls asked for the same; a tensor of starts counts as itself alone."""
    starts = one[0], other[0]
    if any(isinstance(start, Tensor) for start in starts):
        return starts[0] is starts[1] and one[1:] == other[1:]
    return one == other


POSITIONS = Rotary
