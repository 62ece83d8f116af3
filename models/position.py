"""What a scheme of positions is: it adds to the inputs, or turns queries and keys.

A scheme is one file in models/positions/ with a class POSITIONS; its file name is its name.

Shapes: B batch, T tokens, D width, H heads, K width of a head.
"""

from typing import ClassVar, cast

from torch import Tensor, nn

from symshift.data.plugins import plugin


class Positions(nn.Module):
    """Base of the schemes: built as `POSITIONS(width, head_width)`, does nothing by itself."""

    needs_paths: ClassVar[bool] = False
    """Whether it needs the inputs' tree paths (Task.tree_paths)."""

    def added(self, embedded_BTD: Tensor, start: int, paths_BT: Tensor | None) -> Tensor:
        """Return the embedded tokens with their positions added.

        Args:
            embedded_BTD: The embedded tokens.
            start: The position of the first of them.
            paths_BT: Packed tree paths (encoding.pack_path), for schemes that need them.
        """
        return embedded_BTD

    def turned(self, heads_BHTK: Tensor, start: int) -> Tensor:
        """Return queries or keys, turned by their positions from `start` on."""
        return heads_BHTK


def load_positions(name: str) -> type[Positions]:
    """Return the scheme of positions with this name.

    Raises:
        UsageError: If there is none; the nearest name is offered.
    """
    return cast(type[Positions], plugin("models.positions", "positions", name).POSITIONS)
