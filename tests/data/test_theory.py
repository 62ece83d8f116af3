import pytest
from horn_theories import theories
from hypothesis import given
from hypothesis import strategies as st

from symshift.data.theory import (
    MAX_TEXT,
    Answer,
    Rule,
    Theory,
    TheoryError,
    parse,
    parse_answer,
    same_steps,
)


@given(theories())
def test_reading_undoes_printing(theory):
    assert parse(str(theory)) == theory


@given(theories(), st.booleans())
def test_reading_an_answer_undoes_printing_it(theory, is_derivable):
    answer = Answer(theory.rules, is_derivable)

    assert parse_answer(str(answer)) == answer


def test_texts_are_those_of_the_contract():
    text = "facts: a, b; rules: a & b -> c, c -> d; query: d"

    assert parse(text) == Theory(("a", "b"), (Rule(("a", "b"), "c"), Rule(("c",), "d")), "d")
    assert str(Theory((), (Rule(("a",), "b"),), "b")) == "facts: ; rules: a -> b; query: b"
    assert str(Theory(("a",), (), "a")) == "facts: a; rules: ; query: a"
    assert str(Answer((), False)) == "false"


def test_white_space_only_separates():
    loose = " facts :a ,b;rules:a&b->c,\tc -> d ;\n query: d "

    assert str(parse(loose)) == "facts: a, b; rules: a & b -> c, c -> d; query: d"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not of the form"),
        ("facts: a; query: a", "not of the form"),
        ("facts: a; rules: ; query: a; query: b", "not of the form"),
        ("facts: a,; rules: ; query: a", "'' is no atom"),
        ("facts: true; rules: ; query: a", "'true' is no atom"),
        ("facts: A; rules: ; query: a", "'A' is no atom"),
        ("facts: a b; rules: ; query: a", "'a b' is no atom"),
        ("facts: a; rules: ; query: ", "'' is no atom"),
        ("facts: a; rules: -> b; query: a", "'-> b' is no rule"),
        ("facts: a; rules: a; query: a", "'a' is no rule"),
        ("facts: a; rules: a & -> b; query: a", "is no rule"),
        ("facts: a; rules: a -> ; query: a", "is no rule"),
        ("facts: a; rules: a -> b -> c; query: a", "'b -> c' is no atom"),
        ("facts: a; rules: a & b & a -> c; query: a", "stands twice in its body"),
        ("facts: a, b, a; rules: ; query: a", "fact 'a' stands twice"),
        ("facts: ; rules: a & b -> c, b & a -> c; query: a", "rule 'a & b -> c' stands twice"),
        ("facts: " + "a" * MAX_TEXT, "at most"),
    ],
)
def test_what_is_no_theory_is_refused_with_the_reason(text, reason):
    with pytest.raises(TheoryError, match=reason):
        parse(text)


@pytest.mark.parametrize("text", ["", "True", "a -> b", "true;", "a -> b; maybe", "t" * MAX_TEXT])
def test_an_answer_ends_with_true_or_false(text):
    with pytest.raises(TheoryError):
        parse_answer(text + " ")


def test_a_step_that_is_no_rule_stays_a_text():
    answer = parse_answer("a -> b; because; a -> true; a & a -> b; ; false")

    assert answer.steps == (Rule(("a",), "b"), "because", "a -> true", "a & a -> b", "")


def test_steps_are_the_same_in_any_order_of_their_bodies_alone():
    one = parse_answer("a & b -> c; c -> d; true").steps

    assert same_steps(one, parse_answer("b&a -> c; c->d; true").steps)
    assert not same_steps(one, parse_answer("c -> d; a & b -> c; true").steps)
    assert not same_steps(one, one[:1])
