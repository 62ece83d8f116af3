import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from symshift.data.formula import MAX_TEXT
from symshift.metrics.edit_distance import answer_distance, edit_distance, mean_distance

words = st.lists(st.sampled_from("abc"), max_size=9)


def table_distance(left: list[str], right: list[str]) -> int:
    """Return the distance by the usual table, cell by cell."""
    above = list(range(len(right) + 1))
    for i, token in enumerate(left, 1):
        row = [i]
        for j, other in enumerate(right, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (token != other)))
        above = row
    return above[-1]


@given(words, words)
def test_bits_agree_with_the_table(left: list[str], right: list[str]) -> None:
    assert edit_distance(left, right) == table_distance(left, right)


def test_distances_of_well_known_words() -> None:
    assert edit_distance("kitten", "sitting") == 3
    assert edit_distance("intention", "execution") == 5
    assert edit_distance("a" * 200, "b" * 150) == 200


def test_no_answer_is_as_far_as_an_empty_one() -> None:
    assert answer_distance("a b a", None) == answer_distance("a b a", "") == 3
    assert answer_distance("a b a", " a  b a ") == 0
    assert answer_distance("a b", "a x b") == 1


def test_what_is_behind_the_longest_text_that_is_read_is_left_out() -> None:
    text = "a " * (MAX_TEXT // 2 + 3)

    assert answer_distance(text, text) == 3


def test_equal_distances_have_an_interval_within_what_is_possible() -> None:
    lengths = np.full(20, 8)
    none, all_ = (mean_distance(np.full(20, d), lengths) for d in (0, 8))

    assert none.value == none.low == 0
    assert 0 < (none.high or 0) < 8
    assert all_.value == all_.high == 8
    assert (all_.low or 8) < 8


def test_renamings_of_one_problem_are_drawn_together() -> None:
    problems = np.repeat(np.arange(30), 10)
    distances = (problems % 3).astype(np.int64)
    lengths = np.full(300, 5)

    apart, together = (mean_distance(distances, lengths, p) for p in (None, problems))
    assert apart.value == together.value == 1
    assert together.n == 30
    assert (together.high or 0) - (together.low or 0) > 2 * ((apart.high or 0) - (apart.low or 0))
