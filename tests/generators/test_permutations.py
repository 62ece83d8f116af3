from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from symshift.generators.interleaving import Interleaving
from symshift.generators.permutations import MAX_SHUFFLED, Permutation


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


@pytest.mark.parametrize("size", [7, MAX_SHUFFLED, MAX_SHUFFLED + 1, 10_007, 2**64 + 13, 10**60])
def test_images_are_uniform_and_neighbours_unrelated(size):
    groups = 5
    images = [[Permutation(size, (key,))[index] for index in (0, 1)] for key in range(3_000)]
    firsts = Counter(first * groups // size for first, _ in images)
    pairs = Counter((first * groups // size, second * groups // size) for first, second in images)
    for counts in (firsts, pairs) if size > 100 else ():
        cells = groups if counts is firsts else groups * groups
        mean = 3_000 / cells
        statistic = sum((counts[cell] - mean) ** 2 / mean for cell in counts)

        assert len(counts) == cells
        assert chi2.sf(statistic, cells - 1) > 1e-5
    small = Counter(first for first, _ in images)
    if size < 100:
        mean = 3_000 / size
        statistic = sum((small[at] - mean) ** 2 / mean for at in range(size))
        assert chi2.sf(statistic, size - 1) > 1e-5


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
