"""Fixed codes of token numbers as rows: what the methods with such codes share.

Shapes: V rows, D width, K bits, C values of a code.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from symshift.data.errors import UsageError
from symshift.data.options import option
from symshift.models.codes.randomizers import MAX_UNIQUE_DIM
from symshift.models.embedding import (
    ParameterReport,
    TableShape,
    UntiedMethod,
    UntiedOptions,
    head_size,
    require_rows,
)

MAX_BITS = MAX_UNIQUE_DIM


@dataclass(frozen=True, kw_only=True)
class CodeOptions(UntiedOptions):
    """Options of a code."""

    code_bits: int | None = option(
        None, "bits K of a token's number (none: as few as tell the tokens apart)"
    )


@dataclass(frozen=True, kw_only=True)
class DrawnCodeOptions(CodeOptions):
    """Options of a code that is drawn, apart from the run, so that runs can share it."""

    code_seed: int = option(12345, "seed of the code; the training seed does not change it")


class CodeMethod(UntiedMethod):
    """Base of the methods whose rows are codes that are never trained and are read as they are."""

    codes: Tensor
    """The codes_VC, C at most D."""
    input_scale = 1.0

    def __init__(
        self,
        shape: TableShape,
        options: CodeOptions,
        generator: torch.Generator,
        codes_VC: Tensor,
        code_scale: float = 1.0,
    ) -> None:
        super().__init__(shape, options, generator)
        self._num_fixed = shape.num_fixed
        self._width = shape.width
        self._code_scale = code_scale
        self.register_buffer("codes", codes_VC)

    def table(self, num_symbols: int, generator: torch.Generator) -> Tensor:
        """Return the codes of the fixed tokens and the first M names, tiled to D values."""
        require_rows(num_symbols, len(self.codes) - self._num_fixed)
        codes_VC = self.codes[: self._num_fixed + num_symbols]
        return tiled(codes_VC.float(), self._width) * self._code_scale


def needed_bits(shape: TableShape) -> int:
    """Return the least K with 2^K >= V, and at least 1."""
    return max(1, (shape.num_rows - 1).bit_length())


def counted_bits(shape: TableShape, options: CodeOptions) -> int:
    """Return K for an account: as many bits as asked for, or as needed where these are too few."""
    return max(options.code_bits or 0, needed_bits(shape))


def checked_bits(shape: TableShape, options: CodeOptions) -> int:
    """Return K.

    Raises:
        UsageError: If K bits do not tell the tokens apart, or do not fit in a row.
    """
    needed = needed_bits(shape)
    num_bits = needed if options.code_bits is None else options.code_bits
    if num_bits < needed:
        raise UsageError(
            f"code_bits={num_bits}: {shape.num_rows} tokens need codes of {needed} bits: "
            f"set code_bits={needed} or more"
        )
    if num_bits > MAX_BITS:
        raise UsageError(f"code_bits={num_bits}: set code_bits={MAX_BITS} or less")
    if num_bits > shape.width:
        raise UsageError(
            f"width={shape.width} does not hold codes of {num_bits} bits: "
            f"set width={num_bits} or more"
        )
    return num_bits


def binary_codes(num_rows: int, num_bits: int) -> Tensor:
    """Return the bits of the numbers 0 to V - 1 as codes_VK, the lowest bit first."""
    return (torch.arange(num_rows)[:, None] >> torch.arange(num_bits) & 1).to(torch.uint8)


def tiled(codes_VC: Tensor, width: int) -> Tensor:
    """Return rows_VD: each code again and again, cut at D values, so value j is j mod C of it."""
    copies = -(-width // codes_VC.shape[1])
    return codes_VC.repeat(1, copies)[:, :width]


def binary_norms(shape: TableShape, num_bits: int) -> Tensor:
    """Return the lengths_V of the rows of `binary-code`, in float64."""
    copies_K = torch.arange(shape.width).remainder(num_bits).bincount(minlength=num_bits)
    return (binary_codes(shape.num_rows, num_bits).double() @ copies_K.double()).sqrt()


def code_report(shape: TableShape, options: CodeOptions, stored: int) -> ParameterReport:
    """Return the account of a code: nothing that reads is trained."""
    return ParameterReport(input=0, output=head_size(shape, options), stored=stored)
