"""Linear algebra over GF(2), the field of 0 and 1, whose sum is "exclusive or".

Shapes: N rows, K columns, M masks.
"""

import torch
from torch import Tensor

from symshift.models.codes.randomizers import hypercube


def row_reduced(rows_NK: Tensor, num_columns: int) -> tuple[Tensor, int]:
    """Return rows in reduced echelon form and their rank (Gauss and Jordan).

    Args:
        rows_NK: Zeros and ones.
        num_columns: Only the first so many columns are eliminated, and count for the rank.
    """
    rows_NK, rank = rows_NK.bool().clone(), 0
    for column in range(num_columns):
        below = rows_NK[rank:, column].nonzero()
        if not len(below):
            continue
        pivot = rank + int(below[0])
        rows_NK[[rank, pivot]] = rows_NK[[pivot, rank]]
        others_N = rows_NK[:, column].clone()
        others_N[rank] = False
        rows_NK[others_N] ^= rows_NK[rank]
        rank += 1
    return rows_NK.to(torch.uint8), rank


def inverse(matrix_KK: Tensor) -> Tensor:
    """Return the inverse of a matrix.

    Raises:
        ValueError: If there is none.
    """
    size = len(matrix_KK)
    joined = torch.cat((matrix_KK.bool(), torch.eye(size, dtype=torch.bool)), dim=1)
    reduced, rank = row_reduced(joined, size)
    if rank < size:
        raise ValueError(f"the matrix has rank {rank} of {size}: it has no inverse")
    return reduced[:, size:]


def parities(rows_NK: Tensor, masks_MK: Tensor) -> Tensor:
    """Return bits_NM, each the parity of the bits of a row that are in a mask: rows @ masks^T."""
    # Sums of up to 2^24 ones are exact in float32, whose product is much faster than integers'.
    return (rows_NK.float() @ masks_MK.float().T % 2).to(torch.uint8)


def random_invertible(size: int, min_weight: int, generator: torch.Generator) -> Tensor:
    """Return a uniform matrix_KK among the invertible ones with enough ones in rows and columns.

    Args:
        size: K.
        min_weight: The least number of ones in each row and column. With 1 to max(2, K // 4)
            there are such matrices from K = 3 on, and more than 1 draw in 100 is one of them.
        generator: The source of randomness.
    """
    while True:
        matrix_KK = torch.randint(2, (size, size), dtype=torch.uint8, generator=generator)
        weight = min(int(matrix_KK.sum(dim).min()) for dim in (0, 1))
        if weight >= min_weight and row_reduced(matrix_KK, size)[1] == size:
            return matrix_KK


def spanning_masks(num: int, num_bits: int, generator: torch.Generator) -> Tensor:
    """Return uniform masks_MK that tell any two numbers of K bits apart by their parities.

    None of them is 0. They are distinct up to the 2^K - 1 that there are; of more, the same ones
    follow again in the same order.

    Args:
        num: M, at least K.
        num_bits: K.
        generator: The source of randomness.
    """
    assert num >= num_bits
    num_distinct = min(num, 2**num_bits - 1)
    while True:
        points_MK = (hypercube(num_distinct + 1, num_bits, generator) + 1) / 2
        masks_MK = points_MK[points_MK.any(dim=1)][:num_distinct].to(torch.uint8)
        if row_reduced(masks_MK, num_bits)[1] == num_bits:
            return masks_MK[torch.arange(num) % num_distinct]
