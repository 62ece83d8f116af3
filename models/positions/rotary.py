"""Rotary: queries and keys are turned by angles that grow with the position.

Source: RoPE (arXiv 2104.09864).
"""

import torch
from torch import Tensor

from symshift.data.errors import UsageError
from symshift.models.position import Positions


class Rotary(Positions):
    """Features i and i + K/2 of a head are turned by t / 10000^(2i/K)."""

    def __init__(self, width: int, head_width: int) -> None:
        super().__init__()
        if head_width % 2:
            raise UsageError(f"rotary positions need an even width of heads, not {head_width}")
        self._head_width = head_width

    def turned(self, heads_BHTK: Tensor, start: int) -> Tensor:
        """Return queries or keys turned by their positions, computed in float32."""
        num, device = heads_BHTK.shape[2], heads_BHTK.device
        exponents = torch.arange(0, self._head_width, 2, device=device) / self._head_width
        places_T = torch.arange(start, start + num, device=device)
        angles = places_T[:, None] / 10000.0**exponents
        cos, sin = angles.cos(), angles.sin()
        first, second = heads_BHTK.float().chunk(2, dim=-1)
        turned = torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)
        return turned.to(heads_BHTK.dtype)


POSITIONS = Rotary
