import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symshift.data import assignment as assignments
from symshift.data.assignment import AssignmentError
from symshift.data.formula import MAX_TEXT

NAMES = st.sampled_from(["a", "b", "p26", "p9999999", "x_1"])


@given(st.dictionaries(NAMES, st.booleans()))
def test_what_is_printed_is_read_back(assignment):
    read = assignments.parse(assignments.show(assignment))

    assert list(read.items()) == list(assignment.items())


@pytest.mark.parametrize("text", ["", " ", "\n\t "])
def test_no_text_is_the_assignment_that_fixes_nothing(text):
    assert assignments.parse(text) == {}


@pytest.mark.parametrize(
    "text", ["a=1 c=0", "  a=1\tc=0\n", "a = 1 c =0", "a=1c=0", "a=1 a=1 c=0", "a=1 c=0 a=1"]
)
def test_white_space_and_repetition_have_no_meaning(text):
    assert assignments.parse(text) == {"a": True, "c": False}


NO_LITERALS = """
a|1|=1|a=|a==1|a=2|a=10|a=true|a=1, b=0|{a=1}|a=1;|a1|A=1|1=a|a=!1|!a|a=1 b|a=1 & b=0|xor=1|true=1
cycle=1|a:1|\u0430=1|a=\uff11|a=1\x00|\U0001f4a5|a-1=0|a = 1 .|the answer is a=1
"""


@pytest.mark.parametrize("text", NO_LITERALS.strip().replace("\n", "|").split("|"))
def test_anything_else_is_refused_where_it_goes_wrong(text):
    with pytest.raises(AssignmentError, match="at position"):
        assignments.parse(text)


def test_the_place_of_an_error_is_named():
    with pytest.raises(AssignmentError, match=r"'b=2' at position 4"):
        assignments.parse("a=1 b=2")


@pytest.mark.parametrize("text", ["a=1 a=0", "a=0 b=1 a=1", "a=0a=1"])
def test_a_contradiction_is_no_assignment_but_can_be_taken_apart(text):
    with pytest.raises(AssignmentError, match="a=0 and a=1 contradict"):
        assignments.parse(text)

    assert {("a", True), ("a", False)} <= set(assignments.literals(text))


def test_long_texts_are_read_up_to_the_cap():
    longest = "a=1 " * (MAX_TEXT // 4)

    assert assignments.parse(longest) == {"a": True}
    with pytest.raises(AssignmentError, match=f"at most {MAX_TEXT}"):
        assignments.parse(longest + " ")


@given(st.text(alphabet="ab=01 \n!", max_size=12))
def test_no_text_raises_anything_else(text):
    with contextlib.suppress(AssignmentError):
        assert len(assignments.parse(text)) <= text.count("=")
