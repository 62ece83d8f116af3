"""Interchangeable: a trained part that all symbols share, and a random code for each.

Source: Interchangeable Token Embeddings (arXiv 2410.17161), the dual-part embedding. With f
scaling a vector to length 1, and blocks of D - S and S dimensions:

    row(token t)  = f([f(L_t), 0])
    row(symbol i) = f([f(a), f(b_i)])

L and a are trained; b_i is drawn for each training step and once for an evaluation. So the
parameters do not grow with the vocabulary, and new symbols are as good as trained ones.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from symshift.data.errors import UsageError
from symshift.data.options import option
from symshift.models.codes.randomizers import RANDOMIZERS
from symshift.models.embedding import (
    EmbeddingMethod,
    HeadOptions,
    ParameterReport,
    TableShape,
    normal_parameter,
)
from symshift.models.streams import sent


@dataclass(frozen=True, kw_only=True)
class InterchangeableOptions(HeadOptions):
    """Options of the dual-part embedding."""

    randomizer: str = option(
        "hypercube", "where the codes are drawn from", choices=tuple(RANDOMIZERS)
    )
    symbol_dim: int = option(16, "dimensions of a row that hold the code")
    block_norm: bool = option(True, "scale the meaning and the code to length 1")
    final_norm: bool = option(True, "scale each row to length 1")


class Interchangeable(EmbeddingMethod):
    """Fixed rows L and one shared symbol row, each of D - S dimensions; codes of S dimensions."""

    Options = InterchangeableOptions
    named_rows = False

    def __init__(
        self, shape: TableShape, options: InterchangeableOptions, generator: torch.Generator
    ) -> None:
        super().__init__()
        if not 1 <= options.symbol_dim < shape.width:
            raise UsageError(
                f"symbol_dim={options.symbol_dim} must be between 1 and width - 1 = "
                f"{shape.width - 1}"
            )
        self.feature_norm = options.feature_norm
        self.loss = options.loss
        self._options = options
        meaning_dim = shape.width - options.symbol_dim
        self.fixed = normal_parameter(shape.num_fixed, meaning_dim, generator)
        self.symbol = normal_parameter(1, meaning_dim, generator)

    def table(self, num_symbols: int, generator: torch.Generator) -> Tensor:
        """Return the fixed rows and M symbol rows with freshly drawn codes."""
        draw = RANDOMIZERS[self._options.randomizer]
        codes_MS = draw(num_symbols, self._options.symbol_dim, generator)
        codes_MS = sent(codes_MS, self.symbol.device)
        meanings_ND = torch.cat((self.fixed, self.symbol))
        if self._options.block_norm:
            meanings_ND, codes_MS = F.normalize(meanings_ND, dim=-1), F.normalize(codes_MS, dim=-1)
        fixed_VD = F.pad(meanings_ND[:-1], (0, self._options.symbol_dim))
        symbols_MD = torch.cat((meanings_ND[-1:].expand(num_symbols, -1), codes_MS), dim=-1)
        rows_VD = torch.cat((fixed_VD, symbols_MD))
        return F.normalize(rows_VD, dim=-1) if self._options.final_norm else rows_VD

    @classmethod
    def parameter_report(
        cls, shape: TableShape, options: InterchangeableOptions
    ) -> ParameterReport:
        """Count the fixed rows and the one that symbols share: nothing grows with the names."""
        meaning_dim = shape.width - options.symbol_dim
        return ParameterReport(input=(shape.num_fixed + 1) * meaning_dim, output=0, stored=0)


METHOD = Interchangeable
