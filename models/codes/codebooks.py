"""The digits of a token's number, and the vectors that belong to them.

Leviathan (arXiv 2601.22040) writes the number of a token in k digits, the most significant one
first, and adds up a trained vector for each. Tokens whose numbers share a digit share its vector.

Shapes: V rows, K digits of a number, S width of a vector.
"""

from bisect import bisect_left

import torch
from torch import Tensor, nn

from symshift.data.errors import UsageError

MAX_DIGITS = 64


class Codebooks(nn.Module):
    """A vector for each value of each digit: the seed of a token is the sum of its digits' ones."""

    def __init__(
        self, num_rows: int, num_digits: int, width: int, std: float, generator: torch.Generator
    ) -> None:
        super().__init__()
        base = digit_base(num_rows, num_digits)
        drawn_KBS = torch.randn(num_digits, base, width, generator=generator)
        self.vectors = nn.Parameter(drawn_KBS * std)

    def seeds(self, num_rows: int) -> Tensor:
        """Return the seeds_VS of the first V tokens."""
        num_digits, base, _ = self.vectors.shape
        places_K = torch.arange(num_digits, device=self.vectors.device)
        numbers_V = torch.arange(num_rows, device=self.vectors.device)
        digits_VK = numbers_V[:, None] // base ** places_K.flip(0) % base
        return self.vectors[places_K, digits_VK].sum(dim=1)


def digit_base(num_rows: int, num_digits: int) -> int:
    """Return the least base in which num_digits digits can write the numbers below num_rows.

    Raises:
        UsageError: If there is no digit.
    """
    if num_digits < 1:
        raise UsageError(f"digits={num_digits}: a number has at least 1")
    return 1 + bisect_left(range(1, num_rows), num_rows, key=lambda base: base**num_digits)


def codebooks_size(num_rows: int, num_digits: int, width: int) -> int:
    """Return the number of values in the codebooks."""
    return num_digits * digit_base(num_rows, num_digits) * width
