import itertools
import os
import subprocess
import sys

import pytest
from boolean_formulas import FORMULAS, always_holds, as_sympy, completions, holds
from hypothesis import given, settings
from hypothesis import strategies as st

from symshift.data import formula as formulas
from symshift.data.formula import Formula
from symshift.data.vocabulary import name_at
from symshift.solvers import propositional
from symshift.solvers.propositional import minimal_assignment, solver_of

NAMES = [f"p{number}" for number in range(30, 60)]


def by_the_rule(formula):
    """Find the target as the docstring of the module words it, one step after the other."""
    symbols = formulas.symbols_of(formula)
    model = next((v for v in completions(symbols, {}) if holds(formula, v)), None)
    if model is None:
        return None
    for name in reversed(symbols):
        rest = {other: value for other, value in model.items() if other != name}
        if always_holds(formula, rest):
            model = rest
    return model


@given(FORMULAS)
def test_the_target_is_what_the_rule_says(formula):
    target = minimal_assignment(formula)
    expected = by_the_rule(formula)

    assert target == expected
    assert target is None or list(target) == list(expected)


def agree(formula):
    symbols = formulas.symbols_of(formula)

    assert propositional._by_search(formula, symbols) == minimal_assignment(formula)


@settings(max_examples=40, deadline=None)
@given(FORMULAS)
def test_the_search_gives_what_the_tables_give(formula):
    agree(formula)


@pytest.mark.slow
@settings(max_examples=3_000, deadline=None)
@given(FORMULAS)
def test_search_and_tables_agree_on_many_formulas(formula):
    agree(formula)


@given(FORMULAS)
def test_a_target_satisfies_and_no_literal_can_be_left_out(formula):
    target = minimal_assignment(formula)
    if target is None:
        return

    assert always_holds(formula, target)
    for name in target:
        rest = {other: value for other, value in target.items() if other != name}
        assert not always_holds(formula, rest)


@given(FORMULAS, st.permutations(NAMES[:4]))
def test_renaming_a_formula_renames_its_target(formula, names):
    new = dict(zip(formulas.symbols_of(formula), names))
    target = minimal_assignment(formula)
    renamed = minimal_assignment(formulas.rename(formula, new))

    assert renamed == (target and {new[name]: value for name, value in target.items()})
    assert (renamed is None) == (target is None)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("1", {}),
        ("0", None),
        ("a", {"a": True}),
        ("!a", {"a": False}),
        ("a & 0", None),
        ("a & !a", None),
        ("a | !a", {}),
        ("a -> a", {}),
        ("a <-> a", {}),
        ("a xor a", None),
        ("a xor b", {"a": False, "b": True}),
        ("a | b", {"b": True}),
        ("!a | !b", {"a": False}),
        ("a & b", {"a": True, "b": True}),
        ("b -> a", {"b": False}),
        ("(a & b) | (!a & c)", {"a": False, "c": True}),
        ("(a <-> b) & (c | !a)", {"a": False, "b": False}),
    ],
)
def test_targets_that_can_be_told_by_hand(text, target):
    formula = formulas.parse(text)

    assert minimal_assignment(formula) == target
    assert propositional._by_search(formula, formulas.symbols_of(formula)) == target


def test_tables_reach_twenty_symbols_and_the_search_goes_on():
    for count in (19, 20, 21, 24):
        names = NAMES[:count]
        text = " & ".join(name if at % 3 else f"!{name}" for at, name in enumerate(names))

        target = minimal_assignment(formulas.parse(text))

        assert target == {name: at % 3 != 0 for at, name in enumerate(names)}
        assert list(target) == names
    assert solver_of(20) == "truth-table 1"
    assert solver_of(21).startswith("sympy 1.")


def test_the_search_finds_the_first_model_and_drops_from_the_end():
    names = NAMES[:21]
    first, *middle, last = names
    text = f"({' xor '.join(names)}) & ({first} | {' | '.join(middle)} | {last})"

    assert minimal_assignment(formulas.parse(text)) == {**dict.fromkeys(names, False), last: True}

    text = " & ".join(f"({left} | {right})" for left, right in itertools.pairwise(names))
    target = minimal_assignment(formulas.parse(text))

    assert target == dict.fromkeys(names[1::2], True)
    assert minimal_assignment(formulas.parse(f"{text} & !{names[1]} & !{names[2]}")) is None


def test_targets_are_the_same_in_every_process():
    code = (
        "from symshift.data.formula import parse\n"
        "from symshift.solvers.propositional import minimal_assignment\n"
        "names = [f'p{n}' for n in range(30, 52)]\n"
        "text = ' | '.join(f'({a} xor {b}) & {a}' for a, b in zip(names, names[1:]))\n"
        "print(minimal_assignment(parse(text)), minimal_assignment(parse(f'!({text})')))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }

    assert len(printed) == 1


def test_deep_formulas_do_not_overflow():
    deep = Formula(("!",) * 9_000 + ("&", "a") * 5_000 + ("b",))

    assert minimal_assignment(deep) == {"a": True, "b": True}
    assert propositional._by_search(deep, ("a", "b")) == {"a": True, "b": True}


def test_temporal_operators_are_refused():
    with pytest.raises(ValueError, match="temporal"):
        minimal_assignment(formulas.parse("X a"))


def sympy_refutes(formula, literals):
    """Tell whether SymPy finds a completion that makes a formula false."""
    from sympy import Not, Symbol
    from sympy.logic.boolalg import And
    from sympy.logic.inference import satisfiable

    fixed = [Symbol(name) if value else Not(Symbol(name)) for name, value in literals.items()]
    return satisfiable(And(Not(as_sympy(formula)), *fixed)) is not False


def check_with_sympy(formula):
    from sympy.logic.inference import satisfiable

    target = minimal_assignment(formula)
    if target is None:
        assert satisfiable(as_sympy(formula)) is False
        return
    assert not sympy_refutes(formula, target)
    for name in target:
        assert sympy_refutes(formula, {o: v for o, v in target.items() if o != name})


@settings(max_examples=20, deadline=None)
@given(FORMULAS)
def test_sympy_agrees(formula):
    check_with_sympy(formula)


@pytest.mark.slow
@settings(max_examples=600, deadline=None)
@given(FORMULAS)
def test_sympy_agrees_on_many_formulas(formula):
    check_with_sympy(formula)


def test_names_of_the_window_are_symbols():
    assert minimal_assignment(Formula((name_at(26),))) == {"p26": True}
