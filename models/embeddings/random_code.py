"""Random code: normal values that are never trained, as long as the rows of the binary code.

A control of ours for `binary-code`, which its paper (Bochkov, arXiv 2610.04002) does not have: it
tells what comes of rows that are fixed from what comes of their being binary. With g(t) drawn from
N(0, I) and b(t) the row of `binary-code`

    row(t) = g(t) |b(t)| / |g(t)|

or, with `norms=mean`, the mean length of all b in place of |b(t)|. `rank=code` draws K values for
each token and repeats them to the width as the binary code does: so its rank is K too.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from symshift.data.options import option
from symshift.models.codes.fixed import (
    CodeMethod,
    DrawnCodeOptions,
    binary_norms,
    checked_bits,
    code_report,
    counted_bits,
    tiled,
)
from symshift.models.embedding import ParameterReport, TableShape
from symshift.models.streams import stream


@dataclass(frozen=True, kw_only=True)
class RandomCodeOptions(DrawnCodeOptions):
    """Options of the random code."""

    norms: str = option(
        "each", "length of a row: its binary code's, or the mean of all", choices=("each", "mean")
    )
    rank: str = option(
        "full", "values that are drawn: all of a row, or K that repeat", choices=("full", "code")
    )


class RandomCode(CodeMethod):
    """Codes_VC of normal values, with C = D or K: a row is its code, tiled."""

    Options = RandomCodeOptions

    def __init__(
        self, shape: TableShape, options: RandomCodeOptions, generator: torch.Generator
    ) -> None:
        num_bits = checked_bits(shape, options)
        size = _code_size(shape, options, num_bits)
        codes_VC = torch.randn(
            shape.num_rows, size, generator=stream("random-code", options.code_seed)
        )
        codes_VC *= _scales(codes_VC, shape, options, num_bits)
        super().__init__(shape, options, generator, codes_VC)

    @classmethod
    def parameter_report(cls, shape: TableShape, options: RandomCodeOptions) -> ParameterReport:
        """Count the head, and the stored values of each token: D or K."""
        size = _code_size(shape, options, counted_bits(shape, options))
        return code_report(shape, options, shape.num_rows * size)


def _code_size(shape: TableShape, options: RandomCodeOptions, num_bits: int) -> int:
    return shape.width if options.rank == "full" else num_bits


def _scales(
    codes_VC: Tensor, shape: TableShape, options: RandomCodeOptions, num_bits: int
) -> Tensor:
    """Return the factors_V1 that make rows as long as the options ask for."""
    wanted_V = binary_norms(shape, num_bits)
    if options.norms == "mean":
        wanted_V = wanted_V.mean().expand(shape.num_rows)
    drawn_V = torch.linalg.vector_norm(tiled(codes_VC, shape.width).double(), dim=-1)
    scales_V1: Tensor = (wanted_V / drawn_V)[:, None].float()
    return scales_V1


METHOD = RandomCode
