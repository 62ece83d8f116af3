"""Hadamard code: signs that are parities of random subsets of a token's bits, never trained.

A control of ours for `binary-code`, which its paper (Bochkov, arXiv 2610.04002) does not have: rows
that are binary and fixed too, but of full rank, as no linear map of K bits is. With D distinct
random masks m_j among 1 to 2^K - 1

    row_j(t) = s (-1)^(number of ones in t and m_j)

a selection of columns of a Hadamard matrix. Masks whose parities do not tell all K bits are
drawn again; where there are fewer than D masks, all of them follow again and again. All rows are as
long as the mean row of `binary-code`, or, with `norm_match=false`, s = 1.
"""

from dataclasses import dataclass

import torch

from symshift.data.options import option
from symshift.models.codes.fixed import (
    CodeMethod,
    DrawnCodeOptions,
    binary_codes,
    binary_norms,
    checked_bits,
    code_report,
)
from symshift.models.codes.gf2 import parities, spanning_masks
from symshift.models.embedding import ParameterReport, TableShape
from symshift.models.streams import stream


@dataclass(frozen=True, kw_only=True)
class HadamardCodeOptions(DrawnCodeOptions):
    """Options of the Hadamard code."""

    norm_match: bool = option(True, "rows as long as the mean row of the binary code")


class HadamardCode(CodeMethod):
    """Codes_VD of -1 and 1: a row is its code, scaled."""

    Options = HadamardCodeOptions

    def __init__(
        self, shape: TableShape, options: HadamardCodeOptions, generator: torch.Generator
    ) -> None:
        num_bits = checked_bits(shape, options)
        own = stream("hadamard-code", options.code_seed)
        masks_DK = spanning_masks(shape.width, num_bits, own)
        odd_VD = parities(binary_codes(shape.num_rows, num_bits), masks_DK).to(torch.int8)
        scale = 1.0
        if options.norm_match:
            scale = binary_norms(shape, num_bits).mean().item() / shape.width**0.5
        super().__init__(shape, options, generator, 1 - 2 * odd_VD, scale)

    @classmethod
    def parameter_report(cls, shape: TableShape, options: HadamardCodeOptions) -> ParameterReport:
        """Count the head, and D stored signs for each token."""
        return code_report(shape, options, shape.num_rows * shape.width)


METHOD = HadamardCode
