"""What an embedding method is: the rows that read tokens and the rows that answer with them.

A method is one file in models/embeddings/ with a class METHOD; its file name is its name, its
docstring's first line is what users read, and nothing else is edited.

Shapes: V rows (fixed tokens, then symbols), D width, B batch, M symbols.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn

from symshift.data.errors import UsageError
from symshift.data.options import option
from symshift.data.plugins import plugin

LOSSES = ("adacos", "cross-entropy")


@dataclass(frozen=True, kw_only=True)
class TableShape:
    """The sizes that a method is built for."""

    num_fixed: int
    """Rows of tokens that are not symbols."""
    num_symbols: int
    """Names that the model has rows for, where rows belong to names."""
    width: int
    """Width of a row."""


@dataclass(frozen=True, kw_only=True)
class HeadOptions:
    """How answers are scored and trained, for methods that leave it open."""

    feature_norm: bool = option(
        True, "scale the last hidden state to length 1, so scores are cosines"
    )
    loss: str = option("adacos", "the training loss", choices=LOSSES)

    def __post_init__(self) -> None:
        if self.loss == "adacos" and not self.feature_norm:
            raise UsageError(
                "loss=adacos needs cosines: set feature_norm=true or loss=cross-entropy"
            )


@dataclass(frozen=True, kw_only=True)
class ParameterReport:
    """Numbers of values, apart by what they are for."""

    input: int
    """Trained values that read tokens (and answer, where the two are tied)."""
    output: int
    """Trained values that only answer."""
    stored: int
    """Values that are kept and not trained."""


class EmbeddingMethod(nn.Module):
    """Base of the methods: one duty, `table`, and hooks that do nothing unless overridden.

    A method is built as `METHOD(shape, options, generator)` and draws its first values from the
    generator alone. It holds no table: each caller asks for one and hands it on, so the same rows
    read and answer.
    """

    Options: ClassVar[type[Any]]
    """Frozen dataclass of the method's options."""
    named_rows: ClassVar[bool] = True
    """Whether a symbol's row belongs to its name. If not, rows are drawn for as many symbols as
    there are, and any name may stand for any row."""
    feature_norm: bool = False
    """Whether hidden states are scaled to length 1 before they are compared with rows."""
    loss: str = "cross-entropy"
    """One of LOSSES."""

    def table(self, num_symbols: int, generator: torch.Generator) -> Tensor:
        """Return the rows that read tokens.

        Args:
            num_symbols: How many symbol rows follow the fixed ones (M).
            generator: A CPU generator: the only source of randomness.

        Returns:
            table_VD with V = num_fixed + M.

        Raises:
            UsageError: If there can be no M rows; the message gives the limit and the remedy.
        """
        raise NotImplementedError

    def answers(self, table_VD: Tensor) -> Tensor:
        """Return the rows that answer, in the order of the table: itself, where they are tied."""
        return table_VD

    def training_symbols(self, num_symbols: int) -> int:
        """Return how many symbol rows a training step's table has, for M names in the data."""
        return num_symbols

    def renamings(
        self, batch_size: int, num_symbols: int, generator: torch.Generator
    ) -> Tensor | None:
        """Draw a renaming for each sample of a training batch, or None for no renaming.

        Returns:
            rows_BM: which of the table's symbol rows stands for each of the M names.
        """
        return None

    def after_step(
        self, step: int, optimizer: torch.optim.Optimizer, generator: torch.Generator
    ) -> None:
        """Change the method after a training step (counted from 1), such as to forget rows."""

    def parameter_report(self) -> ParameterReport:
        """Count the method's values; all trained ones read tokens unless overridden."""
        trained = sum(p.numel() for p in self.parameters() if p.requires_grad)
        frozen = sum(p.numel() for p in self.parameters() if not p.requires_grad)
        return ParameterReport(
            input=trained, output=0, stored=frozen + sum(b.numel() for b in self.buffers())
        )


def normal_parameter(num_rows: int, width: int, generator: torch.Generator) -> nn.Parameter:
    """Return trainable rows drawn from N(0, 1)."""
    return nn.Parameter(torch.randn(num_rows, width, generator=generator))


def load_method(name: str) -> type[EmbeddingMethod]:
    """Return the embedding method with this name.

    Raises:
        UsageError: If there is none; the nearest name is offered.
    """
    return cast(type[EmbeddingMethod], plugin("models.embeddings", "method", name).METHOD)
