"""The promises of solvers/lasso.py, and a stupid twin of it: the meaning of LTL, by definition."""

import collections
import itertools
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from symshift.data import formula as formulas
from symshift.data import trace as traces
from symshift.data.formula import Formula, end_of_operand, symbols_of
from symshift.data.trace import Trace, TraceError
from symshift.solvers import algebra
from symshift.solvers.boolean import satisfiable
from symshift.solvers.budget import Budget, BudgetExceeded
from symshift.solvers.lasso import Outcome, Status, check, counterexample
from symshift.solvers.positions import Positions, bounds_of
from symshift.solvers.spot import SolverLimit
from symshift.solvers.spot_discovery import find_spot
from symshift.solvers.steps import read_steps
from symshift.solvers.violations import Violations

CASES = Path(__file__).parents[1] / "cases"
WORDS = {"satisfied": "correct", "violated": "incorrect", "empty": "invalid"}
BOOLEAN = ("!", "&", "|", "xor", "->", "<->")
EVERY = (*BOOLEAN, "X", "F", "G", "U", "R", "W", "M")
TEMPORAL = ("!", "&", "|", "X", "F", "G", "U", "R", "W", "M", "U", "R", "W", "M")


def random_formula(rng, size, symbols, operators=EVERY):
    if size == 1:
        return Formula((rng.choice(symbols if rng.random() < 0.95 else "01"),))
    one = [token for token in operators if token in "!XFG"]
    two = [token for token in operators if token not in "!XFG"]
    if size == 2 or rng.random() < 0.4:
        return Formula((rng.choice(one), *random_formula(rng, size - 1, symbols, operators)))
    left = rng.randint(1, size - 2)
    first = random_formula(rng, left, symbols, operators)
    second = random_formula(rng, size - 1 - left, symbols, operators)
    return Formula((rng.choice(two), *first, *second))


def random_step(rng, symbols):
    kind = rng.random()
    if kind < 0.3:
        return Formula(("1",))
    if kind < 0.6:
        names = rng.sample(symbols, rng.randint(1, min(3, len(symbols))))
        literals = [token for n in names for token in ([n] if rng.random() < 0.5 else ["!", n])]
        return Formula(("&",) * (len(names) - 1) + tuple(literals))
    return random_formula(rng, rng.randint(1, 6), symbols, BOOLEAN)


def random_pair(rng, max_size=14, num_symbols=5, max_steps=3):
    symbols = "abcde"[: rng.randint(1, num_symbols)]
    operators = rng.choice((EVERY, TEMPORAL))
    formula = random_formula(rng, rng.randint(1, max_size), symbols, operators)
    names = symbols + "f" * (rng.random() < 0.15)
    prefix = [random_step(rng, names) for _ in range(rng.randint(0, max_steps))]
    cycle = [random_step(rng, names) for _ in range(rng.randint(1, max_steps))]
    return formula, Trace(tuple(prefix), tuple(cycle))


def search_alone(formula, trace, max_states=20_000):
    """The verdict of the last pass, whatever the first two say."""
    budget = Budget(50 * max_states)
    steps = read_steps(trace, budget)
    if isinstance(steps, int):
        return Status.EMPTY
    exist = Violations(formula, steps, max_states, budget).exist()
    return Status.VIOLATED if exist else Status.SATISFIED


def where_true(formula, word, loop):
    """The positions of the word word[0] word[1] ... (back to word[loop]) where a formula holds."""
    token, places = formula[0], range(len(word))
    after = [*places[1:], loop]
    if token in "01":
        return set(places if token == "1" else ())
    if len(formula) == 1:
        return {i for i in places if word[i][token]}
    middle = end_of_operand(formula, 1)
    left = where_true(Formula(formula[1:middle]), word, loop)
    if token == "!":
        return set(places) - left
    if token == "X":
        return {i for i in places if after[i] in left}
    if token in "FG":
        paths = {i: {*places[i:], *places[loop:]} for i in places}
        return {i for i in places if (paths[i] & left if token == "F" else paths[i] <= left)}
    right = where_true(Formula(formula[middle:]), word, loop)
    match token:
        case "&":
            return left & right
        case "|":
            return left | right
        case "xor":
            return left ^ right
        case "->":
            return set(places) - left | right
        case "<->":
            return set(places) - (left ^ right)
    # Strong operators hold on a finite path, so they grow from nothing; weak ones shrink from all.
    now = set() if token in "UM" else set(places)
    for _ in range(len(word) + 1):
        later = {i for i in places if after[i] in now}
        now = right | left & later if token in "UW" else right & (left | later)
    return now


def is_model(formula, word, loop):
    return 0 in where_true(formula, word, loop)


def concrete(trace, symbols, turns):
    """All words of a trace whose choices repeat after some turns of its cycle."""
    steps = trace.prefix + trace.cycle * turns
    every = [dict(zip(symbols, bits)) for bits in itertools.product((0, 1), repeat=len(symbols))]
    allowed = []
    for step in steps:
        literals = [
            [t for n, v in letter.items() for t in (("&", n) if v else ("&", "!", n))]
            for letter in every
        ]
        allowed.append(
            [
                letter
                for letter, cube in zip(every, literals)
                if satisfiable(Formula((*cube, *step)))
            ]
        )
    return itertools.product(*allowed)


@pytest.mark.parametrize("name", ["ltl_hand", "ltl_verdicts"])
def test_verdicts_that_others_found_are_ours(name):
    for line in (CASES / f"{name}.jsonl").read_text().splitlines():
        case = json.loads(line)
        formula = formulas.parse(case["formula"])
        try:
            trace = traces.parse(case["trace"])
        except TraceError:
            assert case["verdict"] == "invalid"
            continue
        assert WORDS[check(formula, trace).status] == case["verdict"], case
        status = search_alone(formula, trace)
        assert WORDS[status] == case["verdict"], case


def test_the_checker_agrees_with_the_meaning_of_ltl_on_all_small_words():
    rng = random.Random(1)
    seen = collections.Counter()
    for _ in range(500):
        formula, trace = random_pair(rng, max_size=7, num_symbols=2, max_steps=2)
        symbols = "".join(dict.fromkeys([*symbols_of(formula), *trace.symbols()]))
        turns = 2 if len(symbols) < 3 else 1
        words = list(itertools.islice(concrete(trace, symbols, turns), 300))
        loop = len(trace.prefix)
        fails = next((word for word in words if not is_model(formula, word, loop)), None)
        status = check(formula, trace).status
        seen[status] += 1
        assert (status is Status.EMPTY) == (not words), (formula, trace)
        assert search_alone(formula, trace) is status, (formula, trace)
        if fails:
            assert status is Status.VIOLATED, (formula, trace, fails)
        elif status is Status.VIOLATED:
            word = counterexample(formula, trace)
            assert word is not None
            letters = next(concrete(word, symbols, 1))
            assert not is_model(formula, letters, len(word.prefix)), (formula, trace, word)
    assert min(seen[s] for s in (Status.SATISFIED, Status.VIOLATED, Status.EMPTY)) >= 20


def test_a_counterexample_lies_in_the_trace_and_violates_the_formula_whatever_it_leaves_open():
    rng = random.Random(2)
    num_searched = 0
    for _ in range(600):
        formula, trace = random_pair(rng)
        outcome, word = check(formula, trace), counterexample(formula, trace)
        assert (word is not None) == (outcome.status is Status.VIOLATED)
        if word is None:
            continue
        num_searched += outcome.num_states > 0
        assert check(Formula(("!", *formula)), word).status is Status.SATISFIED
        start, num = len(trace.prefix), len(trace.steps)
        place = 0
        for at, step in enumerate(word.steps):
            if at == len(word.prefix):
                entry = place
            assert not satisfiable(Formula(("&", *step, "!", *trace.steps[place])))
            place = place + 1 if place + 1 < num else start
        assert place == entry
    assert num_searched > 40


def test_the_search_agrees_with_the_passes_before_it():
    rng = random.Random(3)
    for _ in range(600):
        formula, trace = random_pair(rng, max_size=12)
        assert search_alone(formula, trace) is check(formula, trace).status, (formula, trace)


def test_the_search_is_the_same_over_truth_tables_and_decision_diagrams(monkeypatch):
    rng = random.Random(4)
    pairs = [random_pair(rng) for _ in range(300)]
    tables = [check(*pair) for pair in pairs]
    monkeypatch.setattr(algebra, "MAX_TABLE_SYMBOLS", 0)

    assert [check(*pair).status for pair in pairs] == [outcome.status for outcome in tables]


def test_the_first_pass_is_sound_and_exact_on_determined_words():
    rng = random.Random(5)
    for _ in range(500):
        formula = random_formula(rng, rng.randint(1, 14), "abc")
        num_prefix, num_cycle = rng.randint(0, 3), rng.randint(1, 4)
        word = [{n: rng.random() < 0.5 for n in "abc"} for _ in range(num_prefix + num_cycle)]
        positions = Positions(num_prefix, num_cycle)
        true = {n: sum(positions.bit(i) for i, at in enumerate(word) if at[n]) for n in "abc"}
        expected = sum(map(positions.bit, where_true(formula, word, num_prefix)))

        exact = bounds_of(formula, positions, {n: (t, t) for n, t in true.items()})
        low, up = bounds_of(formula, positions, {"a": (true["a"], true["a"])})
        assert exact == (expected, expected)
        assert low & ~expected == 0
        assert expected & ~up == 0


def test_an_empty_trace_is_never_right_and_names_its_step():
    for text, step in [("a; b & !b; cycle{1}", 1), ("cycle{a; (a | b) & !a & !b; 0}", 1)]:
        outcome = check(formulas.parse("1"), traces.parse(text))
        assert outcome == Outcome(Status.EMPTY, step=step)
        assert counterexample(formulas.parse("0"), traces.parse(text)) is None


def test_foreign_symbols_matter_only_through_contradictions():
    formula = formulas.parse("G a")

    assert check(formula, traces.parse("cycle{a & z & (x | !y)}")).status is Status.SATISFIED
    assert check(formula, traces.parse("cycle{(z | a) & (!z | a)}")).status is Status.SATISFIED
    assert check(formula, traces.parse("cycle{a & z & !z}")).status is Status.EMPTY


# Negations whose words are easily lost: their eventualities are met on different loops through one
# state, only on an edge that seems to need no less than another, or after a detour that fails.
EASILY_LOST = [
    ("G (F a & X F a & F b & X F b)", "cycle{a xor b}"),
    (
        "G (F a & X F a & F b & X F b & F c & X F c)",
        "cycle{a & !b & !c | b & !a & !c | c & !b & !a}",
    ),
    ("G (F a & X F a & ((!a & F b) | F d))", "cycle{1}"),
    ("G (F a & X F a & (F d | (!a & F b)))", "cycle{1}"),
    ("(X G (d -> X e) & X G !e & X F d) | (f & X G !e & X F d)", "cycle{1}"),
    ("(f & X G !e & X F d) | (X G (d -> X e) & X G !e & X F d)", "cycle{1}"),
    ("G F (a & X !a) & G (a -> X X b) & G F !b", "1; cycle{a | b; c}"),
]


@pytest.mark.parametrize(("negation", "text"), EASILY_LOST)
def test_words_that_are_easily_lost_are_found(negation, text):
    formula, trace = Formula(("!", *formulas.parse(negation))), traces.parse(text)
    violations = Violations(formula, read_steps(trace, Budget(9_999)), 999, Budget(99_999))

    assert violations.exist()
    assert check(formulas.parse(negation), violations.example()).status is Status.SATISFIED


HARD = "!(" + " & ".join(f"G F p{i} & G F !p{i}" for i in range(12)) + ") | G F (p0 & X F !p1)"


def test_a_budget_that_runs_out_is_an_outcome_and_the_same_each_time():
    formula, trace = formulas.parse(HARD), traces.parse("cycle{1}")

    assert {check(formula, trace, max_states=500) for _ in range(2)} == {Outcome(Status.EXHAUSTED)}
    with pytest.raises(BudgetExceeded):
        counterexample(formula, trace, max_states=500)


def test_one_state_more_than_the_budget_is_exhausted_and_not_wrong():
    formula, trace = (
        formulas.parse("G F a & G F !a -> F (a & X F !a)"),
        traces.parse("cycle{1; a | b}"),
    )
    needed = check(formula, trace)

    assert needed.status is Status.SATISFIED
    assert needed.num_states > 1
    assert check(formula, trace, max_states=needed.num_states).status is Status.SATISFIED
    less = check(formula, trace, max_states=needed.num_states - 1)
    assert less.status is Status.EXHAUSTED


LONG = {
    "negations": ("!" * 19_999 + "a", "cycle{a}"),
    "X": ("X" * 19_999 + "a", "cycle{a | b; 1}"),
    "GF": ("GF" * 9_999 + "a", "cycle{1; a | b}"),
    "mixed": ("FXGX" * 4_999 + "a", "a | b;" * 1_500 + "cycle{" + "b;" * 1_500 + "1}"),
    "right U": (" U ".join(["a", "b"] * 2_400), "cycle{a | b}"),
    "left R": ("(" * 2_500 + "a" + " R b)" * 2_500, "cycle{a | b}"),
    "left xor": ("(" * 2_000 + "X a" + " xor b)" * 2_000, "cycle{a | b}"),
    "right W": ("(a W X" * 2_500 + "b" + ")" * 2_500, "cycle{a | b}"),
    "many symbols": (" & ".join(f"G F p{i}" for i in range(1_200)), "cycle{p1 | p2}"),
    "many choices": (" | ".join(f"G p{i}" for i in range(1_200)), "cycle{p1 | p2}"),
    "long trace": ("G F a | G F !b", "cycle{" + ";".join(["a | b"] * 3_000) + "}"),
    "many labels": ("G F a", "cycle{" + ";".join(f"p{i} | p{i + 1}" for i in range(1_400)) + "}"),
    "long label": ("G F p7", "cycle{" + " | ".join(f"p{i}" for i in range(2_500)) + "}"),
}


@pytest.mark.parametrize("name", LONG)
def test_hostile_texts_end_with_a_verdict_or_an_exhausted_budget(name):
    formula, trace = map(str, LONG[name])
    outcome = check(formulas.parse(formula), traces.parse(trace), max_states=1_000)

    assert outcome.status is not Status.EMPTY


def test_verdicts_and_words_do_not_depend_on_the_hash_seed():
    program = (
        "from symshift.data import formula as f, trace as t\n"
        "from symshift.solvers.lasso import check, counterexample\n"
        "for a, b in [('F G a | G F b | (c U d)', '1; cycle{a | b; c <-> d | e}'),\n"
        "             ('G (a -> F (b & c & d)) | F G (e xor f)', 'cycle{1; a & (b | g)}')]:\n"
        "    w = counterexample(f.parse(a), t.parse(b))\n"
        "    print(check(f.parse(a), t.parse(b)), t.show(w))\n"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }

    assert len(printed) == 1
    assert printed.pop().count("violated") == 2


def disagreements_with_spot(seed, num_pairs, max_size):
    """Ask both about random pairs; also count what the search had to decide."""
    spot = find_spot()
    rng = random.Random(seed)
    wrong, num_searched, num_asked = [], 0, 0
    for _ in range(num_pairs):
        formula, trace = random_pair(rng, max_size=max_size)
        try:
            expected = spot.holds(formula, trace)
        except SolverLimit:
            continue
        num_asked += 1
        outcome = check(formula, trace)
        num_searched += outcome.num_states > 0
        right = {Status.SATISFIED} if expected else {Status.VIOLATED, Status.EMPTY}
        if outcome.status not in right or search_alone(formula, trace) is not outcome.status:
            wrong.append((formulas.show(formula), traces.show(trace), outcome, expected))
    return wrong, num_searched, num_asked


@pytest.mark.spot
def test_spot_agrees_on_random_pairs():
    wrong, num_searched, num_asked = disagreements_with_spot(6, 500, 14)

    assert wrong == []
    assert num_searched > 60
    assert num_asked > 490


@pytest.mark.slow
@pytest.mark.spot
def test_spot_agrees_on_many_random_pairs_over_all_operators():
    for seed, max_size in [(7, 8), (8, 14), (9, 20)]:
        wrong, num_searched, num_asked = disagreements_with_spot(seed, 8_000, max_size)

        assert wrong == []
        assert num_searched > 1_000
        assert num_asked > 7_900
