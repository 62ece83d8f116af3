"""What score, compare, submit and leaderboard read from, and where they write."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from exchange_files import copies

from symshift.cli import cli
from symshift.data import console
from symshift.data.dataset import open_dataset
from symshift.metrics.result import Result
from symshift.metrics.site import write_site

Run = Callable[..., int]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder, to work in, with a data set `set`, answers `mine.jsonl` and a result."""
    dataset = open_dataset(copies(tmp_path, test=["b a a", "c b a c", "b"]))
    lines = [json.dumps({"id": r["id"], "prediction": r["target"]}) for r in dataset.rows("test")]
    (tmp_path / "mine.jsonl").write_text("\n".join(lines))
    (tmp_path / "mine.jsonl.meta.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    assert run("score", "set", "mine.jsonl", "-o", "r.json") == 0
    return tmp_path


def run(*arguments: Any) -> int:
    return console.run(cli, list(map(str, arguments)))


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "command",
    [
        ("score", "set", "PIPE"),
        ("score", "set", "PIPE", "--explain", "x"),
        ("submit", "r.json", "set", "PIPE"),
        ("compare", "PIPE", "r.json"),
    ],
)
def test_a_pipe_is_refused_with_the_remedy(
    folder: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    capsys.readouterr()
    reading, writing = os.pipe()
    os.close(writing)
    try:
        assert run(*(part.replace("PIPE", f"/dev/fd/{reading}") for part in command)) == 2
    finally:
        os.close(reading)

    assert "write it to a file first" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text"),
    [("e.jsonl", ""), ("e.csv", "id,prediction\n"), ("e.json", '{"eval": {}, "samples": []}')],
)
def test_a_file_without_predictions_is_scored_and_said(
    folder: Path, caplog: pytest.LogCaptureFixture, name: str, text: str
) -> None:
    Path(name).write_text(text)

    assert run("score", "set", name, "-o", "e-result.json") == 0
    assert caplog.messages == [f"no predictions in {name}"]
    assert json.loads(Path("e-result.json").read_text())["counts"]["missing"] == 3


@pytest.mark.parametrize(
    "written",
    [
        ("-o", "mine.jsonl.meta.json"),
        ("-o", "mine.json", "--predictions", "mine.rows.parquet"),
        ("--problems", "mine.jsonl.meta.json"),
        ("--problems", "mine.meta.json"),
        ("--problems", "new.json", "-o", "new.json"),
        ("--problems", "new.rows.parquet", "-o", "new.json"),
        ("--grid", "new.svg", "--problems", "./new.svg"),
        ("-o", "set"),
    ],
)
def test_no_output_of_scoring_is_written_over_an_input_or_another(
    folder: Path, capsys: pytest.CaptureFixture[str], written: tuple[str, ...]
) -> None:
    predictions, options = "mine.jsonl", list(written)
    if "--predictions" in options:
        predictions = options.pop()
        options.remove("--predictions")
        ids = open_dataset("set").columns("test", ["id"])["id"]
        pq.write_table(pa.table({"id": ids, "prediction": ["b"] * len(ids)}), predictions)
    before = contents(folder)

    assert run("score", "set", predictions, *options) == 2
    assert contents(folder) == before


def test_an_explanation_refuses_to_write_a_result(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row_id = open_dataset("set").columns("test", ["id"])["id"][0]

    assert run("score", "set", "mine.jsonl", "--explain", row_id, "-o", "new.json") == 2
    assert "leave -o" in capsys.readouterr().err
    assert not Path("new.json").exists()


def test_a_leaderboard_replaces_no_file_of_anybody_else(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "site").mkdir()
    (folder / "site" / "index.html").write_text("my own page")
    before = contents(folder)

    assert run("leaderboard", "r.json", "-o", "site") == 2
    assert "choose another folder" in capsys.readouterr().err
    assert contents(folder) == before


def test_a_leaderboard_replaces_none_of_its_inputs(folder: Path) -> None:
    assert run("leaderboard", "r.json", "-o", "site") == 0
    Path("r.json").replace("site/leaderboard.json")
    before = contents(folder)

    assert run("leaderboard", "site/leaderboard.json", "-o", "site") == 2
    assert contents(folder) == before


def test_a_leaderboard_grows_from_its_own_result_files(folder: Path) -> None:
    assert run("leaderboard", "r.json", "-o", "site") == 0
    assert run("score", "set", "mine.jsonl", "--name", "other", "-o", "other.json") == 0
    [first] = Path("site/results").glob("*.json")

    assert run("leaderboard", first, "other.json", "-o", "site") == 0
    assert len(list(Path("site/results").glob("*.json"))) == 2


def test_a_leaderboard_takes_none_of_its_inputs_away(folder: Path) -> None:
    assert run("leaderboard", "r.json", "-o", "site") == 0
    [listed] = Path("site/results").glob("*.json")
    listed.write_text(listed.read_text().replace('"name": "mine"', '"name": "renamed"'))
    before = contents(folder)

    assert run("leaderboard", listed, "-o", "site") == 2
    assert contents(folder) == before


def test_a_site_is_written_anew_where_it_was(tmp_path: Path, experiment: list[Result]) -> None:
    write_site(experiment, tmp_path)
    write_site(experiment[:2], tmp_path)

    assert len(list((tmp_path / "results").glob("*.json"))) == 2


@pytest.mark.parametrize("command", ["compare", "leaderboard"])
def test_a_row_table_with_a_row_without_id_is_refused_by_name(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert run("score", "set", "mine.jsonl", "--name", "other", "-o", "other.json") == 0
    rows = pq.read_table("r.rows.parquet").to_pylist()
    rows[0]["id"] = None
    pq.write_table(pa.Table.from_pylist(rows), "r.rows.parquet")
    capsys.readouterr()

    options = ["-o", "site"] if command == "leaderboard" else []
    assert run(command, "r.json", "other.json", *options) == 1
    assert "r.rows.parquet: a row has no id" in capsys.readouterr().err


def test_a_trained_region_that_is_none_is_refused_with_the_file_that_says_so(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = {"num_symbols": "many", "size": "1-2"}
    result = json.loads(Path("r.json").read_text())
    result["system"]["trained_on"] = wrong
    Path("wrong.json").write_text(json.dumps(result))
    assert run("leaderboard", "wrong.json", "-o", "site") == 1
    assert "Error: wrong.json: trained_on" in capsys.readouterr().err

    Path("mine.jsonl.meta.json").write_text(json.dumps({"trained_on": wrong}))
    assert run("score", "set", "mine.jsonl") == 1
    assert "Error: mine.jsonl.meta.json: trained_on" in capsys.readouterr().err


def test_times_that_python_has_no_value_for_are_invalid_answers_alone(folder: Path) -> None:
    ids = open_dataset("set").columns("test", ["id"])["id"]
    times = pa.array([0, 1 << 62, 1], pa.int64())
    for kind in (pa.timestamp("us"), pa.timestamp("us", "No/Where"), pa.duration("us")):
        pq.write_table(pa.table({"id": ids, "prediction": times.cast(kind)}), "t.parquet")
        assert run("score", "set", "t.parquet", "-o", "t.json") == 0
        assert json.loads(Path("t.json").read_text())["counts"]["invalid"] == 3
