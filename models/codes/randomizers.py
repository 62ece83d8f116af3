"""Random codes that tell interchangeable symbols apart: the part of a row that carries no meaning.

Source: Interchangeable Token Embeddings (arXiv 2410.17161), where the codes are called normal,
neighboring points and hypercube vertices. Codes of up to 32 dimensions never repeat; beyond
that a repetition among M codes is less likely than M^2 / 2^33. The zero vector is never drawn, for
it has no direction.

Shapes: M codes, S their dimensions.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from symshift.data.errors import UsageError

MAX_UNIQUE_DIM = 32
_DENSE = 4


def normal(num_codes: int, dim: int, generator: torch.Generator) -> Tensor:
    """Return codes_MS drawn from N(0, 1)."""
    return torch.randn(num_codes, dim, generator=generator)


def hypercube(num_codes: int, dim: int, generator: torch.Generator) -> Tensor:
    """Return different codes_MS, uniform over the vertices {-1, 1}^S.

    Raises:
        UsageError: If there are fewer than M vertices.
    """
    return 2.0 * _different_digits(num_codes, dim, 2, None, generator) - 1.0


def neighbor(num_codes: int, dim: int, generator: torch.Generator) -> Tensor:
    """Return different codes_MS, uniform over {-1, 0, 1}^S without the zero vector.

    Raises:
        UsageError: If there are fewer than M such points.
    """
    return _different_digits(num_codes, dim, 3, (3**dim - 1) // 2, generator) - 1.0


RANDOMIZERS: dict[str, Callable[[int, int, torch.Generator], Tensor]] = {
    "hypercube": hypercube,
    "neighbor": neighbor,
    "normal": normal,
}


def _different_digits(
    num: int, dim: int, base: int, banned: int | None, generator: torch.Generator
) -> Tensor:
    """Return num different rows of dim digits, uniform without repetition (MS, float).

    Args:
        num: How many rows.
        dim: Digits in a row.
        base: Digits are 0 to base - 1.
        banned: The number whose digits are never returned.
        generator: The source of randomness.
    """
    capacity = base**dim - (banned is not None)
    if num > capacity:
        raise UsageError(
            f"{num} symbols need {num} different codes, but symbol_dim={dim} has {capacity}: "
            "train with a larger --set symbol_dim"
        )
    if dim <= MAX_UNIQUE_DIM and num * _DENSE > capacity:
        numbers_M = torch.randperm(capacity, generator=generator)[:num]
        if banned is not None:
            numbers_M = numbers_M + (numbers_M >= banned)
        return _digits(numbers_M, dim, base)
    return _rejected(num, dim, base, banned, generator)


def _rejected(
    num: int, dim: int, base: int, banned: int | None, generator: torch.Generator
) -> Tensor:
    """Draw rows one after another and leave out banned and, where they are short, repeated ones."""
    middle = base // 2
    rows_MS = torch.empty(0, dim)
    while len(rows_MS) < num:
        drawn_MS = torch.randint(base, (num, dim), generator=generator).float()
        if banned is not None:
            drawn_MS = drawn_MS[(drawn_MS != middle).any(dim=1)]
        rows_MS = torch.cat((rows_MS, drawn_MS))
        if dim <= MAX_UNIQUE_DIM:
            rows_MS = _first_occurrences(rows_MS)
    return rows_MS[:num]


def _first_occurrences(rows_MS: Tensor) -> Tensor:
    _, group_M = torch.unique(rows_MS, dim=0, return_inverse=True)
    first_M = torch.full((len(rows_MS),), len(rows_MS))
    first_M.scatter_reduce_(0, group_M, torch.arange(len(rows_MS)), "amin")
    return rows_MS[first_M[first_M < len(rows_MS)].sort().values]


def _digits(numbers_M: Tensor, dim: int, base: int) -> Tensor:
    powers_S = base ** torch.arange(dim)
    return (numbers_M[:, None] // powers_S % base).float()
