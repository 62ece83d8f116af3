"""No command writes into a data set or a run, finished or not."""

import importlib.util
import json

import click
import pytest

from symshift.cli import program
from symshift.data import console
from symshift.data.dataset import open_dataset

WRITING = {
    "audit": ["audit", "d", "-o", "OUT.json"],
    "collapse": ["collapse", "x.safetensors", "--tensor", "t", "--rows", "0-3", "-o", "OUT.json"],
    "export deepltl": ["export", "deepltl", "prop", "OUT"],
    "export hub": ["export", "hub", "d", "OUT"],
    "export jsonl": ["export", "jsonl", "d", "OUT"],
    "export lm-eval": ["export", "lm-eval", "d", "OUT"],
    "export prompts": ["export", "prompts", "d", "OUT"],
    "generate": ["generate", "copy", "OUT", "--test", "3"],
    "generate part": ["generate", "copy", "OUT", "--test", "3", "--part", "1/2"],
    "import": ["import", "jsonl", "rows.jsonl", "OUT", "--task", "copy"],
    "leaderboard": ["leaderboard", "result.json", "-o", "OUT"],
    "merge": ["merge", "part", "OUT"],
    "predict": ["predict", "run", "d", "OUT"],
    "predict hf": ["predict", "hf:nothing", "d", "OUT"],
    "rename": ["rename", "d", "OUT"],
    "run": ["run", "smoke", "OUT"],
    "score": ["score", "d", "gold.jsonl", "-o", "OUT.json"],
    "score grid": ["score", "d", "gold.jsonl", "--grid", "OUT.svg"],
    "score problems": ["score", "d", "gold.jsonl", "--problems", "OUT"],
    "train": ["train", "d", "OUT", "--method", "learned"],
}
NEEDS_TRANSFORMERS = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None, reason="needs the extra `hub`"
)
COMMANDS = [
    pytest.param(name, marks=[NEEDS_TRANSFORMERS] if name == "predict hf" else [])
    for name in WRITING
]
READING = {"compare", "doctor", "list", "submit", "verify"}
PLACES = {
    "data set": ["manifest.json"],
    "unfinished data set": [".partial/config.json"],
    "part": ["part.json"],
    "run": ["model.safetensors"],
    "unfinished run": ["config.json", "log.jsonl"],
}


def run(*arguments):
    return console.run(program(), list(map(str, arguments)))


def snapshot(folder):
    return {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A folder with something for every command to read."""
    folder = tmp_path_factory.mktemp("inputs")
    few = ["--test", "5", "--workers", "1", "--symbols", "3"]
    assert run("generate", "copy", folder / "d", *few, "--train", "5") == 0
    assert run("generate", "prop", folder / "prop", *few, "--size", "3-7") == 0
    assert run("generate", "copy", folder / "part", *few, "--part", "1/1") == 0
    rows = list(open_dataset(folder / "d").rows("test"))
    for name, values in {
        "gold.jsonl": [{"id": row.id, "prediction": row.target} for row in rows],
        "rows.jsonl": [{"input": row.input, "target": row.target} for row in rows],
    }.items():
        (folder / name).write_text("\n".join(map(json.dumps, values)))
    assert run("score", folder / "d", folder / "gold.jsonl", "-o", folder / "result.json") == 0
    return folder


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_is_written_inside_a_data_set_or_a_run(
    inputs, tmp_path, monkeypatch, capsys, command, place
):
    for name in PLACES[place]:
        (tmp_path / "taken" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "taken" / name).write_text("work of hours")
    monkeypatch.chdir(inputs)
    before = snapshot(tmp_path), snapshot(inputs)
    for inside in ("new", "data/new"):
        out = str(tmp_path / "taken" / inside)
        code = run(*(part.replace("OUT", out) for part in WRITING[command]))
        err = capsys.readouterr().err

        assert code == 2, err
        assert "choose another place" in err
        assert (snapshot(tmp_path), snapshot(inputs)) == before


@pytest.mark.parametrize("command", ["audit", "collapse", "leaderboard", "predict", "score"])
def test_no_file_of_an_unfinished_run_is_written_over(
    inputs, tmp_path, monkeypatch, capsys, command
):
    for name in PLACES["unfinished run"]:
        (tmp_path / name).write_text("work of hours")
    before = snapshot(tmp_path)
    monkeypatch.chdir(inputs)
    out = str(tmp_path / "config.json")
    code = run(*(part.replace("OUT.json", out).replace("OUT", out) for part in WRITING[command]))

    assert code == 2
    assert "choose another place" in capsys.readouterr().err
    assert snapshot(tmp_path) == before


def test_every_command_is_known_to_write_or_not_to():
    names = program().list_commands(click.Context(program()))

    assert set(names) == {name.split()[0] for name in WRITING} | READING
