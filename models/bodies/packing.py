"""Tokens without padding: what is done token by token is done for real tokens alone.

Attention alone needs rows of one length.

Shapes: B rows, T places of a row, N tokens that are no padding, D width.
"""

from typing import NamedTuple

from torch import Tensor


class Packing(NamedTuple):
    """Where the tokens of a padded batch stand."""

    places: Tensor
    """Those of tokens in BT, flattened: N."""
    num_rows: int
    """B."""
    length: int
    """T."""

    def packed(self, x_BTD: Tensor) -> Tensor:
        """Return the tokens_ND alone."""
        return x_BTD.flatten(0, 1).index_select(0, self.places)

    def padded(self, x_ND: Tensor) -> Tensor:
        """Return the tokens in their places_BTD, and zeros elsewhere."""
        grid_PD = x_ND.new_zeros(self.num_rows * self.length, x_ND.shape[-1])
        return grid_PD.index_copy(0, self.places, x_ND).view(self.num_rows, self.length, -1)


class Unpacked:
    """The tokens as they are, in their places."""

    def packed(self, x_BTD: Tensor) -> Tensor:
        """Return the same."""
        return x_BTD

    def padded(self, x_BTD: Tensor) -> Tensor:
        """Return the same."""
        return x_BTD


UNPACKED = Unpacked()
AnyPacking = Packing | Unpacked
