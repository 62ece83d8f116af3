import itertools
from collections import Counter

import pytest

from symshift.data.options import Range
from symshift.data.seeds import Draws
from symshift.generators.theories.options import Options
from symshift.generators.theories.schedule import (
    DepthRanges,
    EvenDepths,
    depth_ranges,
    depths_in_cell,
)


@pytest.mark.parametrize(
    ("query", "closure"),
    [
        (Range(0, 6), Range(1, 7)),
        (Range(0, 3), Range(0, 3)),
        (Range(2, 2), Range(2, 6)),
        (Range(0, 2), Range(3, 4)),
        (Range(0, 4), Range(3, 4)),
    ],
)
def test_every_round_has_all_depths_equally_often_and_none_beyond_its_closure(query, closure):
    ranges = DepthRanges(query, closure)
    num = len(ranges.rounds()[0])
    depths = EvenDepths(ranges, 1)
    for number in range(5):
        drawn = [depths.depths(0, number * num + place) for place in range(num)]

        assert all(pair.query <= pair.closure for pair in drawn)
        for place, asked in enumerate((query, closure)):
            counts = Counter(pair[place] for pair in drawn)
            assert set(counts) == set(range(asked.min, asked.max + 1))
            assert len(set(counts.values())) == 1


def test_every_matching_is_equally_likely():
    # Depths 0-2 with closures 1-3: four matchings are possible, by trying all.
    possible = [
        closures
        for closures in itertools.permutations((1, 2, 3))
        if all(depth <= closure for depth, closure in enumerate(closures))
    ]
    depths = EvenDepths(DepthRanges(Range(0, 2), Range(1, 3)), 1)
    counts = Counter(
        tuple(
            pair.closure
            for pair in sorted(depths.depths(0, 3 * number + place) for place in range(3))
        )
        for number in range(2_000)
    )
    expected = 2_000 / len(possible)

    assert len(possible) == 4
    assert set(counts) == set(possible)
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < 16.3


def test_depths_are_a_function_of_seed_and_pair_in_any_order():
    ranges = DepthRanges(Range(0, 6), Range(1, 7))
    forward, other = EvenDepths(ranges, 1), EvenDepths(ranges, 1)
    pairs = [forward.depths(3, pair) for pair in range(50)]

    assert [other.depths(3, pair) for pair in reversed(range(50))] == pairs[::-1]
    assert [forward.depths(4, pair) for pair in range(50)] != pairs


@pytest.mark.parametrize(
    ("depth", "closure_depth", "largest", "expected"),
    [
        (None, None, 28, (Range(0, 6), Range(1, 7))),
        (None, None, 3, (Range(0, 2), Range(1, 3))),
        (None, None, 0, (Range(0, 0), Range(0, 0))),
        (Range(2, 5), None, 28, (Range(2, 5), Range(3, 6))),
        (Range(2, 5), None, 5, (Range(2, 5), Range(2, 5))),
        (None, Range(2, 4), 28, (Range(0, 4), Range(2, 4))),
        (None, Range(8, 9), 28, (Range(0, 6), Range(8, 9))),
    ],
)
def test_depths_that_are_not_asked_for_follow_from_the_others(
    depth, closure_depth, largest, expected
):
    assert depth_ranges(Options(depth=depth, closure_depth=closure_depth), largest) == expected


def test_in_a_cell_depths_are_those_that_are_possible_there():
    drawn = {depths_in_cell([2, 4], Range(1, 3), Draws(number)) for number in range(200)}

    assert drawn == {(1, 2), (2, 2), (1, 4), (2, 4), (3, 4)}
