import math
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from symshift.generators.formulas.interleaving import Interleaving
from symshift.generators.formulas.permutations import MAX_SHUFFLED, Permutation


@given(st.integers(1, 3_000), st.integers(0, 5))
def test_every_number_comes_once(size, key):
    permutation = Permutation(size, (key,))

    assert sorted(permutation[index] for index in range(size)) == list(range(size))


@given(st.integers(MAX_SHUFFLED + 1, 10**40), st.data())
def test_large_permutations_stay_in_range_and_are_injective(size, data):
    permutation = Permutation(size, ("large",))
    indices = data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=30, unique=True))
    images = [permutation[index] for index in indices]

    assert all(0 <= image < size for image in images)
    assert len(set(images)) == len(images)


def is_uniform(groups, num_groups):
    counts, mean = Counter(groups), len(groups) / num_groups
    statistic = sum((counts[group] - mean) ** 2 / mean for group in range(num_groups))
    return chi2.sf(statistic, num_groups - 1) > 1e-5


@pytest.mark.parametrize("size", [7, MAX_SHUFFLED, MAX_SHUFFLED + 1, 10_007, 2**64 + 13, 10**60])
def test_images_are_uniform_and_those_of_neighbours_unrelated(size):
    # Beside 0: the next index, and the one below it in the network's grid.
    below = math.isqrt(size - 1) + 1
    images = [
        [permutation[index] for index in (0, 1, below)]
        for permutation in (Permutation(size, (key,)) for key in range(2_000))
    ]

    assert is_uniform([image * 7 // size for image, *_ in images], 7)
    if size > 7:
        for at in (1, 2):
            apart = [(image[at] - image[0]) % size for image in images]
            assert is_uniform([distance * 7 // size for distance in apart], 7)
            assert is_uniform([distance % 8 for distance in apart if distance > 8], 8)


def test_the_sequence_of_one_key_looks_random():
    # How often neighbours rise, and the lengths of rising runs, as in a random order.
    permutation = Permutation(10**12, ("sequence",))
    images = [permutation[index] for index in range(6_000)]
    rises = sum(a < b for a, b in pairwise(images))
    turns = sum((a < b) != (b < c) for a, b, c in zip(images, images[1:], images[2:], strict=False))

    assert abs(rises - 3_000) < 4.5 * (6_000 / 12) ** 0.5
    assert abs(turns - 4_000) < 4.5 * (16 * 6_000 / 90) ** 0.5


@pytest.mark.parametrize("index", [-1, 10, 2_000])
def test_what_is_outside_the_range_is_refused(index):
    with pytest.raises(IndexError, match="index="):
        Permutation(10 if index != 2_000 else 2_000, ())[index]
    with pytest.raises(ValueError, match="size=0"):
        Permutation(0, ())


@given(
    st.dictionaries(st.integers(0, 9), st.integers(0, 60), min_size=1).filter(
        lambda sizes: any(sizes.values())
    ),
    st.data(),
)
def test_interleaving_has_every_element_at_one_index(sizes, data):
    weights = {part: data.draw(st.integers(1, 12)) for part in sizes}
    stream = Interleaving(sizes, weights)
    located = [stream.locate(index, ("key",)) for index in range(stream.length)]

    assert sorted(located) == sorted((part, at) for part, n in sizes.items() for at in range(n))
    with pytest.raises(IndexError):
        stream.locate(stream.length, ("key",))


def test_interleaving_keeps_proportions_for_as_long_as_parts_last():
    sizes, weights = {"a": 10**30, "b": 10**30, "c": 40}, {"a": 5, "b": 3, "c": 2}
    stream = Interleaving(sizes, weights)
    early = Counter(stream.locate(index, ())[0] for index in range(200))
    late = Counter(stream.locate(10**12 + index, ())[0] for index in range(800))

    assert early == {"a": 100, "b": 60, "c": 40}
    assert abs(late["a"] - 500) <= 8
    assert abs(late["b"] - 300) <= 8
