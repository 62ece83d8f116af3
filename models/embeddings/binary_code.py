"""Binary code: the bits of a token's number, repeated to the row's width and never trained.

Source: Bochkov (arXiv 2610.04002, and at a smaller size 2605.09751). With K = ceil(log2 V) bits

    c_j(t) = floor(t / 2^j) mod 2,    row(t) = [c(t), c(t), ...]

of values 0 and 1, read at scale 1, with no projection and no norm between, and answered by a
trained table of its own. Where K does not divide the width the last copy is cut: our choice, as
the published widths are multiples of 16. The row of padding, number 0, is zero.
"""

import torch

from symshift.models.codes.fixed import (
    CodeMethod,
    CodeOptions,
    binary_codes,
    checked_bits,
    code_report,
    counted_bits,
)
from symshift.models.embedding import ParameterReport, TableShape


class BinaryCode(CodeMethod):
    """Codes c_VK: a row is c, tiled."""

    Options = CodeOptions

    def __init__(self, shape: TableShape, options: CodeOptions, generator: torch.Generator) -> None:
        codes_VK = binary_codes(shape.num_rows, checked_bits(shape, options))
        super().__init__(shape, options, generator, codes_VK)

    @classmethod
    def parameter_report(cls, shape: TableShape, options: CodeOptions) -> ParameterReport:
        """Count the head, and K stored bits for each token."""
        return code_report(shape, options, shape.num_rows * counted_bits(shape, options))


METHOD = BinaryCode
