"""Sinusoidal: sines and cosines of the position are added to the input.

Source: Vaswani et al. 2017, section 3.5.
"""

import torch
from torch import Tensor

from symshift.models.bodies.position import Positions, places_from


class Sinusoidal(Positions):
    """Feature 2i is sin(t / 10000^(2i/D)), feature 2i + 1 its cosine."""

    def __init__(self, width: int, head_width: int, max_positions: int) -> None:
        super().__init__()
        self._width = width

    def added(self, embedded_BTD: Tensor, start: int | Tensor, paths_BT: Tensor | None) -> Tensor:
        """Return the embedded tokens plus the waves at their positions."""
        num, device = embedded_BTD.shape[1], embedded_BTD.device
        exponents = torch.arange(0, self._width, 2, device=device) / self._width
        angles = places_from(start, num, device)[..., None] / 10000.0**exponents
        waves_BTD = torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(2)
        return embedded_BTD + waves_BTD[..., : self._width]


POSITIONS = Sinusoidal
