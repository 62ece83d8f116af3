import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symshift.data.seeds import Draws, numpy_rng, seed_from


def test_the_stream_of_a_path_never_changes():
    draws = Draws("golden", 1, ("x", 2))

    assert [draws.below(1000) for _ in range(5)] == [556, 965, 49, 103, 970]
    assert seed_from("golden") == 0x6B520E3C40AC3B19251E8E1476FAC6F6


@given(st.lists(st.text(max_size=3), max_size=3), st.lists(st.text(max_size=3), max_size=3))
def test_different_paths_have_different_seeds(one, other):
    assert (seed_from(*one) == seed_from(*other)) == (one == other)


def test_kinds_and_nesting_are_told_apart():
    paths: list[tuple] = [
        ("1",),
        (1,),
        ("1", ""),
        (("1",),),
        ("a", "b"),
        ("ab",),
        (("a", "b"),),
        (12,),
        (1, 2),
    ]

    assert len({seed_from(*path) for path in paths}) == len(paths)


def test_neighbouring_seeds_share_nothing():
    one = [Draws("data", 42, index).below(2**32) for index in range(200)]
    other = [Draws("data", 43, index).below(2**32) for index in range(200)]

    assert not set(one) & set(other)


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 1000, 2**32, 2**32 + 1, 10**30])
def test_below_stays_below_and_reaches_both_halves(bound):
    draws = Draws("below", bound)
    values = [draws.below(bound) for _ in range(200)]

    assert all(0 <= value < bound for value in values)
    if bound > 1:
        assert min(values) < bound / 2 <= max(values)


def test_below_is_uniform():
    draws = Draws("uniform")
    counts = Counter(draws.below(6) for _ in range(60_000))
    chi_square = sum((counts[face] - 10_000) ** 2 / 10_000 for face in range(6))

    assert chi_square < 25.7  # 5 degrees of freedom, error rate 1e-4


def test_shuffles_and_samples_are_uniform():
    orders = Counter()
    for index in range(12_000):
        items = list("abc")
        Draws("shuffle", index).shuffle(items)
        orders["".join(items)] += 1
        orders[tuple(Draws("sample", index).sample(3, 2))] += 1

    for group in (
        [k for k in orders if isinstance(k, str)],
        [k for k in orders if isinstance(k, tuple)],
    ):
        assert len(group) == 6
        assert sum((orders[k] - 2_000) ** 2 / 2_000 for k in group) < 25.7


@given(st.integers(0, 60), st.integers(0, 60))
def test_a_sample_never_repeats(count, num):
    if num > count:
        with pytest.raises(ValueError, match="distinct"):
            Draws("s").sample(count, num)
        return
    sample = Draws("s", count, num).sample(count, num)

    assert len(set(sample)) == num
    assert all(0 <= value < count for value in sample)


def test_uniform_floats_have_the_right_mean():
    draws = Draws("floats")
    values = [draws.uniform() for _ in range(10_000)]

    assert all(0 <= value < 1 for value in values)
    assert math.isclose(sum(values) / len(values), 0.5, abs_tol=0.012)  # 4 sigma


def test_a_bound_must_be_positive():
    with pytest.raises(ValueError, match="bound=0"):
        Draws("x").below(0)


def test_numpy_generators_follow_the_path():
    assert numpy_rng("a", 1).integers(2**60) == numpy_rng("a", 1).integers(2**60)
    assert numpy_rng("a", 1).integers(2**60) != numpy_rng("a", 2).integers(2**60)


def test_fractions_are_uniform_and_never_change():
    fractions = Draws("golden", 1, ("x", 2)).fractions()
    first = [next(fractions) for _ in range(20_000)]
    counts = Counter(int(fraction * 10) for fraction in first)

    assert [int(fraction * 10**6) for fraction in first[:3]] == [965465, 103157, 910624]
    assert all(0 <= fraction < 1 for fraction in first)
    assert sum((counts[tenth] - 2_000) ** 2 / 2_000 for tenth in range(10)) < 35  # 9 dof, 6e-5


def test_fractions_and_other_draws_share_no_words():
    draws = Draws("shared")
    fractions = draws.fractions()
    words = [draws.below(2**32) for _ in range(100)]
    mixed = [int(next(fractions) * 2**32) for _ in range(100)]

    assert not set(words) & set(mixed)


def test_integers_are_uniform_and_never_change():
    numbers = Draws("golden", 1, ("x", 2)).integers(10)
    first = [next(numbers) for _ in range(20_000)]
    counts = Counter(first)

    assert first[:8] == [5, 9, 0, 1, 9, 9, 3, 3]
    assert sum((counts[digit] - 2_000) ** 2 / 2_000 for digit in range(10)) < 35  # 9 dof, 6e-5


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 1000, 2**31 + 1, 2**32])
def test_integers_stay_below_their_bound_and_reach_both_halves(bound):
    numbers = Draws("integers", bound).integers(bound)
    values = [next(numbers) for _ in range(300)]

    assert all(0 <= value < bound for value in values)
    if bound > 1:
        assert min(values) < bound / 2 <= max(values)


def test_integers_and_other_draws_share_no_words():
    draws = Draws("shared")
    numbers = draws.integers(2**32)
    words = [draws.below(2**32) for _ in range(100)]
    mixed = [next(numbers) for _ in range(400)]

    assert not set(words) & set(mixed)


def test_integers_need_a_bound_of_32_bits():
    for bound in (0, 2**32 + 1):
        with pytest.raises(ValueError, match="bound="):
            next(Draws("x").integers(bound))
