"""Learned: one trained row for each token and name, tied in all three places.

The baseline of "Interchangeable Token Embeddings" (arXiv 2410.17161) differs from the method it
is compared with in its table alone: rows are scaled to length 1, scores are cosines, the loss is
AdaCos. That is the default here. `final_norm=false feature_norm=false loss=cross-entropy` gives the
plain tied model, whose rows start at N(0, 1/D) so that scores start at variance 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from symshift.data.options import option
from symshift.models.embedding import (
    LOSSES,
    EmbeddingMethod,
    HeadOptions,
    ParameterReport,
    TableShape,
    TokenTable,
    normal_parameter,
    require_rows,
)


@dataclass(frozen=True, kw_only=True)
class LearnedOptions(HeadOptions):
    """Options of the learned table."""

    final_norm: bool = option(True, "scale each row to length 1")


@dataclass(frozen=True, kw_only=True)
class PlainOptions(LearnedOptions):
    """The same options, with the defaults of the plain model: no norms, and cross-entropy."""

    final_norm: bool = option(False, "scale each row to length 1")
    feature_norm: bool = option(False, "scale the last hidden state to length 1")
    loss: str = option("cross-entropy", "the training loss", choices=LOSSES)


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
        self._std = first_std(shape, options)
        self.rows = normal_parameter(shape.num_rows, shape.width, generator, self._std)

    def table(self, num_symbols: int, generator: torch.Generator) -> Tensor:
        """Return the trained rows of the first M names."""
        require_rows(num_symbols, len(self.rows) - self._num_fixed)
        rows_VD = self.rows[: self._num_fixed + num_symbols]
        return F.normalize(rows_VD, dim=-1) if self._final_norm else rows_VD

    def token_tables(self) -> Mapping[str, TokenTable]:
        """Return the table."""
        return {"rows": TokenTable(self.rows, self._std)}

    @classmethod
    def parameter_report(cls, shape: TableShape, options: LearnedOptions) -> ParameterReport:
        """Count V rows."""
        return ParameterReport(input=shape.num_rows * shape.width, output=0, stored=0)


def first_std(shape: TableShape, options: LearnedOptions) -> float:
    """Return the standard deviation of first values: 1 where rows are scaled, else 1/sqrt(D)."""
    return 1.0 if options.final_norm else shape.width**-0.5


METHOD = Learned
