"""GF(2) code: the binary code after a random invertible map of its bits.

Source: Bochkov (arXiv 2610.04002). With c(t) the bits of `binary-code`, lowest first,

    row(t) = [A c(t) mod 2, A c(t) mod 2, ...]

where A is a random invertible K x K matrix over GF(2), and no shift is added. The paper draws A
with seed 12345 and at least 4 ones in each row and column at K = 16. There are no or hardly any
such matrices for small K, so the least number here is K // 4, but not below 2, and 1 for K up to
2: the same at K = 16. The published A is not known, and this one is another. It is stored with
the run as `matrix`. All else is as in `binary-code`.
"""

import torch
from torch import Tensor

from symshift.models.codes.fixed import (
    CodeMethod,
    DrawnCodeOptions,
    binary_codes,
    checked_bits,
    code_report,
    counted_bits,
)
from symshift.models.codes.gf2 import parities, random_invertible
from symshift.models.embedding import ParameterReport, TableShape
from symshift.models.streams import stream


class Gf2Code(CodeMethod):
    """Codes (A c)_VK and the matrix A_KK: a row is A c, tiled."""

    Options = DrawnCodeOptions
    matrix: Tensor
    """A."""

    def __init__(
        self, shape: TableShape, options: DrawnCodeOptions, generator: torch.Generator
    ) -> None:
        num_bits = checked_bits(shape, options)
        own = stream("gf2-code", options.code_seed)
        matrix_KK = random_invertible(num_bits, min_weight(num_bits), own)
        codes_VK = parities(binary_codes(shape.num_rows, num_bits), matrix_KK)
        super().__init__(shape, options, generator, codes_VK)
        self.register_buffer("matrix", matrix_KK)

    @classmethod
    def parameter_report(cls, shape: TableShape, options: DrawnCodeOptions) -> ParameterReport:
        """Count the head, K stored bits for each token, and the stored matrix."""
        num_bits = counted_bits(shape, options)
        return code_report(shape, options, (shape.num_rows + num_bits) * num_bits)


def min_weight(num_bits: int) -> int:
    """Return the least number of ones in each row and column of A."""
    return max(2, num_bits // 4) if num_bits > 2 else 1


METHOD = Gf2Code
