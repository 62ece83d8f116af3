"""Learned: a trained row for each position is added to the input.

Source: Gehring et al. 2017 (arXiv 1705.03122); GPT-2 uses it in a decoder-only body.
"""

from torch import Tensor, nn

from symshift.models.bodies.position import Positions, places_from


class Learned(Positions):
    """A table of max_positions rows: the body refuses longer sequences."""

    def __init__(self, width: int, head_width: int, max_positions: int) -> None:
        super().__init__()
        self.rows = nn.Embedding(max_positions, width)
        self.num_places = max_positions

    def added(self, embedded_BTD: Tensor, start: int | Tensor, paths_BT: Tensor | None) -> Tensor:
        """Return the embedded tokens plus the rows of their positions."""
        added_BTD: Tensor = embedded_BTD + self.rows(
            places_from(start, embedded_BTD.shape[1], embedded_BTD.device)
        )
        return added_BTD


POSITIONS = Learned
