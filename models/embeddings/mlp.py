"""MLP: rows are computed from a token's number by a small network.

Leviathan (arXiv 2601.22040) compares with both forms, with the shapes not given: the choices are
ours. A flat one is a continuous function of the number i alone, through the fixed features
sin(2^j pi x) and cos(2^j pi x) of x = (i + 1/2) / V, for each j with 2^j < V; cos(pi x) alone tells
all numbers apart. A factored one starts from digits and their trained vectors, as `leviathan` does,
and has a network in place of its splines. Then, for both,

    row = GELU(input W_1 + b_1) W_2 + b_2

What answers is a dense table of its own. First values are such that rows have about length 1.

Shapes: V rows, N inputs of the network, H its hidden width, D width.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from symshift.data.errors import UsageError
from symshift.data.options import option, require_sizes
from symshift.models.codes.codebooks import MAX_DIGITS, Codebooks, codebooks_size
from symshift.models.embedding import (
    ParameterReport,
    TableShape,
    UntiedMethod,
    UntiedOptions,
    head_size,
    normal_parameter,
    require_rows,
)

DIGITS = 2
SEED_DIM = 16
GELU_SQUARE = 0.425
"""The mean of GELU(x)^2 for x from N(0, 1)."""


@dataclass(frozen=True, kw_only=True)
class MlpOptions(UntiedOptions):
    """Options of the network."""

    form: str = option(
        "factored", "from the digits of a token's number, or from it alone", ("factored", "flat")
    )
    hidden_dim: int = option(64, "hidden width of the network")
    digits: int | None = option(None, f"digits of a number, if factored (none: {DIGITS})")
    seed_dim: int | None = option(None, f"width of the digits' vectors (none: {SEED_DIM})")

    def __post_init__(self) -> None:
        require_sizes(self, "digits", most=MAX_DIGITS)
        require_sizes(self, "hidden_dim", "seed_dim")
        for name in ("digits", "seed_dim"):
            value = getattr(self, name)
            if value is not None and self.form == "flat":
                raise UsageError(f"{name}={value} needs form=factored")

    @property
    def num_digits(self) -> int:
        """The digits of a number in the factored form."""
        return DIGITS if self.digits is None else self.digits

    def num_inputs(self, num_rows: int) -> int:
        """The network's inputs for V rows."""
        if self.form == "flat":
            return 2 * max(1, (num_rows - 1).bit_length())
        return SEED_DIM if self.seed_dim is None else self.seed_dim


class Mlp(UntiedMethod):
    """Digits or features of a token's number -> hidden layer -> row."""

    Options = MlpOptions

    def __init__(self, shape: TableShape, options: MlpOptions, generator: torch.Generator) -> None:
        super().__init__(shape, options, generator)
        self._shape = shape
        num_inputs, hidden = options.num_inputs(shape.num_rows), options.hidden_dim
        self.codebooks: Codebooks | None = None
        if options.form == "factored":
            digits = options.num_digits
            self.codebooks = Codebooks(shape.num_rows, digits, num_inputs, digits**-0.5, generator)
        # The square of the features' length is half of their number, that of a seed its width.
        square = num_inputs if self.codebooks else num_inputs / 2
        self.inner = normal_parameter(num_inputs, hidden, generator, square**-0.5)
        self.inner_bias = nn.Parameter(torch.zeros(hidden))
        std = (GELU_SQUARE * hidden * shape.width) ** -0.5
        self.outer = normal_parameter(hidden, shape.width, generator, std)
        self.outer_bias = nn.Parameter(torch.zeros(shape.width))

    def table(self, num_symbols: int, generator: torch.Generator) -> Tensor:
        """Return the rows of the first M names, computed in float32."""
        require_rows(num_symbols, self._shape.num_symbols)
        num_rows = self._shape.num_fixed + num_symbols
        with torch.autocast(self.inner.device.type, enabled=False):
            if self.codebooks is None:
                inputs_VN = index_features(self._shape.num_rows, self.inner.device)[:num_rows]
            else:
                inputs_VN = self.codebooks.seeds(num_rows)
            hidden_VH = F.gelu(inputs_VN @ self.inner + self.inner_bias)
            return hidden_VH @ self.outer + self.outer_bias

    @classmethod
    def parameter_report(cls, shape: TableShape, options: MlpOptions) -> ParameterReport:
        """Count codebooks, if there are any, the network and the head."""
        num_inputs, hidden = options.num_inputs(shape.num_rows), options.hidden_dim
        size = hidden * (num_inputs + 1) + shape.width * (hidden + 1)
        if options.form == "factored":
            size += codebooks_size(shape.num_rows, options.num_digits, num_inputs)
        return ParameterReport(input=size, output=head_size(shape, options), stored=0)


def index_features(num_rows: int, device: torch.device | None = None) -> Tensor:
    """Return the fixed features of the numbers below V, sines and cosines of rising frequency."""
    num_octaves = max(1, (num_rows - 1).bit_length())
    places_V = (torch.arange(num_rows, device=device) + 0.5) / num_rows
    angles = math.pi * places_V[:, None] * 2 ** torch.arange(num_octaves, device=device)
    return torch.cat((angles.sin(), angles.cos()), dim=-1)


METHOD = Mlp
