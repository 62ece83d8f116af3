import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symshift.data import formula as formulas
from symshift.data.formula import ARITY, BINARY, UNARY, Formula, FormulaError

CASES = Path(__file__).parents[1] / "cases"


@st.composite
def polish(draw, max_leaves=12):
    leaf = st.sampled_from(["a", "b", "c", "p26", "p1000", "0", "1"]).map(lambda t: (t,))
    return Formula(
        draw(
            st.recursive(
                leaf,
                lambda f: st.one_of(
                    st.tuples(st.sampled_from(sorted(UNARY)), f).map(lambda t: (t[0], *t[1])),
                    st.tuples(st.sampled_from(sorted(BINARY)), f, f).map(
                        lambda t: (t[0], *t[1], *t[2])
                    ),
                ),
                max_leaves=max_leaves,
            )
        )
    )


@given(polish())
def test_parse_undoes_show(formula):
    assert formulas.parse(formulas.show(formula)) == formula


@given(polish())
def test_brackets_around_everything_change_nothing(formula):
    def bracketed(start):
        token = formula[start]
        if ARITY.get(token, 0) == 0:
            return token
        middle = formulas.end_of_operand(formula, start + 1)
        if token in UNARY:
            return f"({token} {bracketed(start + 1)})"
        return f"({bracketed(start + 1)} {token} {bracketed(middle)})"

    assert formulas.parse(bracketed(0)) == formula


@given(polish(), st.permutations(["a", "b", "c", "p26", "p1000"]))
def test_renaming_keeps_the_canonical_form(formula, names):
    renamed = formulas.rename(formula, dict(zip(["a", "b", "c", "p26", "p1000"], names)))

    assert formulas.canonical(renamed) == formulas.canonical(formula)


@given(polish(), polish())
def test_equal_canonical_forms_mean_a_renaming_exists(f, g):
    symbols_f, symbols_g = formulas.symbols_of(f), formulas.symbols_of(g)
    is_renaming = (
        len(symbols_f) == len(symbols_g)
        and formulas.rename(f, dict(zip(symbols_f, symbols_g))) == g
    )

    assert (formulas.canonical(f) == formulas.canonical(g)) == is_renaming


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("a U b U c", "U a U b c"),
        ("a W b M c", "W a M b c"),
        ("F a U b", "U F a b"),
        ("a | b xor c", "| a xor b c"),
        ("a xor b & c", "xor a & b c"),
        ("a & b U c", "& a U b c"),
        ("a -> b <-> c", "-> a <-> b c"),
        ("a <-> b -> c", "<-> a -> b c"),
        ("a & b & c", "& & a b c"),
        ("F!XFGa", "F ! X F G a"),
        ("X(c U b) M c", "M X U c b c"),
        ("aUb", "U a b"),
        ("p26 R p1000", "R p26 p1000"),
        (" ( ( a ) ) ", "a"),
    ],
)
def test_precedence_is_spots(text, tokens):
    assert formulas.parse(text) == tuple(tokens.split())


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "()", "a b", "a &", "& a", "(a", "a)", "!", "a ! b", "(a) b", "a (b)", "()a"),
        *("A", "a true", "true", "false", "a && b", "a => b", "é", "a;b", "0a b", "a\x00"),
    ],
)
def test_what_is_no_formula_is_refused_with_a_reason(text):
    with pytest.raises(FormulaError) as error:
        formulas.parse(text)

    assert str(error.value)


def test_every_formula_of_the_cases_is_read_and_printed_back():
    lines = (CASES / "ltl_verdicts.jsonl").read_text().splitlines()
    for line in lines:
        formula = formulas.parse(json.loads(line)["formula"])

        assert formulas.parse(formulas.show(formula)) == formula
    assert len(lines) == 200


def test_deep_nesting_does_not_overflow():
    for text in (
        "!" * 19_000 + "a",
        "(" * 9_000 + "a" + ")" * 9_000,
        "a U (" * 3_000 + "b" + ")" * 3_000,
    ):
        formula = formulas.parse(text)

        assert formulas.parse(formulas.show(formula)) == formula


def test_a_text_over_the_cap_is_refused():
    with pytest.raises(FormulaError, match="at most"):
        formulas.parse("!" * formulas.MAX_TEXT + "a")


@given(st.lists(st.sampled_from(["a", "b", "!", "U", "&", "0", "Q"]), max_size=6))
def test_from_polish_accepts_exactly_the_trees(tokens):
    def read(at):
        arity = ARITY.get(tokens[at], 0)
        at += 1
        for _ in range(arity):
            at = read(at)
        return at

    try:
        is_tree = "Q" not in tokens and read(0) == len(tokens)
    except IndexError:
        is_tree = False
    try:
        formulas.from_polish(tokens)
        accepted = True
    except FormulaError:
        accepted = False

    assert accepted == is_tree
