"""Laws of LTL that verdicts have to keep, on random formulas and traces."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symshift.data import formula as formulas
from symshift.data.formula import Formula
from symshift.data.trace import Trace
from symshift.solvers.lasso import Status, check


def steps():
    literal = st.sampled_from(["a", "b", "c", "!a", "!b", "!c"])
    cube = st.lists(literal, max_size=2).map(" & ".join).map(lambda text: text or "1")
    other = st.sampled_from(["a | b", "a <-> c", "!(a & b)", "b -> c", "(a | b) & !c", "a xor b"])
    return st.one_of(cube, cube, other).map(formulas.parse)


def lassos():
    few = st.lists(steps(), max_size=2).map(tuple)
    return st.builds(Trace, few, st.lists(steps(), min_size=1, max_size=3).map(tuple))


def ltl(max_leaves=6):
    leaf = st.sampled_from(["a", "b", "c", "a", "b", "c", "0", "1"]).map(lambda t: (t,))
    return st.recursive(
        leaf,
        lambda f: st.one_of(
            st.tuples(st.sampled_from("!XFG"), f).map(lambda t: (t[0], *t[1])),
            st.tuples(st.sampled_from(("&", "|", "xor", "->", "<->", *"URWM")), f, f).map(
                lambda t: (t[0], *t[1], *t[2])
            ),
        ),
        max_leaves=max_leaves,
    ).map(Formula)


@given(ltl(), lassos(), st.permutations(["x", "p26", "a"]))
def test_renaming_changes_no_verdict(formula, trace, names):
    new = dict(zip("abc", names))

    assert check(formulas.rename(formula, new), trace.renamed(new)).status is (
        check(formula, trace).status
    )


@given(ltl(), lassos())
def test_double_negation_changes_no_verdict(formula, trace):
    assert check(Formula(("!", "!", *formula)), trace).status is check(formula, trace).status


@given(ltl(), lassos())
def test_a_formula_and_its_negation_never_both_hold(formula, trace):
    both = {check(formula, trace).status, check(Formula(("!", *formula)), trace).status}

    assert both != {Status.SATISFIED}


@given(ltl(), ltl(), lassos())
def test_a_conjunction_holds_exactly_if_both_parts_do(f, g, trace):
    whole = check(Formula(("&", *f, *g)), trace).status

    parts = {check(f, trace).status, check(g, trace).status}
    assert (whole is Status.SATISFIED) == (parts == {Status.SATISFIED})


@given(ltl(), lassos(), st.integers(0, 2))
def test_another_way_to_write_the_trace_changes_no_verdict(formula, trace, turns):
    prefix, cycle = trace.prefix, trace.cycle
    rolled = Trace(prefix + cycle[:1], cycle[1:] + cycle[:1])

    for same in (Trace(prefix, cycle * 2), rolled, Trace(prefix + cycle * turns, cycle)):
        assert check(formula, same).status is check(formula, trace).status


@given(ltl(), lassos())
def test_x_looks_at_the_next_step(formula, trace):
    later = Trace((Formula(("1",)), *trace.prefix), trace.cycle)

    assert check(Formula(("X", *formula)), later).status is check(formula, trace).status


DUALS = [
    ("F x", "1 U x"),
    ("G x", "0 R x"),
    ("G x", "!F!x"),
    ("x R y", "!(!x U !y)"),
    ("x W y", "(x U y) | G x"),
    ("x W y", "y R (x | y)"),
    ("x M y", "y U (x & y)"),
    ("x M y", "(x R y) & F x"),
    ("x U y", "y | (x & X(x U y))"),
    ("x R y", "y & (x | X(x R y))"),
    ("x xor y", "!(x <-> y)"),
    ("x -> y", "!x | y"),
    ("X(x U y)", "X x U X y"),
]


@pytest.mark.parametrize(("left", "right"), DUALS)
@settings(max_examples=25)
@given(ltl(4), ltl(4), lassos())
def test_equivalent_formulas_get_the_same_verdict(left, right, x, y, trace):
    put = {"x": x, "y": y}
    one, other = (
        Formula(tuple(t for token in formulas.parse(text) for t in put.get(token, (token,))))
        for text in (left, right)
    )

    assert check(one, trace).status is check(other, trace).status
