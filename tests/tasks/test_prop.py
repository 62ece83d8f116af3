import itertools
import json
from pathlib import Path

import pytest
from boolean_formulas import ASSIGNMENTS, FORMULAS, always_holds, as_sympy, completions, holds
from hypothesis import given

from symshift.data import assignment as assignments
from symshift.data import formula as formulas
from symshift.data.errors import DataError, DisagreementError, UsageError
from symshift.data.formula import Formula
from symshift.data.options import Range
from symshift.data.task import Problem, Rejected
from symshift.data.verdict import Verdict
from symshift.data.vocabulary import Window
from symshift.generators.formulas.identities import reduce
from symshift.solvers.budget import BudgetExceeded
from symshift.solvers.completions import counterexample
from symshift.tasks import prop
from symshift.tasks.prop import TASK, Options

CASES = Path(__file__).parents[1] / "cases" / "prop.jsonl"


def row_of(text):
    return {"input": text, "target": TASK.solve(TASK.read(text)).target}


@pytest.mark.parametrize("case", [*map(json.loads, CASES.read_text().splitlines())], ids=str)
def test_the_cases_by_hand(case):
    row = {"input": case["formula"], "target": "zz=1"}

    assert TASK.check(row, case["assignment"]).verdict == case["verdict"]


@given(FORMULAS, ASSIGNMENTS)
def test_right_means_that_every_completion_satisfies(formula, assignment):
    row = {"input": formulas.show(formula), "target": "zz=1"}
    judgement = TASK.check(row, assignments.show(assignment))

    expected = Verdict.CORRECT if always_holds(formula, assignment) else Verdict.INCORRECT
    assert judgement.verdict is expected
    assert judgement.foreign is not (assignment.keys() <= set(formula))


@given(FORMULAS, ASSIGNMENTS)
def test_a_wrong_answer_is_explained_by_a_completion_that_fails(formula, assignment):
    row = {"input": formulas.show(formula), "target": "zz=1"}
    why = TASK.explain(row, assignments.show(assignment))
    if always_holds(formula, assignment):
        assert why == "every completion satisfies the formula"
        return

    text = why.removeprefix("its completion ").removesuffix(" does not satisfy the formula")
    completion = assignments.parse(text)
    assert completion.items() >= assignment.items()
    assert not holds(formula, completion)


@given(FORMULAS)
def test_shortcuts_are_the_formulas_value_where_all_are_equal(formula):
    solution = TASK.solve(TASK.read(formulas.show(formula)))
    if isinstance(solution, Rejected):
        return
    symbols = formulas.symbols_of(formula)
    expected = {"all-true": True, "all-false": False}

    assert solution.shortcuts == tuple(
        name for name, value in expected.items() if holds(formula, dict.fromkeys(symbols, value))
    )


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("a=0 b=1", "exact"),
        ("  b = 1\n a=0 ", "exact"),
        ("a=0 b=1 a=0", "exact"),
        ("a=1 b=0", "correct"),
        ("a=0 b=1 z=1", "correct"),
        ("a=0", "incorrect"),
        ("", "incorrect"),
        ("z=1", "incorrect"),
        ("a=1 b=1", "incorrect"),
        ("a=0 b=1 b=0", "invalid"),
        ("a=0 b=1 z=0 z=1", "invalid"),
        ("1", "invalid"),
        ("a & !b", "invalid"),
        ("cycle{!a & b}", "invalid"),
        ("a=0, b=1", "invalid"),
        ("answer: a=0 b=1", "invalid"),
        ("a 0 b 1", "invalid"),
        ("a=0 b=1 " * 2_501, "invalid"),
    ],
)
def test_only_right_answers_get_credit(answer, verdict):
    row = row_of("a xor b")
    judgement = TASK.check(row, answer)

    assert row["target"] == "a=0 b=1"
    assert judgement.verdict == verdict
    assert bool(judgement.reason) is (verdict not in ("exact", "correct"))
    assert judgement.foreign is ("z" in answer)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("a xor b -> c", "a=1 b=1"),  # (a xor b) -> c; with one level for all it would be wrong
        ("a | b xor b", "b=0 a=1"),
        ("a <-> b -> c", "a=1 b=0"),
        ("a -> b -> c", "a=0"),
        ("! a & b xor c", "c=1 b=0"),
    ],
)
def test_precedence_is_spots(text, answer):
    assert TASK.check(row_of(text), answer).is_right


@pytest.mark.parametrize(
    ("text", "target"), [("1", ""), ("a", "a=1"), ("!a", "a=0"), ("a | !a", ""), ("!0", "")]
)
def test_constants_units_and_tautologies_have_their_targets(text, target):
    solution = TASK.solve(TASK.read(text))

    assert solution.target == target
    assert TASK.check({"input": text, "target": target}, target).verdict is Verdict.EXACT
    if not target:
        assert solution.shortcuts == ("all-true", "all-false")


def test_tautologies_are_kept_in_the_stream():
    stream = TASK.stream(Options(size=Range(4, 9)), Window.first(2))
    drawn = [stream.problem(0, index) for index in range(150)]
    targets = [TASK.solve(problem) for problem in drawn if isinstance(problem, Problem)]

    assert any(t.target == "" for t in targets if not isinstance(t, Rejected))
    assert any(t.reason == "unsatisfiable" for t in targets if isinstance(t, Rejected))


@pytest.mark.parametrize("text", ["0", "a & !a", "a xor a", "(a <-> b) & (a xor b)"])
def test_an_unsatisfiable_formula_gives_no_row(text):
    assert TASK.solve(TASK.read(text)).reason == "unsatisfiable"


@pytest.mark.parametrize(("text", "lie"), [("a & b", {"a": True}), ("a & b", None), ("a", {})])
def test_a_disagreement_of_the_two_algorithms_stops_the_run(monkeypatch, text, lie):
    monkeypatch.setattr(prop, "minimal_assignment", lambda formula: lie)

    with pytest.raises(DisagreementError, match=f"'{text}'.*report this row"):
        TASK.solve(TASK.read(text))


def test_an_undecided_check_is_a_timeout_and_never_stops_a_run(monkeypatch):
    def exhausted(formula, assignment):
        raise BudgetExceeded

    row = row_of("a | b")
    monkeypatch.setattr(prop, "counterexample", exhausted)

    assert TASK.check(row, "a=1").verdict is Verdict.TIMEOUT
    assert "steps" in TASK.check(row, "a=1").reason
    assert TASK.solve(TASK.read("a | b")).reason == "over the checker's limit"
    assert TASK.solve(TASK.read("a & !a")).reason == "over the checker's limit"


def test_large_symbol_counts_are_solved_and_judged():
    names = [f"p{number}" for number in range(30, 55)]
    row = row_of(" & ".join(f"({a} -> {b})" for a, b in itertools.pairwise(names)))

    assert row["target"] == assignments.show(dict.fromkeys(names[:-1], False))
    assert TASK.check(row, row["target"]).verdict is Verdict.EXACT
    assert TASK.check(row, TASK.shortcut("all-true", row)).verdict is Verdict.CORRECT
    assert TASK.check(row, f"{names[0]}=1").verdict is Verdict.INCORRECT


def test_large_parities_get_a_verdict_in_time():
    names = [f"p{number}" for number in range(30, 60)]
    formula = f"({' xor '.join(names)}) <-> ({' xor '.join(reversed(names))})"

    assert TASK.check({"input": formula, "target": ""}, "").verdict is Verdict.EXACT


def test_candidates_keep_to_the_options():
    options = Options(size=Range(5, 12), num_symbols=Range(2, 3), operators="! & ->")
    stream = TASK.stream(options, Window.first(4))
    for index in range(60):
        problem = stream.problem(7, index)

        assert problem.size in options.size
        assert len(problem.symbols) in options.num_symbols
        assert set(formulas.parse(problem.input)) <= {"!", "&", "->", *problem.symbols}


def test_the_default_operators_are_those_of_the_published_set():
    stream = TASK.stream(Options(size=Range(9, 35)), Window.first(5))
    drawn = [stream.problem(0, index) for index in range(40)]
    tokens = {token for problem in drawn for token in formulas.parse(problem.input)}

    assert tokens == {"!", "&", "|", "<->", "xor", "a", "b", "c", "d", "e"}


@pytest.mark.parametrize("operators", ["X !", "! & U", "G"])
def test_temporal_operators_cannot_be_asked_for(operators):
    with pytest.raises(UsageError, match="temporal: prop takes only 0 1 ! &"):
        Options(operators=operators)


@pytest.mark.parametrize("text", ["X a", "a U b", "G F a"])
def test_temporal_inputs_are_refused(text):
    with pytest.raises(DataError, match="temporal"):
        TASK.read(text)
    with pytest.raises(DataError, match="temporal"):
        TASK.check({"input": text, "target": "a=1"}, "a=1")


@given(FORMULAS)
def test_the_identities_that_shorten_a_formula_keep_its_meaning(formula):
    assert counterexample(Formula(("<->", *formula, *reduce(formula))), {}) is None


@pytest.mark.parametrize(("text", "tokens"), [("a=1 c=0", "a 1 c 0"), ("p26=0", "p26 0"), ("", "")])
def test_assignments_have_the_published_token_form(text, tokens):
    assert TASK.encode_target(text) == tokens.split()
    assert TASK.decode(tokens.split()) == text


@pytest.mark.parametrize("tokens", ["a", "1", "a 1 b", "1 a", "a b", "a 1 0", "a & b 1", "xor 1"])
def test_malformed_tokens_are_shown_as_they_are_and_are_no_answer(tokens):
    assert TASK.decode(tokens.split()) == tokens
    assert TASK.check(row_of("a | !a"), tokens).verdict is Verdict.INVALID


def test_contradictory_tokens_are_invalid():
    text = TASK.decode(["a", "1", "a", "0"])

    assert TASK.check(row_of("a"), text).verdict is Verdict.INVALID


def test_tree_paths_put_the_choice_nearest_to_the_node_first():
    tokens = TASK.encode_input("(a xor b) & !c")

    assert tokens == ["&", "xor", "a", "b", "!", "c"]
    assert TASK.tree_paths(tokens) == [(), (0,), (0, 0), (1, 0), (1,), (0, 1)]


@pytest.mark.parametrize("count", [100, pytest.param(3_000, marks=pytest.mark.slow)])
def test_sympy_agrees_on_rows_of_the_published_shape(count):
    stream = TASK.stream(Options(size=Range(20, 35)), Window.first(5))
    for index in range(count):
        problem = stream.problem(1, index)
        solution = TASK.solve(problem)
        models = sympy_models(formulas.parse(problem.input), problem.symbols)
        if isinstance(solution, Rejected):
            assert not models
            continue
        target = assignments.parse(solution.target)
        open_places = len(problem.symbols) - len(target)

        assert num_completions(models, target) == 2**open_places
        for name in target:
            rest = {other: value for other, value in target.items() if other != name}
            assert num_completions(models, rest) < 2 ** (open_places + 1)


def num_completions(models, assignment):
    return sum(model.items() >= assignment.items() for model in models)


def sympy_models(formula, symbols):
    """Return the models of a formula, each tried in a SymPy expression."""
    from sympy import Symbol, false, true

    expression = as_sympy(formula)
    return [
        values
        for values in completions(symbols, {})
        if expression.xreplace({Symbol(n): true if v else false for n, v in values.items()}) == true
    ]
