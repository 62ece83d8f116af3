import itertools
import random

import pytest
from boolean_formulas import FORMULAS, completions, holds
from hypothesis import given
from hypothesis import strategies as st

from symshift.data.formula import Formula, parse, symbols_of
from symshift.solvers.algebra import TruthTables, algebra_over, evaluate
from symshift.solvers.bdd import DecisionDiagrams
from symshift.solvers.boolean import (
    consistent,
    equivalent,
    implied_literals,
    read_label,
    satisfiable,
)
from symshift.solvers.budget import Budget, BudgetExceeded


def models(formula):
    return [values for values in completions("abcd", {}) if holds(formula, values)]


@given(FORMULAS)
def test_satisfiability_and_implied_literals_are_those_of_the_models(formula):
    found = models(formula)

    assert satisfiable(formula) == bool(found)
    implied = {name: {m[name] for m in found} for name in symbols_of(formula)}
    expected = {name: values.pop() for name, values in implied.items() if len(values) == 1}
    assert implied_literals(formula) == (expected if found else None)


@given(FORMULAS, FORMULAS)
def test_equivalent_formulas_have_the_same_models(f, g):
    assert equivalent(f, g) == (models(f) == models(g))


@given(FORMULAS)
def test_a_formula_is_equivalent_to_what_its_label_says(formula):
    label = read_label(formula)
    if label is None:
        return
    cube = [
        token for n, v in label.literals.items() for token in (("&", n) if v else ("&", "!", n))
    ]
    rest = [token for part in label.rest for token in ("&", *part)]

    assert equivalent(formula, Formula((*cube, *rest, "1")))


@given(FORMULAS, st.dictionaries(st.sampled_from("abcdx"), st.booleans()))
def test_consistency_is_a_model_with_these_values(formula, literals):
    known = {name: v for name, v in literals.items() if name in "abcd"}

    assert consistent(formula, literals) == any(known.items() <= m.items() for m in models(formula))


@given(FORMULAS, FORMULAS)
def test_decision_diagrams_are_canonical_and_agree_with_truth_tables(f, g):
    diagrams, tables = DecisionDiagrams("abcd", Budget(10_000)), TruthTables("abcd")
    first, second = evaluate(f, diagrams), evaluate(g, diagrams)

    assert (first == second) == (evaluate(f, tables) == evaluate(g, tables))
    assert evaluate(Formula(("&", *f, *g)), diagrams) == diagrams.conj(first, second)
    if first != diagrams.zero:
        assert diagrams.implied(first) == tables.implied(evaluate(f, tables))
        model = diagrams.model(first)
        assert all(holds(f, {**dict.fromkeys("abcd", rest), **model}) for rest in (False, True))


@pytest.mark.parametrize("algebra", [TruthTables("abc"), DecisionDiagrams("abc", Budget(1000))])
def test_algebras_keep_the_laws_that_their_users_rely_on(algebra):
    a, b = algebra.symbol("a"), algebra.symbol("b")

    assert algebra.zero == 0
    assert algebra.negate(algebra.zero) == algebra.one
    assert algebra.conj(a, algebra.negate(a)) == algebra.zero
    assert algebra.disj(a, b) == algebra.negate(algebra.conj(algebra.negate(a), algebra.negate(b)))
    assert algebra.implied(algebra.conj(a, algebra.negate(b))) == {"a": True, "b": False}
    assert (
        algebra.model(algebra.conj(a, algebra.negate(b))).items() >= {"a": True, "b": False}.items()
    )


def test_functions_of_many_symbols_are_decided_exactly():
    names = [f"p{i}" for i in range(150)]
    clauses = Formula(parse(" & ".join(f"({x} | !{y})" for x, y in itertools.pairwise(names))))

    assert satisfiable(clauses)
    assert implied_literals(Formula(("&", *clauses, "p149"))) == dict.fromkeys(names, True)
    assert not satisfiable(Formula(("&", *clauses, "&", "!", "p0", "p149")))
    assert equivalent(parse(" xor ".join(names)), parse(" xor ".join(reversed(names))))
    assert not equivalent(parse(" xor ".join(names)), parse(" xor ".join(names[1:])))


def test_thirteen_symbols_and_twelve_are_decided_alike():
    rng = random.Random(7)
    for _ in range(60):
        names = rng.sample("abcdefghijklmnop", 13)
        few = Formula(
            parse(" & ".join(f"({rng.choice(names)} | !{rng.choice(names)})" for _ in "xxxx"))
        )
        many = Formula(("&", *few, *parse(" | ".join(names))))
        assert len(symbols_of(many)) == 13
        tables = TruthTables(names)
        assert satisfiable(many) == bool(evaluate(many, tables))
        assert equivalent(many, few) == (evaluate(many, tables) == evaluate(few, tables))


def test_a_hard_function_exhausts_its_budget_instead_of_the_machine():
    rng = random.Random(3)
    names = [f"p{i}" for i in range(90)]
    clauses = [
        " | ".join(rng.choice(("", "!")) + x for x in rng.sample(names, 3)) for _ in range(350)
    ]
    hard = parse(" & ".join(f"({clause})" for clause in clauses))

    with pytest.raises(BudgetExceeded, match="more than 20000 steps"):
        satisfiable(hard, Budget(20_000))


@pytest.mark.parametrize(
    "text",
    [
        "!" * 19_998 + "a",
        "(" * 9_000 + "a" + ")" * 9_000,
        "(" * 2_800 + "a" + " | b)" * 2_800,
        " & ".join(f"p{i}" for i in range(2_500)),
        " | ".join(f"p{i}" for i in range(2_500)),
    ],
    ids=["negations", "brackets", "nested", "cube", "clause"],
)
def test_long_labels_are_read_without_recursion_and_within_few_steps(text):
    assert satisfiable(parse(text), Budget(20_000))


def test_temporal_operators_are_refused():
    for text in ("X a", "a U b", "c & (a | G b)"):
        with pytest.raises(ValueError, match="temporal operator"):
            satisfiable(parse(text))


def test_the_algebra_of_no_symbols_has_two_elements():
    algebra = algebra_over(())

    assert {evaluate(parse("0"), algebra), evaluate(parse("1"), algebra)} == {0, algebra.one}
