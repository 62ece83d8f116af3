"""Promises that every task keeps; a new file under tasks/ is under test at once."""

import pytest
from grammars import passes

from symshift.data.errors import DataError, UsageError
from symshift.data.options import build
from symshift.data.plugins import load_task, plugin_names
from symshift.data.task import Problem, Rejected, Solution
from symshift.data.text import rename_text
from symshift.data.verdict import Verdict
from symshift.data.vocabulary import Window, name_at

WINDOW = Window.first(5)
NEEDS_SPOT = {"ltl"}
TASKS = [
    pytest.param(name, marks=[pytest.mark.spot] if name in NEEDS_SPOT else [])
    for name in plugin_names("tasks")
]


def candidates(task, count=60, seed=0):
    options = build(task.options, {"size": "3-9"})
    stream = task.stream(options, WINDOW)
    drawn = (stream.problem(seed, index) for index in range(count))
    return [problem for problem in drawn if isinstance(problem, Problem)]


def solved(task, count=60):
    for problem in candidates(task, count):
        solution = task.solve(problem)
        if isinstance(solution, Solution):
            yield problem, solution, {"input": problem.input, "target": solution.target}


@pytest.fixture(params=TASKS)
def task(request):
    return load_task(request.param)


def test_the_name_is_the_files_name(task):
    assert load_task(task.name) is task
    assert task.summary
    assert "\n" not in task.summary


def test_a_candidate_is_a_pure_function_of_seed_and_index(task):
    assert candidates(task) == candidates(task)
    assert candidates(task, seed=1) != candidates(task)
    assert len(candidates(task)) > 40


def test_a_candidate_depends_only_on_the_number_of_names_unless_names_matter(task):
    options = build(task.options, {"size": "3-9"})
    here, there = (task.stream(options, window) for window in (WINDOW, Window(5, 9)))
    for index in range(40):
        one, other = here.problem(2, index), there.problem(2, index)
        if task.names_matter:
            other = task.read(rename_text(other.input, dict(zip("fghij", "abcde"))))

        assert one == other


def test_a_stream_tells_the_cells_and_in_advance_only_where_they_come_evenly(task):
    for balance in ("true", "false"):
        options = build(task.options, {"size": "3-9", "balance": balance})
        stream = task.stream(options, WINDOW)
        for index in range(60):
            problem, place = stream.problem(1, index), stream.place(1, index)
            if isinstance(problem, Problem):
                cell = (len(problem.symbols), problem.size)

                assert cell in stream.cells
                assert place == (cell if balance == "true" else None)


def test_a_stream_is_made_once(task):
    options = build(task.options, {"size": "3-9"})

    assert task.stream(options, WINDOW) is task.stream(build(task.options, {"size": "3-9"}), WINDOW)
    assert task.stream(options, WINDOW) is not task.stream(options, Window.first(4))


def test_what_no_candidate_can_satisfy_is_refused(task):
    with pytest.raises(UsageError):
        task.stream(build(task.options, {"num_symbols": "6-7"}), WINDOW)


def test_a_problem_is_what_its_text_says(task):
    for problem in candidates(task):
        again = task.read(problem.input)

        assert again == problem
        assert problem.symbols == tuple(dict.fromkeys(problem.symbols))


def test_renaming_changes_no_canonical_form_unless_names_matter(task):
    for problem in candidates(task):
        names = {s: name_at(25 - at) for at, s in enumerate(problem.symbols)}
        renamed = task.read(rename_text(problem.input, names))

        assert renamed.symbols == tuple(names[s] for s in problem.symbols)
        assert renamed.size == problem.size
        if not task.names_matter:
            assert renamed.canonical_text == problem.canonical_text


def test_the_target_is_exact_and_its_renaming_too(task):
    count = 0
    for problem, solution, row in solved(task):
        names = {s: name_at(30 + at) for at, s in enumerate(problem.symbols)}
        renamed = {key: rename_text(text, names) for key, text in row.items()}
        count += 1

        assert task.check(row, row["target"]).verdict is Verdict.EXACT
        assert task.check(renamed, renamed["target"]).verdict is Verdict.EXACT
        assert task.check(row, f"  {row['target']} \t\n").verdict is Verdict.EXACT
        assert solution.solver
    assert count > 20


def test_shortcuts_are_the_trivial_answers_that_are_right(task):
    for _, solution, row in solved(task):
        right = tuple(
            name
            for name in task.shortcut_names
            if task.check(row, task.shortcut(name, row)).is_right
        )

        assert right == solution.shortcuts
    with pytest.raises(ValueError, match="shortcut="):
        task.shortcut("luck", {"input": "a", "target": "a"})


def test_tokens_of_targets_decode_to_exact_answers(task):
    for problem, _, row in solved(task):
        inputs, targets = task.encode_input(row["input"]), task.encode_target(row["target"])

        assert task.check(row, task.decode(targets)).verdict is Verdict.EXACT
        assert set(inputs) - set(task.fixed_tokens) <= set(problem.symbols)
        assert set(targets) - set(task.fixed_tokens) <= set(problem.symbols)
        paths = task.tree_paths(inputs)
        if paths is not None:
            assert len(paths) == len(inputs)
            assert len(set(paths)) == len(paths)
            assert paths[0] == ()


def test_targets_keep_to_the_grammar_of_answers(task):
    if task.grammar is None:
        pytest.skip("it states none")
    for _, _, row in solved(task):
        tokens = task.encode_target(row["target"])

        assert passes(task.grammar, tokens)
        assert not passes(task.grammar, [*tokens, "&"])


def test_no_sequence_of_tokens_breaks_decoding_or_checking(task):
    tokens = [*task.fixed_tokens, "a", "b", "z"]
    row = {"input": "a", "target": next(solved(task))[2]["target"]}
    for problem, _, given in solved(task):
        row = given
        for at in range(len(tokens)):
            for sequence in ([], tokens[at:], tokens[:at], task.encode_target(row["target"])[at:]):
                text = task.decode(sequence)
                assert task.check(row, text).verdict in Verdict
        if len(problem.symbols) > 2:
            break


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "\x00", "💥", "{}", "}", ";"),
        *("a" * 30_000, "!" * 30_000, "(" * 19_000, "cycle{" * 3_000),
    ],
)
def test_any_text_gets_a_verdict_with_a_reason(task, text):
    row = next(solved(task))[2]
    judgement = task.check(row, text)

    assert not judgement.is_right
    assert judgement.reason
    assert task.explain(row, text)


def test_what_is_no_input_is_refused(task):
    for text in ("", "(((", "💥", "=" * 30_000):
        with pytest.raises(DataError):
            task.read(text)


def test_no_task_rejects_without_a_reason(task):
    for problem in candidates(task, 200):
        outcome = task.solve(problem)
        if isinstance(outcome, Rejected):
            assert outcome.reason


def test_a_null_is_invalid_and_a_row_that_cannot_be_read_is_an_error(task):
    row = next(solved(task))[2]

    assert task.check(row, None).verdict is Verdict.INVALID
    if task.name != "copy":
        with pytest.raises(DataError):
            task.check({**row, "input": "((("}, row["target"])
        with pytest.raises(DataError):
            task.check({**row, "target": "((("}, row["target"])
