"""Learned: one trained row for each token and name, tied in all three places.

The baseline of "Interchangeable Token Embeddings" (arXiv 2410.17161) differs from the method it
is compared with in its table alone: rows are scaled to length 1, scores are cosines, the loss is
AdaCos. That is the default here. `final_norm=false feature_norm=false loss=cross-entropy` gives the
plain tied model, whose rows start at N(0, 1/D) so that scores start at variance 1.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from symshift.data.errors import UsageError
from symshift.data.options import option
from symshift.models.embedding import EmbeddingMethod, HeadOptions, TableShape, normal_parameter


@dataclass(frozen=True, kw_only=True)
class LearnedOptions(HeadOptions):
    """Options of the learned table."""

    final_norm: bool = option(True, "scale each row to length 1")


class Learned(EmbeddingMethod):
    """A table E of V rows: U = E, or its rows scaled to length 1."""

    Options = LearnedOptions

    def __init__(
        self, shape: TableShape, options: LearnedOptions, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.feature_norm = options.feature_norm
        self.loss = options.loss
        self._final_norm = options.final_norm
        self._num_fixed = shape.num_fixed
        self.rows = normal_parameter(shape.num_fixed + shape.num_symbols, shape.width, generator)
        if not options.final_norm:
            with torch.no_grad():
                self.rows.mul_(shape.width**-0.5)

    def table(self, num_symbols: int, generator: torch.Generator) -> Tensor:
        """Return the trained rows of the first M names."""
        if num_symbols > (known := len(self.rows) - self._num_fixed):
            raise UsageError(
                f"{num_symbols} names, but the model has rows for {known}: "
                f"train it with --set vocabulary={num_symbols}"
            )
        rows_VD = self.rows[: self._num_fixed + num_symbols]
        return F.normalize(rows_VD, dim=-1) if self._final_norm else rows_VD


METHOD = Learned
