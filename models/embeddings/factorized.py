"""Factorized: a narrow trained row for each token and name, and one linear map to the full width.

Source: ALBERT (arXiv 1909.11942, section 3.1), E = A B with A of V rows and R columns, B of R rows
and D columns. "Leviathan" (arXiv 2601.22040) compares with it at equal parameters and with an
untied head. Where the sources are silent the choice is ours: A starts at N(0, 1) and B at
N(0, 1/(R D)), so that rows have about length 1, as in the plain learned table.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from symshift.data.options import option, require_sizes
from symshift.models.embedding import (
    ParameterReport,
    TableShape,
    TokenTable,
    UntiedMethod,
    UntiedOptions,
    head_size,
    normal_parameter,
    require_rows,
)


@dataclass(frozen=True, kw_only=True)
class FactorizedOptions(UntiedOptions):
    """Options of the factorized table."""

    rank: int = option(16, "width of the narrow rows")

    def __post_init__(self) -> None:
        require_sizes(self, "rank")


class Factorized(UntiedMethod):
    """E = A B: narrow rows A, and a map B to the model's width."""

    Options = FactorizedOptions

    def __init__(
        self, shape: TableShape, options: FactorizedOptions, generator: torch.Generator
    ) -> None:
        super().__init__(shape, options, generator)
        self._shape = shape
        self.narrow = normal_parameter(shape.num_rows, options.rank, generator)
        std = (options.rank * shape.width) ** -0.5
        self.widen = normal_parameter(options.rank, shape.width, generator, std)

    def table(self, num_symbols: int, generator: torch.Generator) -> Tensor:
        """Return the widened rows of the first M names, computed in float32."""
        require_rows(num_symbols, self._shape.num_symbols)
        with torch.autocast(self.widen.device.type, enabled=False):
            return self.narrow[: self._shape.num_fixed + num_symbols] @ self.widen

    def token_tables(self) -> Mapping[str, TokenTable]:
        """Return the narrow rows, and the head if there is one."""
        return {"narrow": TokenTable(self.narrow, 1.0), **super().token_tables()}

    @classmethod
    def parameter_report(cls, shape: TableShape, options: FactorizedOptions) -> ParameterReport:
        """Count R (V + D) values and the head."""
        size = options.rank * (shape.num_rows + shape.width)
        return ParameterReport(input=size, output=head_size(shape, options), stored=0)


METHOD = Factorized
