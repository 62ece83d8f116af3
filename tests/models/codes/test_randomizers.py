import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from symshift.data.errors import UsageError
from symshift.models.codes.randomizers import RANDOMIZERS, hypercube, neighbor

CAPACITY = {"hypercube": lambda dim: 2**dim, "neighbor": lambda dim: 3**dim - 1}
DIGITS = {"hypercube": {-1.0, 1.0}, "neighbor": {-1.0, 0.0, 1.0}}


def stream(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("name", CAPACITY)
@given(dim=st.integers(1, 40), wish=st.integers(1, 40), seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_codes_are_different_and_not_zero(name: str, dim: int, wish: int, seed: int) -> None:
    num = min(wish, CAPACITY[name](dim))

    codes = RANDOMIZERS[name](num, dim, stream(seed))

    assert codes.shape == (num, dim)
    assert len(torch.unique(codes, dim=0)) == num
    assert codes.any(dim=1).all()
    assert set(codes.unique().tolist()) <= DIGITS[name]


def test_codes_that_are_drawn_one_by_one_never_repeat() -> None:
    # 64 of 256 would repeat nearly always.
    for seed in range(20):
        assert len(torch.unique(hypercube(64, 8, stream(seed)), dim=0)) == 64


@pytest.mark.parametrize("name", CAPACITY)
@pytest.mark.parametrize("dim", [1, 2, 5])
def test_whole_capacity_can_be_drawn(name: str, dim: int) -> None:
    num = CAPACITY[name](dim)

    assert len(torch.unique(RANDOMIZERS[name](num, dim, stream()), dim=0)) == num


@pytest.mark.parametrize("name", CAPACITY)
def test_more_codes_than_there_are_is_refused_with_the_numbers(name: str) -> None:
    num = CAPACITY[name](3) + 1

    with pytest.raises(UsageError, match=rf"{num} symbols.*symbol_dim=3 has {num - 1}"):
        RANDOMIZERS[name](num, 3, stream())


# The first of each pair is drawn by shuffling all codes, the second by rejection.
@pytest.mark.parametrize(
    ("draw", "dim", "num", "base"),
    [(hypercube, 2, 2, 2), (hypercube, 3, 2, 2), (neighbor, 2, 3, 3), (neighbor, 2, 2, 3)],
)
def test_ordered_samples_are_uniform_without_repetition(draw, dim, num, base) -> None:
    generator = stream(1)
    codes = torch.stack([draw(num, dim, generator) for _ in range(6000)])
    digits = (codes + 1) / (1 if base == 3 else 2)
    numbers = (digits * base ** torch.arange(dim)).sum(-1).long()
    samples = (numbers * (base**dim) ** torch.arange(num)).sum(-1)
    _, counts = np.unique(samples.numpy(), return_counts=True)
    capacity = base**dim - (base == 3)
    possible = int(np.prod([capacity - drawn for drawn in range(num)]))

    assert len(counts) == possible
    # One test in 10,000 would fail by chance; the stream is fixed.
    assert chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("name", RANDOMIZERS)
@pytest.mark.parametrize(("num", "dim"), [(4, 6), (15, 4)])
def test_codes_come_from_the_generator_alone(name: str, num: int, dim: int) -> None:
    before = torch.get_rng_state()
    draw = RANDOMIZERS[name]

    assert torch.equal(draw(num, dim, stream(3)), draw(num, dim, stream(3)))
    assert not torch.equal(draw(num, dim, stream(3)), draw(num, dim, stream(4)))
    assert torch.equal(before, torch.get_rng_state())
