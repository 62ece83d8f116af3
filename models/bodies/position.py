"""What a scheme of positions is: it adds to the inputs, or turns queries and keys.

A scheme is one file in models/positions/ with a class POSITIONS; its file name is its name.

Shapes: B batch, T tokens, D width, H heads, K width of a head, 1 a row that all share.
"""

from typing import ClassVar, cast

import torch
from torch import Tensor, nn

from symshift.data.plugins import plugin


class Positions(nn.Module):
    """Base of the schemes: built as `POSITIONS(width, head_width, max_positions)`, does nothing.

    max_positions is for schemes that can have no more.
    """

    needs_paths: ClassVar[bool] = False
    """Whether it needs the inputs' tree paths (Task.tree_paths)."""
    num_places: int | None = None
    """How many positions it has; None for no end."""

    def added(self, embedded_BTD: Tensor, start: int | Tensor, paths_BT: Tensor | None) -> Tensor:
        """Return the embedded tokens with their positions added.

        Args:
            embedded_BTD: The embedded tokens.
            start: The position of the first of them: one for all rows, or start_B.
            paths_BT: Packed tree paths (encoding.pack_path), for schemes that need them.
        """
        return embedded_BTD

    def turned(self, heads_BHTK: Tensor, start: int | Tensor) -> Tensor:
        """Return queries or keys, turned by their positions from `start` on."""
        return heads_BHTK


def places_from(start: int | Tensor, num: int, device: torch.device) -> Tensor:
    """Return the positions of `num` tokens, places_1T, or places_BT for a start_B."""
    if isinstance(start, Tensor):
        return start[:, None] + torch.arange(num, device=device)
    return torch.arange(start, start + num, device=device)[None]


def load_positions(name: str) -> type[Positions]:
    """Return the scheme of positions with this name.

    Raises:
        UsageError: If there is none; the nearest name is offered.
    """
    return cast(type[Positions], plugin("models.positions", "positions", name).POSITIONS)
