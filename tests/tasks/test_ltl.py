import json
from functools import partial
from pathlib import Path

import pytest

from symshift.data.errors import DisagreementError
from symshift.data.verdict import Verdict
from symshift.tasks import ltl
from symshift.tasks.ltl import TASK

CASES = Path(__file__).parents[1] / "cases"


def lines(name):
    return [json.loads(line) for line in (CASES / name).read_text().splitlines()]


@pytest.mark.parametrize("case", lines("ltl_hand.jsonl"), ids=str)
def test_the_cases_by_hand(case):
    row = {"input": case["formula"], "target": "cycle{zz}"}

    assert TASK.check(row, case["trace"]).verdict == case["verdict"]


def test_the_verdicts_of_spot():
    for case in lines("ltl_verdicts.jsonl"):
        row = {"input": case["formula"], "target": "zz; zz; zz; zz; zz; zz; cycle{zz}"}

        assert TASK.check(row, case["trace"]).verdict == case["verdict"], case


@pytest.mark.parametrize(
    ("target", "answer", "verdict"),
    [
        ("a; cycle{b}", " a ;\tcycle{ b }", "exact"),
        ("a & b; cycle{b}", "b & a; cycle{b}", "exact"),
        ("a; cycle{b}", "!!a; cycle{b}", "exact"),
        ("a; cycle{b}", "!!(a); cycle{b | b}", "exact"),
        ("a; cycle{b}", "a; cycle{b; b}", "correct"),
        ("a; cycle{b}", "cycle{b}", "correct"),
        ("a; cycle{b}", "a; b; cycle{b}", "correct"),
        ("a; cycle{b}", "a; cycle{b & z}", "correct"),
        ("a; cycle{b}", "cycle{a}", "incorrect"),
        ("a; cycle{b}", "cycle{a & z & !z}", "invalid"),
        ("a; cycle{b}", "{0}", "invalid"),
    ],
)
def test_exact_means_equal_step_by_step(target, answer, verdict):
    assert TASK.check({"input": "a U b", "target": target}, answer).verdict == verdict


def test_foreign_symbols_are_noted_and_change_nothing():
    judgement = TASK.check({"input": "F a", "target": "cycle{a}"}, "cycle{a & q}")

    assert judgement.verdict is Verdict.CORRECT
    assert judgement.foreign


def test_a_wrong_trace_is_explained_by_a_word_of_its_own():
    row = {"input": "G a | G !a", "target": "cycle{a}"}
    text = TASK.explain(row, "cycle{1}")
    word = text.removeprefix("the word ").partition(" is one")[0]

    assert TASK.check(row, word).verdict is Verdict.INCORRECT


def test_a_finite_trace_is_told_about_lassos():
    assert "LTLf" in TASK.check({"input": "a U b", "target": "cycle{b}"}, "a; b").reason


def test_a_check_over_its_budget_times_out_by_states_not_by_seconds(monkeypatch):
    monkeypatch.setattr(ltl.lasso, "check", partial(ltl.lasso.check, max_states=1))
    row = {"input": "G (a -> F b) | F G (b xor X a)", "target": "cycle{0}"}
    judgement = TASK.check(row, "cycle{1; a | b; 1}")

    assert judgement.verdict is Verdict.TIMEOUT
    assert "20000 checker states" in judgement.reason


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("a; cycle{b}", "a ; { b }"),
        ("cycle{a & !b; 1}", "{ & a ! b ; 1 }"),
        ("a; b; cycle{1}", "a ; b ; { 1 }"),
    ],
)
def test_traces_have_the_published_token_form(text, tokens):
    assert TASK.encode_target(text) == tokens.split()
    assert TASK.decode(tokens.split()) == text


@pytest.mark.parametrize(
    "tokens",
    [
        *("a { b }", "a ; b ; { }", "{ b", "b }", "{ X b }", "{ b } b", "{ & b }", "{ b ; }"),
        *("{ { b }", "a ; ; { b }", "; { b }", "{ b b }"),
    ],
)
def test_malformed_tokens_are_shown_as_they_are(tokens):
    assert TASK.decode(tokens.split()) == tokens


def test_tree_paths_are_those_of_the_published_example():
    # a U b & X c in Polish order; nearest choice first: "", 0, 00, 10, 1, 01.
    tokens = ["&", "U", "a", "b", "X", "c"]

    assert TASK.tree_paths(tokens) == [(), (0,), (0, 0), (1, 0), (1,), (0, 1)]


@pytest.mark.spot
def test_a_disagreement_of_the_two_checkers_stops_the_run(monkeypatch):
    class Liar:
        version = "0"

        def witness(self, formula):
            return ltl.traces.parse("cycle{!a}")

    monkeypatch.setattr(ltl, "find_spot", Liar)
    with pytest.raises(DisagreementError, match="'G a'"):
        TASK.solve(TASK.read("G a"))


def test_an_unsatisfiable_formula_gives_no_row(monkeypatch):
    class Spot:
        version = "0"

        def witness(self, formula):
            return None

    monkeypatch.setattr(ltl, "find_spot", Spot)

    assert TASK.solve(TASK.read("a & !a")).reason == "unsatisfiable"
