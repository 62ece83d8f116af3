import json
from pathlib import Path

import pytest
from horn_theories import theories
from hypothesis import given
from hypothesis import strategies as st

from symshift.data.errors import DataError, DisagreementError
from symshift.data.options import Range
from symshift.data.task import Problem, Solution
from symshift.data.text import rename_text, rename_values
from symshift.data.theory import MAX_TEXT, Theory
from symshift.data.vocabulary import Window
from symshift.solvers import chaining
from symshift.solvers.fixpoint import rounds_by_fixpoint
from symshift.tasks.horn import TASK, Options

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases/horn.jsonl").read_text().splitlines()
]
INPUT = "facts: a, b; rules: c -> d, a & b -> c, b -> e; query: d"
TARGET = "a & b -> c; b -> e; c -> d; true"
ROW = {"input": INPUT, "target": TARGET}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["input"])
def test_cases_by_hand(case):
    solution = TASK.solve(TASK.read(case["input"]))
    row = {"input": case["input"], "target": solution.target}

    assert solution.extra["label"] is case["label"]
    assert solution.extra["depth"] == case["depth"]
    for last in ("true", "false"):
        assert TASK.check(row, last).is_right is (last == str(case["label"]).lower())


@pytest.mark.parametrize(
    ("answer", "verdict", "proof", "reason"),
    [
        (TARGET, "exact", "valid", "step 2 `b -> e` is not needed"),
        (" b&a -> c ;b -> e; c->d;true\n", "exact", "valid", ""),
        ("a & b -> c; c -> d; true", "correct", "minimal", ""),
        ("a & b -> c; c -> d; b -> e; true", "correct", "valid", ""),
        ("true", "correct", "absent", "no steps"),
        ("c -> d; true", "correct", "broken", "step 1 `c -> d`: c is not derived before it"),
        ("I think so; true", "correct", "broken", "step 1 'I think so': it is no rule"),
        ("z -> d; true", "correct", "broken", "the problem has no such rule"),
        ("a & b -> c; true", "correct", "broken", "step 2, the answer `true`"),
        ("false", "incorrect", "absent", ""),
        ("a & b -> c; b -> e; c -> d; false", "incorrect", "broken", "step 4, the answer"),
        ("", "invalid", "absent", "ends with ''"),
        ("True", "invalid", "absent", "ends with 'True'"),
        ("true;", "invalid", "absent", "ends with ''"),
        ("true or false", "invalid", "absent", "ends with 'true or false'"),
        ("a -> " * MAX_TEXT, "invalid", "absent", "at most"),
    ],
)
def test_an_answer_gets_a_verdict_and_its_proof_another(answer, verdict, proof, reason):
    judgement = TASK.check(ROW, answer)

    assert judgement.verdict == verdict
    assert judgement.proof == proof
    assert reason in judgement.proof_reason


def test_a_row_is_judged_by_its_problem_and_not_by_its_target():
    row = {"input": INPUT, "target": "a & b -> c; c -> d; false"}

    assert not TASK.check(row, row["target"]).is_right
    assert TASK.check(row, "true").verdict == "correct"


def test_an_answer_against_a_wrong_target_is_not_the_same():
    row = {"input": "facts: a; rules: a -> b; query: b", "target": "false"}
    assert TASK.check(row, "true").verdict == "correct"


def test_foreign_symbols_are_noted_and_decide_nothing():
    assert TASK.check(ROW, "z -> d; true").foreign
    assert not TASK.check(ROW, "b -> e; true").foreign
    assert TASK.check(ROW, None).proof == "absent"


def test_an_explanation_names_the_first_bad_step():
    assert TASK.explain(ROW, "b -> e; c -> d; true") == (
        "the answer is right; its proof is broken: step 2 `c -> d`: c is not derived before it"
    )
    assert "derivable, in round 2" in TASK.explain(ROW, "false")
    assert TASK.explain(ROW, "a & b -> c; c -> d; true").endswith("its proof is minimal")


@pytest.mark.parametrize(
    ("query", "chain", "target"),
    [
        ("d", "closure", TARGET),
        ("d", "minimal", "a & b -> c; c -> d; true"),
        ("d", "answer", "true"),
        ("a", "closure", "a & b -> c; b -> e; c -> d; true"),
        ("a", "minimal", "true"),
        ("f", "closure", "a & b -> c; b -> e; c -> d; false"),
        ("f", "minimal", "a & b -> c; b -> e; c -> d; false"),
        ("f", "answer", "false"),
    ],
)
def test_a_target_has_the_chain_that_is_asked_for(query, chain, target):
    text = INPUT.replace("query: d", f"query: {query}")
    problem = Problem(text, (), 0, "", form=chain)

    assert TASK.solve(problem).target == target


def test_columns_say_what_the_problem_is():
    solution = TASK.solve(TASK.read(INPUT))

    assert solution.extra == {
        "facts": ["a", "b"],
        "rules": ["c -> d", "a & b -> c", "b -> e"],
        "query": "d",
        "label": True,
        "depth": 2,
        "closure_depth": 2,
        "proof": ["a & b -> c", "c -> d"],
    }
    assert set(solution.extra) == set(TASK.extra_columns)
    assert TASK.solve(TASK.read(INPUT.replace("y: d", "y: f"))).extra["depth"] is None


@given(theories(), st.permutations("abcdefg"))
def test_the_solution_of_a_renamed_problem_is_the_renamed_solution(theory, order):
    names = dict(zip("abcdefg", order))
    problem, renamed = (TASK.read(text) for text in (str(theory), rename_text(str(theory), names)))
    solution, other = TASK.solve(problem), TASK.solve(renamed)

    assert other.target == rename_text(solution.target, names)
    assert other.extra == rename_values(solution.extra, names)
    assert other.shortcuts == solution.shortcuts
    assert renamed.symbols == tuple(names[symbol] for symbol in problem.symbols)
    assert renamed.canonical_text == problem.canonical_text


@given(theories(), st.randoms(use_true_random=False))
def test_the_order_of_the_text_changes_neither_identity_nor_label_nor_depths(theory, rng):
    shuffled = Theory(
        tuple(rng.sample(theory.facts, len(theory.facts))),
        tuple(
            rule._replace(body=tuple(rng.sample(rule.body, len(rule.body))))
            for rule in rng.sample(theory.rules, len(theory.rules))
        ),
        theory.query,
    )
    one, other = TASK.read(str(theory)), TASK.read(str(shuffled))

    assert one.canonical_text == other.canonical_text
    assert one.decides_split == other.decides_split
    for column in ("label", "depth", "closure_depth"):
        assert TASK.solve(one).extra[column] == TASK.solve(other).extra[column]


def test_the_shortcut_looks_at_facts_beside_the_query():
    for text, answer in (
        ("facts: a; rules: a & x -> d; query: d", "true"),
        ("facts: d; rules: ; query: d", "true"),
        ("facts: a; rules: a -> b, b -> d; query: d", "false"),
    ):
        assert TASK.shortcut("adjacent-fact", {"input": text}) == answer


def test_hard_rows_have_both_answers():
    options = Options(decorrelate=True)
    stream = TASK.stream(options, Window.first(30))
    hard = [
        solution.extra["label"]
        for index in range(300)
        for problem in [stream.problem(0, index)]
        for solution in [TASK.solve(problem)]
        if isinstance(solution, Solution) and not solution.shortcuts
    ]

    assert 30 < len(hard) < 150
    assert 0.3 < sum(hard) / len(hard) < 0.7


def test_solvers_that_disagree_stop_the_run(monkeypatch):
    def without_last(theory):
        return dict(list(rounds_by_fixpoint(theory).items())[:-1])

    monkeypatch.setattr("symshift.tasks.horn.rounds_by_fixpoint", without_last)
    with pytest.raises(DisagreementError, match="please report this row"):
        TASK.solve(TASK.read(INPUT))


def test_a_proof_that_the_checker_refuses_stops_the_run(monkeypatch):
    monkeypatch.setattr(chaining.Closure, "proof", lambda self, query: self.steps)
    with pytest.raises(DisagreementError, match="the checker says valid"):
        TASK.solve(TASK.read(INPUT))


def test_too_symmetric_problems_are_refused_with_the_limit():
    rules = ", ".join(f"x{n} -> y{n}" for n in range(250))
    with pytest.raises(DataError, match="more than"):
        TASK.read(f"facts: ; rules: {rules}; query: x0")


def test_tokens_are_those_of_the_text():
    tokens = TASK.encode_input("facts: ; rules: a & p30 -> b; query: b")

    assert " ".join(tokens) == "facts: ; rules: a & p30 -> b ; query: b"
    assert TASK.decode(TASK.encode_target(TARGET)) == TARGET


def test_problems_of_three_predicates_can_be_asked_for():
    stream = TASK.stream(Options(num_symbols=Range(3, 3)), Window.first(3))

    assert sum(isinstance(stream.problem(0, index), Problem) for index in range(50)) > 40


@pytest.mark.parametrize(("num_names", "deepest"), [(4, 1), (5, 1), (6, 1), (8, 2), (30, 6)])
def test_some_queries_take_a_step_unless_another_depth_is_asked_for(num_names, deepest):
    options = Options(sampler="lp", num_symbols=Range(4, num_names))
    stream = TASK.stream(options, Window(0, num_names))
    depths = {value for even in stream.even if even.columns == ("depth",) for value in even.values}
    assert depths == {(depth,) for depth in range(deepest + 1)}
