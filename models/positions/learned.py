"""Learned: a trained row for each position is added to the input.

Source: Gehring et al. 2017 (arXiv 1705.03122); GPT-2 uses it in a decoder-only body.
"""

from torch import Tensor, nn

from symshift.data.errors import UsageError
from symshift.models.bodies.position import Positions, places_from


class Learned(Positions):
    """A table of max_positions rows: longer sequences are refused."""

    def __init__(self, width: int, head_width: int, max_positions: int) -> None:
        super().__init__()
        self.rows = nn.Embedding(max_positions, width)

    def require(self, num_positions: int) -> None:
        """Raise UsageError if there are fewer rows."""
        if num_positions > self.rows.num_embeddings:
            raise UsageError(
                f"{num_positions} positions, but the model has learned {self.rows.num_embeddings}: "
                f"train it with --set max_positions={num_positions}, or with other positions"
            )

    def added(self, embedded_BTD: Tensor, start: int | Tensor, paths_BT: Tensor | None) -> Tensor:
        """Return the embedded tokens plus the rows of their positions."""
        added_BTD: Tensor = embedded_BTD + self.rows(
            places_from(start, embedded_BTD.shape[1], embedded_BTD.device)
        )
        return added_BTD


POSITIONS = Learned
