import pytest
from hypothesis import given
from hypothesis import strategies as st

from symshift.data.errors import UsageError
from symshift.data.vocabulary import Window, name_at, position_of


@given(st.integers(0, 9_999_999))
def test_names_and_positions_undo_each_other(position):
    assert position_of(name_at(position)) == position


def test_the_sequence_is_the_contracts():
    assert [name_at(i) for i in (0, 25, 26, 27, 1000)] == ["a", "z", "p26", "p27", "p1000"]


@pytest.mark.parametrize("name", ["p0", "p25", "p026", "P26", "aa", "", "p-1", "p12345678", "é"])
def test_other_words_have_no_position(name):
    assert position_of(name) is None


def test_windows_include_both_ends_and_nest():
    assert Window(3, 6).names() == ("d", "e", "f", "g")
    assert Window.first(30).names()[:5] == Window.first(5).names()
    assert "d" in Window(3, 6)
    assert "c" not in Window(3, 6)
    assert "foo" not in Window(3, 6)
    assert len(Window(24, 27)) == 4


@pytest.mark.parametrize(("start", "stop"), [(-1, 2), (3, 2), (0, 10_000_000)])
def test_impossible_windows_are_refused(start, stop):
    with pytest.raises(UsageError, match="window"):
        Window(start, stop)
