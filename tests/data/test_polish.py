import pytest
from hypothesis import given
from hypothesis import strategies as st

from symshift.data import formula as formulas
from symshift.data import polish
from symshift.data import trace as traces
from symshift.data.assignment import AssignmentError
from symshift.data.formula import BINARY, UNARY, FormulaError
from symshift.data.trace import Trace, TraceError

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def formula(unary, binary, names=LETTERS):
    leaves = st.sampled_from([*names, "0", "1"]).map(lambda name: (name,))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(st.sampled_from(unary), inner).map(lambda f: (f[0], *f[1])),
            st.tuples(st.sampled_from(binary), inner, inner).map(lambda f: (f[0], *f[1], *f[2])),
        ),
        max_leaves=12,
    ).map(formulas.Formula)


ANY = formula(sorted(UNARY), sorted(BINARY - {"W", "M"}), names="abxorp")
STEP = formula(["!"], ["&", "|"])
TRACE = st.builds(
    Trace, st.lists(STEP, max_size=3).map(tuple), st.lists(STEP, min_size=1, max_size=3).map(tuple)
)


@given(ANY)
def test_a_formula_is_read_as_it_was_written_or_not_written(tree):
    try:
        text = polish.show_formula(tree)
    except FormulaError:
        # The published reader would take these three symbols for an operator.
        assert "xor" in "".join(tree)
    else:
        assert polish.parse_formula(text) == tree
        assert " " not in text


@given(TRACE)
def test_a_trace_is_read_as_it_was_written(trace):
    text = polish.show_trace(trace)

    assert polish.parse_trace(text) == trace
    assert polish.target_to_polish("ltl", polish.target_from_polish("ltl", text)) == text


@given(st.dictionaries(st.sampled_from(LETTERS), st.booleans()))
def test_an_assignment_is_read_as_it_was_written(assignment):
    text = polish.show_assignment(assignment)

    assert polish.parse_assignment(text) == assignment
    assert polish.is_assignment(text)
    assert polish.target_to_polish("prop", polish.target_from_polish("prop", text)) == text


@given(ANY)
def test_no_formula_looks_like_an_assignment(tree):
    assert not polish.is_assignment("".join(tree))


def test_published_examples_are_read():
    assert polish.parse_formula("U&ab!c") == ("U", "&", "a", "b", "!", "c")
    assert polish.parse_formula("<->xorab->c0") == ("<->", "xor", "a", "b", "->", "c", "0")
    assert traces.show(polish.parse_trace("&a!b;{1}")) == "a & !b; cycle{1}"
    assert traces.show(polish.parse_trace("{a;|b!c}")) == "cycle{a; b | !c}"
    assert polish.target_from_polish("prop", "a1c0") == "a=1 c=0"
    assert polish.target_from_polish("prop", "") == ""


@pytest.mark.parametrize(
    "text", ["", "U", "Ua", "ab", "a b", "U&ab!c ", "A", "p26", "a\n", "é", "\ud800", "()", "a;"]
)
def test_what_is_no_formula_is_refused(text):
    with pytest.raises(FormulaError):
        polish.parse_formula(text)


@pytest.mark.parametrize(
    "text",
    ["", "a", "{}", "{a", "a}", "a{b}", ";{a}", "a;{b};", "{a}{b}", "cycle{a}", "{Xa}", "a;;{b}"],
)
def test_what_is_no_trace_is_refused(text):
    with pytest.raises(TraceError):
        polish.parse_trace(text)


@pytest.mark.parametrize("text", ["a", "a2", "1a", "a=1", "a1 b0", "a1a0", "aa1"])
def test_what_is_no_assignment_is_refused(text):
    with pytest.raises(AssignmentError):
        polish.parse_assignment(text)


@pytest.mark.parametrize(
    "parse", [polish.parse_formula, polish.parse_trace, polish.parse_assignment]
)
def test_a_text_over_the_cap_is_refused_at_once(parse):
    with pytest.raises(ValueError, match="at most"):
        parse("a1" * formulas.MAX_TEXT)


@pytest.mark.parametrize(
    "tree",
    [
        ("W", "a", "b"),
        ("M", "a", "b"),
        ("p26",),
        ("&", "aa", "b"),
        ("&", "&", "x", "o", "r"),
    ],
)
def test_what_the_published_reader_does_not_know_is_not_written(tree):
    with pytest.raises(FormulaError):
        polish.show_formula(tree)


def test_steps_are_written_with_the_published_operators_alone():
    with pytest.raises(FormulaError, match="xor"):
        polish.show_trace(Trace((), (formulas.parse("a xor b"),)))


def test_names_of_several_letters_have_no_place_in_an_assignment():
    with pytest.raises(AssignmentError, match="p26"):
        polish.show_assignment({"p26": True})
