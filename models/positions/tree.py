"""Tree: each token gets the way to its node in the formula's tree (Shiv and Quirk 2019).

The variant of DeepLTL (arXiv 2003.04218) and Interchangeable Token Embeddings: choices as pairs,
(1, 0) for a left or only child and (0, 1) for a right one, nearest to the node first, zeros behind.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from symshift.models.bodies.position import Positions


class Tree(Positions):
    """Features 2j and 2j + 1 are the j-th choice; steps beyond D / 2 are left out."""

    needs_paths = True

    def __init__(self, width: int, head_width: int, max_positions: int) -> None:
        super().__init__()
        self._width = width

    def added(self, embedded_BTD: Tensor, start: int | Tensor, paths_BT: Tensor | None) -> Tensor:
        """Return the embedded tokens plus their nodes' choices; tokens without a node get zeros."""
        assert paths_BT is not None, "tree positions were given no paths"
        return embedded_BTD + unpacked(paths_BT, self._width).to(embedded_BTD.dtype)


def unpacked(paths_BT: Tensor, width: int) -> Tensor:
    """Return the features_BTD of packed tree paths (encoding.pack_path)."""
    num_steps = min(width // 2, 62)
    steps_J = torch.arange(num_steps, device=paths_BT.device)
    rest_BTJ = paths_BT[..., None] >> steps_J
    taken_BTJ = rest_BTJ > 1
    right_BTJ = (rest_BTJ & 1).bool()
    pairs = torch.stack((taken_BTJ & ~right_BTJ, taken_BTJ & right_BTJ), dim=-1).flatten(-2)
    return F.pad(pairs.float(), (0, width - 2 * num_steps))


POSITIONS = Tree
