"""Learned, untied: one trained row for each token and name to read, and another to answer.

"Leviathan" (arXiv 2601.22040) and the 1.7B study of fixed token codes (arXiv 2610.04002) compare
with this. The plain model is the default: no norms, cross-entropy, and rows of both tables start at
N(0, 1/D). `final_norm=true feature_norm=true loss=adacos` gives `learned` with its answers untied.
"""

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn import functional as F

from symshift.models.embedding import (
    ParameterReport,
    TableShape,
    TokenTable,
    normal_parameter,
)
from symshift.models.embeddings.learned import Learned, LearnedOptions, PlainOptions, first_std


class LearnedUntied(Learned):
    """A table E_in of V rows that read, and a table E_out of V rows that answer."""

    Options = PlainOptions

    def __init__(
        self, shape: TableShape, options: PlainOptions, generator: torch.Generator
    ) -> None:
        super().__init__(shape, options, generator)
        self.output = "dense"
        std = first_std(shape, options)
        self.head = normal_parameter(shape.num_rows, shape.width, generator, std)

    def answers(self, table_VD: Tensor) -> Tensor:
        """Return the rows of the second table."""
        rows_VD = self.head[: len(table_VD)]
        return F.normalize(rows_VD, dim=-1) if self._final_norm else rows_VD

    def token_tables(self) -> Mapping[str, TokenTable]:
        """Return both tables."""
        return {**super().token_tables(), "head": TokenTable(self.head, self._std)}

    @classmethod
    def parameter_report(cls, shape: TableShape, options: LearnedOptions) -> ParameterReport:
        """Count V rows twice."""
        size = shape.num_rows * shape.width
        return ParameterReport(input=size, output=size, stored=0)


METHOD = LearnedUntied
