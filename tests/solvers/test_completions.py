import itertools

import pytest
from boolean_formulas import ASSIGNMENTS, FORMULAS
from hypothesis import given

from symshift.data import formula as formulas
from symshift.data.formula import Formula
from symshift.solvers import completions
from symshift.solvers.algebra import TruthTables, evaluate
from symshift.solvers.budget import BudgetExceeded
from symshift.solvers.completions import counterexample


def falsified(formula, assignment):
    """Return the completions over a..d and z that make a formula false, by a table of values."""
    names = "abcdz"
    function = evaluate(formula, TruthTables(names))
    found = []
    for values in itertools.product((False, True), repeat=len(names)):
        total = dict(zip(names, values))
        place = sum(value << at for at, value in enumerate(values))
        if not function >> place & 1 and total.items() >= assignment.items():
            found.append(total)
    return found


def check_against_all_completions(formula, assignment, **limits):
    false_under = falsified(formula, assignment)
    found = counterexample(formula, assignment, **limits)

    assert (found is None) == (not false_under)
    if found is not None:
        symbols = formulas.symbols_of(formula)
        assert found.keys() <= set(symbols)
        assert all(found[s] is assignment[s] for s in symbols if s in assignment)
        extended = {**assignment, **found}
        assert len(falsified(formula, extended)) == 2 ** (5 - len(extended))


@given(FORMULAS, ASSIGNMENTS)
def test_cases_agree_with_trying_all_completions(formula, assignment):
    check_against_all_completions(formula, assignment)


@given(FORMULAS, ASSIGNMENTS)
def test_diagrams_agree_with_trying_all_completions(formula, assignment):
    check_against_all_completions(formula, assignment, max_case_nodes=0)


@given(FORMULAS, ASSIGNMENTS)
def test_putting_values_in_keeps_the_meaning(formula, assignment):
    rest = completions._restrict(formula, assignment)
    tables = TruthTables("abcdz")
    known = {name: tables.one if value else 0 for name, value in assignment.items()}

    assert evaluate(rest, tables) == evaluate(formula, tables, known)
    assert len(rest) == 1 or not {"0", "1", *assignment} & set(rest)


def test_the_symbols_of_the_assignment_come_first():
    formula = formulas.parse("(a xor b) & (c | d)")

    found = counterexample(formula, {"c": True, "z": False})

    assert list(found.items()) == [("c", True), ("a", False), ("b", False)]


def test_a_parity_of_many_symbols_is_decided_by_diagrams():
    names = [f"p{number}" for number in range(30, 60)]
    forwards, backwards = " xor ".join(names), " xor ".join(reversed(names))
    tautology = formulas.parse(f"{forwards} <-> {backwards}")
    near_miss = formulas.parse(f"({forwards} <-> {backwards}) & !({' & '.join(names)})")

    assert counterexample(tautology, {}) is None
    assert counterexample(near_miss, {}) == dict.fromkeys(names, True)


def test_the_budget_is_one_of_steps():
    formula = formulas.parse("(a xor b) & (b xor c) & (c xor d) | (a <-> d)")

    with pytest.raises(BudgetExceeded, match="more than 3 steps"):
        counterexample(formula, {}, max_case_nodes=20, max_steps=3)
    assert counterexample(formula, {}, max_case_nodes=20)


def test_what_is_decided_at_once_needs_no_budget():
    formula = formulas.parse("a | b xor c")

    assert counterexample(formula, {"a": True}, max_case_nodes=0, max_steps=0) is None


def test_long_and_deep_formulas_do_not_overflow():
    names = [f"p{number}" for number in range(30, 2_030)]
    conjunction = formulas.parse(" & ".join(names))
    deep = Formula(("!",) * 9_000 + ("|", "a") * 5_000 + ("b",))

    assert counterexample(conjunction, dict.fromkeys(names, True)) is None
    assert counterexample(conjunction, dict.fromkeys(names[1:], True))[names[0]] is False
    assert counterexample(deep, {"a": True}) is None
    assert counterexample(deep, {"b": False}) == {"b": False, "a": False}


def test_temporal_operators_are_refused():
    with pytest.raises(ValueError, match="temporal"):
        counterexample(formulas.parse("a U b"), {})
