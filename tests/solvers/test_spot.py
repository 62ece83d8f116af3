"""The promises of solvers/spot.py, kept by whichever Spot is installed."""

import json
import random
from pathlib import Path

import pytest

from symshift.data import formula as formulas
from symshift.data import trace as traces
from symshift.data.errors import MissingToolError
from symshift.data.formula import BINARY, UNARY, Formula
from symshift.data.trace import Trace
from symshift.solvers import spot as spots
from symshift.solvers import spot_discovery
from symshift.solvers.spot import MAX_NODES, MAX_PROMISES, SolverLimit, Spot
from symshift.solvers.spot_discovery import find_spot
from symshift.solvers.spot_self_test import self_test

CASES = Path(__file__).parents[1] / "cases"
OPERATORS = tuple(sorted(UNARY | BINARY))


@pytest.fixture(scope="module")
def spot() -> Spot:
    return find_spot()


def random_formula(rng: random.Random, size: int, symbols: str) -> Formula:
    if size == 1:
        return Formula((rng.choice([*symbols, "0", "1"]),))
    one = [token for token in OPERATORS if token in UNARY]
    two = [token for token in OPERATORS if token in BINARY] if size > 2 else []
    token = rng.choice(one + two)
    if token in UNARY:
        return Formula((token, *random_formula(rng, size - 1, symbols)))
    left = rng.randint(1, size - 2)
    first = random_formula(rng, left, symbols)
    return Formula((token, *first, *random_formula(rng, size - 1 - left, symbols)))


def holds(spot: Spot, formula: str, trace: str) -> bool:
    return spot.holds(formulas.parse(formula), traces.parse(trace))


pytestmark = pytest.mark.spot


def test_witness_satisfies_the_formula_and_none_means_unsatisfiable(spot: Spot) -> None:
    rng = random.Random(1)
    never = 0

    for _ in range(500):
        formula = random_formula(rng, rng.randint(1, 20), "abc")
        trace = spot.witness(formula)
        if trace is None:
            never += 1
            assert spot.equivalent(formula, Formula(("0",)))
        else:
            assert spot.holds(formula, trace)

    assert 25 < never < 250


@pytest.mark.parametrize(
    "trace",
    ["cycle{0}", "cycle{a & !a}", "0; cycle{1}", "a & !a; cycle{a}", "1; cycle{a; b; 0}"],
)
def test_trace_without_words_never_holds(spot: Spot, trace: str) -> None:
    assert not holds(spot, "1", trace)
    assert not holds(spot, "a U b", trace)


def test_unmentioned_symbol_may_change_at_every_visit(spot: Spot) -> None:
    assert not holds(spot, "G a | G !a", "cycle{1}")
    assert holds(spot, "G (a | !a)", "cycle{1}")
    assert not holds(spot, "G (b -> X b)", "cycle{a}")
    assert not holds(spot, "b | G !b", "cycle{a}")


@pytest.mark.parametrize("name", ["ltl_hand.jsonl", "ltl_verdicts.jsonl"])
def test_agrees_with_the_shared_cases(spot: Spot, name: str) -> None:
    rows = [json.loads(line) for line in (CASES / name).read_text().splitlines()]

    for row in rows:
        try:
            trace = traces.parse(row["trace"])
        except traces.TraceError:
            assert row["verdict"] == "invalid"
            continue
        right = row["verdict"] in ("correct", "exact")
        assert spot.holds(formulas.parse(row["formula"]), trace) is right, row


def test_equivalence_sees_through_known_laws(spot: Spot) -> None:
    laws = [
        ("F a", "1 U a"),
        ("G a", "a W 0"),
        ("a R b", "b W (a & b)"),
        ("a M b", "b U (a & b)"),
        ("a W b", "(a U b) | G a"),
        ("a xor b", "!(a <-> b)"),
        ("X (a U b)", "X a U X b"),
    ]

    for first, second in laws:
        assert spot.equivalent(formulas.parse(first), formulas.parse(second)), first
    assert not spot.equivalent(formulas.parse("F (a & b)"), formulas.parse("F a & F b"))


def test_limit_on_states_depends_on_the_formula_alone(spot: Spot) -> None:
    formula = formulas.parse(" & ".join(f"X {'X ' * n}(a U X b)" for n in range(8)))

    for _ in range(3):
        with pytest.raises(SolverLimit, match="3 states"):
            spot.witness(formula, max_states=3)
        assert spot.witness(formula) is not None


def test_equal_questions_with_other_limits_have_equal_answers(spot: Spot) -> None:
    formula = formulas.parse("(a U (b & X !a)) & G F c & F G !b")

    assert spot.witness(formula, max_states=500) == spot.witness(formula)


@pytest.mark.parametrize("token", ["X", "!", "G"])
def test_deepest_nesting_is_answered(spot: Spot, token: str) -> None:
    formula = Formula((*[token] * (MAX_NODES - 1), "a"))

    assert spot.witness(formula) is not None


@pytest.mark.parametrize("operator", ["U", "W", "R", "M", "&", "->"])
def test_longest_chains_are_answered_or_refused(spot: Spot, operator: str) -> None:
    num = 200 if operator in "WR" else MAX_NODES // 2 - 1  # quadratic for W and R
    right = Formula((*[operator, "a"] * num, "b"))
    left = Formula((*[operator] * num, "a", *"b" * num))

    for formula in (right, left):
        try:
            spot.witness(formula, max_states=200)
        except SolverLimit:
            continue


def test_larger_formula_is_refused(spot: Spot) -> None:
    with pytest.raises(SolverLimit, match=f"{MAX_NODES + 1} nodes"):
        spot.witness(Formula((*["X"] * MAX_NODES, "a")))
    with pytest.raises(SolverLimit):
        spot.holds(Formula(("a",)), Trace((), (Formula((*["!"] * MAX_NODES, "a")),)))


def test_more_eventualities_than_acceptance_sets_are_refused(spot: Spot) -> None:
    # Spot throws at the 33rd acceptance set, which would end this process.
    names = [f"p{n}" for n in range(26, 26 + MAX_PROMISES)]
    chain = "G F a | " + " & X (".join(f"F {name}" for name in names) + ")" * (len(names) - 1)

    with pytest.raises(SolverLimit, match="eventualities"):
        spot.witness(formulas.parse(chain))
    with pytest.raises(SolverLimit, match="eventualities"):
        spot.witness(Formula(("!", *formulas.parse(chain.replace("F", "G"))[0:])))


@pytest.mark.parametrize(
    ("text", "num"),
    [
        ("F a & F a & G b & !G c", 2),
        ("a U (b U c)", 2),
        ("!(a R b) & !(a W b) & (a R b)", 2),
        ("F a <-> G b", 2),
        ("F a xor G b", 2),
        ("F a -> F b", 1),
        ("!(a M !F b)", 1),
    ],
)
def test_eventualities_are_counted_with_their_signs(text: str, num: int) -> None:
    assert spots._num_promises(formulas.parse(text)) == num


@pytest.mark.parametrize("name", ["first_match", "p007", "t", "xor_", "a" * 300, "u_w"])
def test_any_symbol_of_ours_is_a_symbol_of_spots(spot: Spot, name: str) -> None:
    formula = formulas.rename(formulas.parse("!a & X a & G F b"), {"a": name})
    trace = spot.witness(formula)

    assert trace is not None
    assert set(trace.symbols()) == {name, "b"}
    assert spot.holds(formula, trace)


def test_renaming_a_formula_in_order_renames_its_witness(spot: Spot) -> None:
    formula = formulas.parse("(a U X b) & G (b -> X c) & F !c")
    trace = spot.witness(formula)
    names = {"a": "d", "b": "p26", "c": "p100"}

    assert trace is not None
    assert spot.witness(formulas.rename(formula, names)) == trace.renamed(names)


class Flatterer:
    """A Spot that never says no."""

    version = "9.9"
    source = "nowhere"

    def witness(self, formula: Formula, max_states: int = 0) -> Trace | None:
        return traces.parse("cycle{1}")

    def holds(self, formula: Formula, trace: Trace, max_states: int = 0) -> bool:
        return True

    def equivalent(self, first: Formula, second: Formula, max_states: int = 0) -> bool:
        return True


def test_self_test_catches_a_wrong_spot(spot: Spot) -> None:
    assert self_test(spot) == []
    assert len(self_test(Flatterer())) == 10
    with pytest.raises(MissingToolError, match="fails the self-test"):
        spot_discovery._tested(Flatterer())
