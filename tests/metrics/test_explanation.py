import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from symshift.cli import cli
from symshift.data import console
from symshift.data.dataset import Dataset, open_dataset
from symshift.data.plugins import load_task
from symshift.metrics.explanation import Explanation, explain_row
from symshift.solvers.budget import BudgetExceeded

Row = dict[str, Any]
SPOT = pytest.mark.spot
TASKS = ("copy", "horn", "prop", pytest.param("ltl", marks=SPOT))


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Dataset]:
    """Return the maker of a small generated data set of a task, which is made once."""
    folder = tmp_path_factory.mktemp("made")

    def made(task: str) -> Dataset:
        out = folder / task
        if not out.exists():
            wishes = ["--test", "12", "--symbols", "4", "--workers", "1"]
            assert console.run(cli, ["generate", task, str(out), *wishes]) == 0
        return open_dataset(out)

    return made


@pytest.fixture
def explained(dataset: Callable[[str], Dataset], tmp_path: Path) -> Callable[..., Explanation]:
    """Return what explains an answer to a row of a task: the first row that is wanted."""

    def explain(
        task: str,
        answer: Callable[[Row], Any],
        wanted: Callable[[Row], bool] = lambda row: True,
    ) -> Explanation:
        made = dataset(task)
        row = next(dict(row) for row in made.rows("test") if wanted(dict(row)))
        path = tmp_path / "p.jsonl"
        given = {"id": row["id"], "prediction": answer(row)}
        path.write_text(json.dumps(given) + "\n" if given["prediction"] != "(absent)" else "")
        return explain_row(made, "test", path, load_task(task), row["id"])

    return explain


def target(row: Row) -> str:
    return str(row["target"])


def flipped(row: Row) -> str:
    return "false" if row["label"] else "true"


def is_hard(row: Row) -> bool:
    return not row["shortcuts"]


@pytest.mark.parametrize("task", TASKS)
def test_a_right_answer_says_what_makes_it_right(
    explained: Callable[..., Explanation], task: str
) -> None:
    found = explained(task, target)

    assert (found.verdict, found.prediction) == ("exact", found.target)
    expected = {
        "copy": "every symbol is the same",
        "horn": "the answer is right; its proof is ",
        "ltl": "every word of the trace satisfies the formula",
        "prop": "every completion satisfies the formula",
    }
    assert found.why.startswith(expected[task])


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    ("answer", "verdict", "why"),
    [
        ("(absent)", "missing", "no prediction"),
        (None, "invalid", "the prediction is null"),
        (7, "invalid", "the prediction is a number, not a text"),
        ([], "invalid", "the list of samples is empty"),
        ("x" * 200_001, "invalid", "text of 200001 characters: at most "),
    ],
)
def test_what_is_no_answer_says_why_in_every_task(
    explained: Callable[..., Explanation], task: str, answer: Any, verdict: str, why: str
) -> None:
    found = explained(task, lambda row: answer)

    assert found.verdict == verdict
    assert found.why.startswith(why)


@pytest.mark.parametrize(
    ("task", "answer", "verdict", "why"),
    [
        ("copy", lambda row: target(row)[:-2], "incorrect", r"symbol \d+ \('.'\) is missing: "),
        ("copy", lambda row: target(row) + " a", "incorrect", r"symbol \d+ \('a'\) is behind the"),
        ("copy", lambda row: "zz" + target(row)[1:], "incorrect", r"symbol 0 is 'zz', not '.'; .*"),
        ("copy", lambda row: target(row) + " ?", "invalid", r"token \d+ \('\?'\) is no symbol"),
        ("horn", flipped, "incorrect", r"the query . is (not )?derivable.*; its proof is "),
        ("horn", lambda row: "a => b; " + flipped(row), "incorrect", ".* broken: step 1 'a => b'"),
        ("horn", lambda row: "zz -> a; false", None, ".* step 1 `zz -> a`: .* the input lacks$"),
        ("horn", lambda row: "yes", "invalid", "it ends with 'yes', not with `true` or `false`"),
        ("prop", lambda row: "a=1 a=0", "invalid", "a=0 and a=1 contradict each other"),
        ("prop", lambda row: "a=2", "invalid", "'a=2' at position 0 does not start with a literal"),
        pytest.param("ltl", lambda row: "cycle{", "invalid", "cycle{ is never closed", marks=SPOT),
        pytest.param(
            "ltl", lambda row: "1; cycle{a & !a}", "invalid", "step 1 can never hold", marks=SPOT
        ),
        pytest.param("ltl", lambda row: "a; b", "invalid", "no cycle{...} at the end", marks=SPOT),
    ],
)
def test_an_answer_that_fails_is_told_the_first_place_where_it_does(
    explained: Callable[..., Explanation],
    task: str,
    answer: Callable[[Row], str],
    verdict: str | None,
    why: str,
) -> None:
    found = explained(task, answer)

    assert found.verdict == (verdict or found.verdict)
    assert re.match(why.replace("{...}", r"\{...\}"), found.why), found.why


def test_a_wrong_assignment_is_told_a_completion_that_fails(
    explained: Callable[..., Explanation],
) -> None:
    found = explained("prop", lambda row: "zz=1", lambda row: row["target"] != "")

    assert found.verdict == "incorrect"
    said = re.fullmatch(
        r"its completion (.*) does not satisfy the formula; "
        "the answer uses symbols that the input lacks",
        found.why,
    )
    assert said is not None
    row = {"input": found.input, "target": found.target}
    assert load_task("prop").check(row, said[1]).verdict == "incorrect"


@SPOT
def test_a_wrong_trace_is_told_a_word_of_its_own_that_fails(
    explained: Callable[..., Explanation],
) -> None:
    found = explained("ltl", lambda row: "cycle{a; !a}", is_hard)

    assert found.verdict == "incorrect"
    said = re.match(r"the word (.*) is one of the trace's and violates the formula", found.why)
    assert said is not None
    row = {"input": found.input, "target": found.target}
    assert load_task("ltl").check(row, said[1]).verdict == "incorrect"


@SPOT
def test_a_word_that_is_too_long_to_be_found_is_said_to_be(
    explained: Callable[..., Explanation], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: Any) -> None:
        raise BudgetExceeded("more than 20000 states")

    monkeypatch.setattr("symshift.solvers.lasso.counterexample", refuse)
    found = explained("ltl", lambda row: "cycle{a; !a}", is_hard)
    assert found.why.startswith("a word of the trace violates it; none is shown: more than 20000")


def test_no_text_is_not_shown_as_one(explained: Callable[..., Explanation]) -> None:
    shown = {
        "(none)": None,
        "None": "None",
        '""': "",
        r'"a\nb"': "a\nb",
        '" a"': " a",
        "a  (the first of 2 samples, which counts)": ["a", "b"],
        "a" * 2_000 + "... (3000 characters)": "a" * 3_000,
    }
    for text, answer in shown.items():
        found = explained("copy", lambda row, answer=answer: answer)
        assert f"\nprediction  {text}\nverdict " in found.to_text()


def test_the_command_explains_and_refuses_an_unknown_row(
    dataset: Callable[[str], Dataset], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made, path = dataset("copy"), tmp_path / "p.csv"
    ids = made.columns("test", ["id"])["id"]
    path.write_text(f"id,prediction\n{ids[1]},?\n")
    arguments = ["score", str(made.path), str(path), "--explain"]

    assert console.run(cli, [*arguments, ids[1]]) == 0
    assert "why         token 0 ('?') is no symbol" in capsys.readouterr().out
    assert console.run(cli, [*arguments, ids[1], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["num_samples"] == 1
    assert console.run(cli, [*arguments, "copy-0"]) == 2
    assert "no test row has the id 'copy-0'" in capsys.readouterr().err
