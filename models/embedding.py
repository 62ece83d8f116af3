"""What an embedding method is: the rows that read tokens and the rows that answer with them.

A method is one file in models/embeddings/ with a class METHOD; its file name is its name, its
docstring's first line is what users read, and nothing else is edited.

Shapes: V rows (fixed tokens, then symbols), D width, B batch, M symbols.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from symshift.data.errors import UsageError
from symshift.data.options import option
from symshift.data.plugins import plugin

LOSSES = ("adacos", "cross-entropy")
OUTPUTS = ("dense", "generated")
MAX_NAMES = 1 << 22


@dataclass(frozen=True, kw_only=True)
class TableShape:
    """The sizes that a method is built for."""

    num_fixed: int
    """Rows of tokens that are not symbols."""
    num_symbols: int
    """Names that the model has rows for, where rows belong to names."""
    width: int
    """Width of a row."""
    trained: range | None = None
    """The places of the symbol rows whose names the training data may use; None for all."""

    @property
    def num_rows(self) -> int:
        """Rows of a table for all names."""
        return self.num_fixed + self.num_symbols

    @property
    def unseen(self) -> Tensor:
        """The rows of names that training never meets, as numbers."""
        seen = range(self.num_symbols) if self.trained is None else self.trained
        rows = (self.num_fixed + at for at in range(self.num_symbols) if at not in seen)
        return torch.tensor([*rows], dtype=torch.long)

    @property
    def seen(self) -> Tensor:
        """The rows of the other names, as numbers."""
        seen = range(self.num_symbols) if self.trained is None else self.trained
        rows = (self.num_fixed + at for at in range(self.num_symbols) if at in seen)
        return torch.tensor([*rows], dtype=torch.long)


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
class UntiedOptions:
    """Which rows answer, for methods whose rows cannot be learned as labels."""

    output: str = option(
        "dense",
        "rows that answer: a trained table of their own, or those that read (a deviation)",
        choices=OUTPUTS,
    )


class TokenTable(NamedTuple):
    """A table that has a row of its own for each token."""

    rows: nn.Parameter
    """Fixed tokens, then symbols."""
    std: float
    """The standard deviation of a row's first values, which are normal with mean 0."""


@dataclass(frozen=True, kw_only=True)
class ParameterReport:
    """Numbers of values, apart by what they are for."""

    input: int
    """Trained values that read tokens (and answer, where the two are tied)."""
    output: int
    """Trained values that only answer."""
    stored: int
    """Values that are kept and not trained."""


class EmbeddingMethod(nn.Module, ABC):
    """Base of the methods: two duties, `table` and `parameter_report`, and hooks.

    A hook does nothing unless it is overridden.

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
    output: str = "tied"
    """Which rows answer: "tied" to those that read, or one of OUTPUTS."""
    input_scale: float | None = None
    """What rows are multiplied by when they are read; None for the square root of their width."""

    @abstractmethod
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

    def token_tables(self) -> Mapping[str, TokenTable]:
        """Return the learned tables with a row for each token, by the name of their parameter.

        `predict --redraw-unseen` gives fresh values to rows of them that were never trained.
        """
        return {}

    def schedule_step(self, step: int, steps: int) -> int:
        """Return the step whose learning rate the method's own values have at a step.

        Args:
            step: The step, counted from 1.
            steps: All steps of the training.
        """
        return step

    def after_step(
        self, step: int, steps: int, optimizer: torch.optim.Optimizer, generator: torch.Generator
    ) -> None:
        """Change the method after a training step (counted from 1), such as to forget rows."""

    def phases(self, steps: int) -> Mapping[str, int]:
        """Return the steps to evaluate at, by name, where the last step alone may mislead."""
        return {}

    def phase(self, step: int, steps: int) -> str:
        """Return where in its own cycle a method is behind a step, as `phases` names it.

        Returns:
            A text such as "reset+10"; "" for a method without a cycle.
        """
        return ""

    @classmethod
    @abstractmethod
    def parameter_report(cls, shape: TableShape, options: Any) -> ParameterReport:
        """Count the values of a method without building it, so that it can be asked at any size."""


class UntiedMethod(EmbeddingMethod):
    """Base of the methods that make a row from a token's number.

    What answers is a trained table of its own ("dense", as published), or the rows that read,
    scaled to length 1 ("generated", a deviation: an untrained row of a dense table cannot name
    a symbol that was never a label).
    """

    def __init__(
        self, shape: TableShape, options: UntiedOptions, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.output = options.output
        self.head: nn.Parameter | None = None
        if options.output == "dense":
            self.head = normal_parameter(shape.num_rows, shape.width, generator, shape.width**-0.5)

    def answers(self, table_VD: Tensor) -> Tensor:
        """Return the head's rows, or those that read."""
        if self.head is None:
            return F.normalize(table_VD, dim=-1)
        return self.head[: len(table_VD)]

    def token_tables(self) -> Mapping[str, TokenTable]:
        """Return the head, if there is one."""
        if self.head is None:
            return {}
        return {"head": TokenTable(self.head, self.head.shape[1] ** -0.5)}


def head_size(shape: TableShape, options: UntiedOptions) -> int:
    """Return the values of the head that an UntiedMethod trains."""
    return shape.num_rows * shape.width if options.output == "dense" else 0


def require_rows(num_symbols: int, known: int) -> None:
    """Raise UsageError if there are more symbols than rows that belong to names."""
    if num_symbols > known:
        raise UsageError(
            f"{num_symbols} names, but the model has rows for {known}: "
            f"train it with --set vocabulary={num_symbols}"
        )


def normal_parameter(
    num_rows: int, width: int, generator: torch.Generator, std: float = 1.0
) -> nn.Parameter:
    """Return trainable rows drawn from N(0, std^2)."""
    return nn.Parameter(torch.randn(num_rows, width, generator=generator) * std)


def load_method(name: str) -> type[EmbeddingMethod]:
    """Return the embedding method with this name.

    Raises:
        UsageError: If there is none; the nearest name is offered.
    """
    return cast(type[EmbeddingMethod], plugin("models.embeddings", "method", name).METHOD)
