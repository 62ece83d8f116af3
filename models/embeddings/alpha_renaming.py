"""Alpha-renaming: trained rows that are dealt out to the names anew at every step.

Interchangeable Token Embeddings (arXiv 2410.17161) compares with this as "alpha-renaming". The
table form draws one injection of names into a pool of rows for each step, shared by the batch. The
data form draws one for each sample: a stronger augmentation. For prediction one injection is drawn
and kept. All else is as in `learned`. Names can be told apart up to the pool's size.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from symshift.data.errors import UsageError
from symshift.data.options import option, require_sizes
from symshift.models.embedding import (
    MAX_NAMES,
    EmbeddingMethod,
    HeadOptions,
    ParameterReport,
    TableShape,
    normal_parameter,
)
from symshift.models.streams import sent


@dataclass(frozen=True, kw_only=True)
class AlphaRenamingOptions(HeadOptions):
    """Options of alpha-renaming."""

    form: str = option("table", "one renaming a step, or one a sample", choices=("table", "data"))
    pool: int | None = option(None, "rows to deal out (none: as many as the vocabulary)")
    final_norm: bool = option(True, "scale each row to length 1")

    def __post_init__(self) -> None:
        super().__post_init__()
        require_sizes(self, "pool", most=MAX_NAMES)


class AlphaRenaming(EmbeddingMethod):
    """Fixed rows L and a pool A of P rows: U = [L; A[injection]], rows scaled to length 1."""

    Options = AlphaRenamingOptions
    named_rows = False

    def __init__(
        self, shape: TableShape, options: AlphaRenamingOptions, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.feature_norm = options.feature_norm
        self.loss = options.loss
        self._options = options
        self.fixed = normal_parameter(shape.num_fixed, shape.width, generator)
        self.pool = normal_parameter(_pool_size(shape, options), shape.width, generator)

    def table(self, num_symbols: int, generator: torch.Generator) -> Tensor:
        """Return the fixed rows and M different rows of the pool in random order."""
        self._require(num_symbols)
        chosen_M = torch.randperm(len(self.pool), generator=generator)[:num_symbols]
        rows_VD = torch.cat((self.fixed, self.pool[sent(chosen_M, self.pool.device)]))
        return F.normalize(rows_VD, dim=-1) if self._options.final_norm else rows_VD

    def training_symbols(self, num_symbols: int) -> int:
        """Return the pool's size where each sample has its own renaming, else M."""
        self._require(num_symbols)
        return len(self.pool) if self._options.form == "data" else num_symbols

    def renamings(
        self, batch_size: int, num_symbols: int, generator: torch.Generator
    ) -> Tensor | None:
        """Draw an injection of the M names into the pool for each sample, in the data form."""
        if self._options.form == "table":
            return None
        keys_BP = torch.rand(batch_size, len(self.pool), generator=generator)
        return keys_BP.argsort(dim=-1)[:, :num_symbols]

    @classmethod
    def parameter_report(cls, shape: TableShape, options: AlphaRenamingOptions) -> ParameterReport:
        """Count the fixed rows and the pool."""
        num_rows = shape.num_fixed + _pool_size(shape, options)
        return ParameterReport(input=num_rows * shape.width, output=0, stored=0)

    def _require(self, num_symbols: int) -> None:
        if num_symbols > len(self.pool):
            raise UsageError(
                f"{num_symbols} names, but the pool has {len(self.pool)} rows: "
                f"train it with --set pool={num_symbols}"
            )


def _pool_size(shape: TableShape, options: AlphaRenamingOptions) -> int:
    return shape.num_symbols if options.pool is None else options.pool


METHOD = AlphaRenaming
