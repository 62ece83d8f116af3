"""Algebra over GF(2) against SymPy, and draws against lists of all there is."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from sympy import GF
from sympy.polys.matrices import DomainMatrix

from symshift.models.codes.gf2 import (
    inverse,
    parities,
    random_invertible,
    row_reduced,
    spanning_masks,
)


def stream(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def bit_rows(max_rows: int = 7, max_columns: int = 7):
    return st.integers(1, max_columns).flatmap(
        lambda size: st.lists(
            st.lists(st.integers(0, 1), min_size=size, max_size=size),
            min_size=1,
            max_size=max_rows,
        )
    )


def sympy_rank(rows: list[list[int]]) -> int:
    field = GF(2)
    return DomainMatrix([[field(x) for x in row] for row in rows], np.shape(rows), field).rank()


@given(rows=bit_rows())
@settings(max_examples=60, deadline=None)
def test_rank_and_reduced_rows_are_those_of_sympy(rows: list[list[int]]) -> None:
    field = GF(2)
    oracle, pivots = DomainMatrix(
        [[field(x) for x in row] for row in rows], np.shape(rows), field
    ).rref()

    reduced, rank = row_reduced(torch.tensor(rows), len(rows[0]))

    assert rank == len(pivots)
    assert reduced.tolist() == [[int(x) % 2 for x in row] for row in oracle.to_list()]


@given(size=st.integers(1, 20), seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_inverse_undoes_its_matrix(size: int, seed: int) -> None:
    matrix = random_invertible(size, 1, stream(seed))

    product = matrix.numpy().astype(int) @ inverse(matrix).numpy().astype(int) % 2

    assert (product == np.eye(size)).all()


def test_matrix_without_inverse_is_refused_with_its_rank() -> None:
    with pytest.raises(ValueError, match="rank 2 of 3"):
        inverse(torch.tensor([[1, 1, 0], [0, 1, 1], [1, 0, 1]]))


@given(
    numbers=st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=5),
    masks=st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=5),
)
@settings(max_examples=60, deadline=None)
def test_parities_are_those_of_whole_numbers(numbers: list[int], masks: list[int]) -> None:
    bits = [
        torch.tensor([[n >> j & 1 for j in range(32)] for n in some]) for some in (numbers, masks)
    ]

    assert parities(*bits).tolist() == [[(n & m).bit_count() % 2 for m in masks] for n in numbers]


@pytest.mark.parametrize(("size", "min_weight"), [(2, 1), (3, 2)])
def test_invertible_matrices_are_uniform_over_all_there_are(size: int, min_weight: int) -> None:
    everything = [np.reshape(bits, (size, size)) for bits in product((0, 1), repeat=size**2)]
    allowed = {
        tuple(matrix.flatten())
        for matrix in everything
        if sympy_rank(matrix.tolist()) == size
        and all(matrix.sum(axis).min() >= min_weight for axis in (0, 1))
    }
    generator = stream(1)
    drawn = [
        tuple(random_invertible(size, min_weight, generator).flatten().tolist())
        for _ in range(1000)
    ]

    assert set(drawn) == allowed
    # One test in 10,000 would fail by chance; the stream is fixed.
    assert chisquare([drawn.count(one) for one in sorted(allowed)]).pvalue > 1e-4


@given(bits=st.integers(1, 9), more=st.integers(0, 60), seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_masks_are_distinct_as_far_as_possible_and_tell_all_numbers_apart(
    bits: int, more: int, seed: int
) -> None:
    masks = spanning_masks(bits + more, bits, stream(seed))
    numbers = torch.tensor([*product((0, 1), repeat=bits)])
    num_distinct = min(bits + more, 2**bits - 1)

    assert masks.shape == (bits + more, bits)
    assert masks.any(dim=1).all()
    assert len(masks[:num_distinct].unique(dim=0)) == num_distinct
    assert torch.equal(masks[num_distinct:], masks[: len(masks) - num_distinct])
    assert len(parities(numbers, masks).unique(dim=0)) == 2**bits


def test_masks_are_uniform_without_repetition() -> None:
    generator = stream(1)
    drawn = [tuple(spanning_masks(2, 2, generator).flatten().tolist()) for _ in range(3000)]

    assert len(set(drawn)) == 6
    # One test in 10,000 would fail by chance; the stream is fixed.
    assert chisquare([drawn.count(one) for one in set(drawn)]).pvalue > 1e-4


def test_draws_come_from_the_generator_alone() -> None:
    before = torch.get_rng_state()

    for draw, sizes in ((random_invertible, (6, 2)), (spanning_masks, (9, 6))):
        assert torch.equal(draw(*sizes, stream(3)), draw(*sizes, stream(3)))
        assert not torch.equal(draw(*sizes, stream(3)), draw(*sizes, stream(4)))
    assert torch.equal(before, torch.get_rng_state())
