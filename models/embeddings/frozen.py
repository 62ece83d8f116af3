"""Frozen: a random row for each token and name, tied, that is never trained.

Lazić et al. (arXiv 2604.21632) keep embeddings and unembeddings at their random first values,
which are nearly orthogonal: E ~ N(0, s^2), U = E, and only the body learns. Rows of names that
training never meets are then as good as the others. They give neither s nor the head. Ours: s is
`init_std`, 1/sqrt(D) unless given, so that scores start at variance 1; scores are the plain dot
products, the loss is cross-entropy.

The rows are kept, and none of them has anything to re-draw: all were drawn alike, and stayed so.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from symshift.data.errors import UsageError
from symshift.data.options import option
from symshift.models.embedding import EmbeddingMethod, ParameterReport, TableShape, require_rows


@dataclass(frozen=True, kw_only=True)
class FrozenOptions:
    """Options of the frozen table."""

    init_std: float | None = option(
        None, "standard deviation of a row's values (none: 1 / the square root of the width)"
    )

    def __post_init__(self) -> None:
        if self.init_std is not None and not 0 < self.init_std < float("inf"):
            raise UsageError(f"init_std={self.init_std} must be positive and finite")


class Frozen(EmbeddingMethod):
    """A table of V random rows."""

    Options = FrozenOptions
    rows: Tensor

    def __init__(
        self, shape: TableShape, options: FrozenOptions, generator: torch.Generator
    ) -> None:
        super().__init__()
        self._num_fixed = shape.num_fixed
        std = shape.width**-0.5 if options.init_std is None else options.init_std
        rows_VD = torch.randn(shape.num_rows, shape.width, generator=generator) * std
        self.register_buffer("rows", rows_VD)

    def table(self, num_symbols: int, generator: torch.Generator) -> Tensor:
        """Return the rows of the first M names."""
        require_rows(num_symbols, len(self.rows) - self._num_fixed)
        return self.rows[: self._num_fixed + num_symbols]

    @classmethod
    def parameter_report(cls, shape: TableShape, options: FrozenOptions) -> ParameterReport:
        """Count V rows, of which none is trained."""
        return ParameterReport(input=0, output=0, stored=shape.num_rows * shape.width)


METHOD = Frozen
