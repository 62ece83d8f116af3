import csv
import json
import re

import pytest
from tiny_experiments import TINY

from symshift.data.catalogue import catalogue
from symshift.data.errors import DataError, UsageError
from symshift.models.experiments.experiment import load_experiment
from symshift.models.experiments.pipeline import run_experiment


def written(tmp_path, text=TINY):
    path = tmp_path / "tiny.toml"
    path.write_text(text)
    return str(path)


def snapshot(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "log.jsonl" and not path.name.startswith(".")
    }


def test_an_experiment_writes_everything_and_a_rerun_keeps_it(tmp_path):
    experiment = load_experiment(written(tmp_path))
    report = run_experiment(experiment, tmp_path / "out", device="cpu")
    before = snapshot(tmp_path / "out")
    times = {p: p.stat().st_mtime_ns for p in (tmp_path / "out").rglob("*.safetensors")}

    assert report.page.is_file()
    assert re.search("Other names +interchangeable +0", report.to_text())
    results = list((tmp_path / "out" / "results").rglob("*.json"))
    assert len(results) == 5
    for path in results:
        stated = json.loads(path.read_text())
        system = stated["system"]
        assert system["command"].startswith("symshift train data/train")
        # Only what is drawn differs from one table to another.
        is_redrawn = system["settings"]["redraw_unseen"] != "none"
        assert ("--redraw-unseen matched" in system["command"]) == is_redrawn
        is_drawn = system["method"] == "interchangeable" or is_redrawn
        assert (stated["repeats"] is not None) == is_drawn

    again = run_experiment(load_experiment(written(tmp_path)), tmp_path / "out", device="cpu")
    assert again.to_text() == report.to_text()
    assert snapshot(tmp_path / "out") == before
    assert times == {p: p.stat().st_mtime_ns for p in (tmp_path / "out").rglob("*.safetensors")}


def test_each_phase_and_the_redrawn_rows_stand_beside_the_method(tmp_path):
    old = "learned = { vocabulary = 6 }, interchangeable = { symbol_dim = 8 }"
    text = TINY.replace(old, "forgetting = {}")
    text = text.replace("set = { steps = 4", "set = { every = 3, vocabulary = 6, steps = 5")
    text = text.replace("table_seeds", 'redraw = ["none", "init", "matched"]\ntable_seeds')
    run_experiment(load_experiment(written(tmp_path, text)), tmp_path / "out", device="cpu")
    site = tmp_path / "out" / "site"
    shown = json.loads((site / "leaderboard.json").read_text())["sections"]
    names = {
        section["dataset"]: sorted(e["result"]["system"]["name"] for e in section["entries"])
        for section in shown
    }

    phases = ["forgetting, reset+0", "forgetting, reset+2"]
    redrawn = [f"forgetting, reset+2, redrawn ({how})" for how in ("init", "matched")]
    # In trained names there is nothing to redraw.
    assert names == {"Trained names": phases, "Other names": [*phases, *redrawn]}
    rows = list(csv.DictReader((site / "leaderboard.csv").open()))
    found = {(row["phase"], row["redraw_unseen"], row["repeats_mean"] != "") for row in rows}
    assert found == {
        ("reset+0", "none", False),
        ("reset+2", "none", False),
        ("reset+2", "init", True),
        ("reset+2", "matched", True),
    }
    assert "forgetting, reset+2, redrawn (matched)" in (site / "index.html").read_text()


def test_an_interrupted_experiment_goes_on(tmp_path, monkeypatch):
    from symshift.models.experiments import pipeline

    experiment = load_experiment(written(tmp_path))
    run_experiment(experiment, tmp_path / "whole", device="cpu")
    real, calls = pipeline.predict, []

    def interrupted(*arguments, **settings):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*arguments, **settings)

    monkeypatch.setattr(pipeline, "predict", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_experiment(experiment, tmp_path / "cut", device="cpu")
    monkeypatch.undo()
    run_experiment(experiment, tmp_path / "cut", device="cpu")

    assert snapshot(tmp_path / "cut").keys() == snapshot(tmp_path / "whole").keys()
    whole = (tmp_path / "whole" / "site" / "leaderboard.json").read_bytes()
    assert (tmp_path / "cut" / "site" / "leaderboard.json").read_bytes() == whole


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('summary = "a tiny one"', 'sumary = "x"', "'summary'"),
        ('task = "copy"\ntrain', 'task = "cpy"\ntrain', "'copy'"),
        ('size = "2-5"\n\n[data.test]', 'sise = "2-4"\n\n[data.test]', "'size'"),
        ('rename = "test"', 'rename = "tset"', "'test'"),
        ('tests = ["test", "other"]', 'tests = ["test", "othr"]', "'other'"),
        ('data = "train"', 'data = "tran"', "'train'"),
        ("table_seeds", "tableseeds", "'table_seeds'"),
        ("table_seeds = [0, 1]", 'redraw = ["matchd"]', "'matched'"),
        ("interchangeable = {", "interchangable = {", "'interchangeable'"),
        ('task = "copy"\ntest', "test", "give a task"),
        ("systems = { learned = {", "other = { learned = {", "'systems'|other"),
        ("systems = {", 'systems = { "Learned!" = { method = "learned" }, ', "differ in letters"),
        ("{ vocabulary = 6 }", "{ vocabulari = 6 }", "copying: learned: .*'vocabulary'"),
        ("[data.test]", '[data."../test"]', "names a folder"),
        ("[train.copying]", '[train."../copying"]', "names a folder"),
        ("{ vocabulary = 6 }", "5", "expected tables"),
        ("table_seeds = [0, 1]", "seeds = 3", "list of type int"),
        ("table_seeds = [0, 1]", "table_seeds = []", "list of type int"),
        ('tests = ["test", "other"]', 'tests = "test"', "list of type str"),
        ("set = {", "set = 5 # {", "set a table"),
        ("train = 60", 'train = "x"', "type int"),
        ('into = "3-5"', 'into = "3-5"\nonly = "query"', "no column 'query'"),
        ('rename = "test"', 'rename = "other"', "renamed itself"),
        ("symbols = 3\nsize", "symbols = 0\nsize", r"data\.train: .*at least 1"),
        ("test = 12", "validation = 12", r"train\.copying: data\.test has no test rows"),
        ("test = 12", "test = 0\nper_cell = 2\ntrain = 9", r"data\.test has no test rows"),
        ("\ntest = 12", "\npreset = 'copy-small'\ntest = 0", r"data\.test has no test rows"),
        ('tests = ["test", "other"]', 'tests = ["train"]', r"data\.train has no test rows"),
        ("\ntrain = 60\n", "\n", r"train\.copying: data\.train has no train rows"),
        ('task = "copy"\ntest', 'task = "ltl"\ntest', r"data\.test is of task ltl, not copy"),
    ],
)
def test_a_mistake_is_refused_before_anything_is_made(tmp_path, old, new, message):
    assert old in TINY
    with pytest.raises(UsageError, match=message):
        load_experiment(written(tmp_path, TINY.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{ symbol_dim = 8 }", "{ symbol_dim = 16 }", "interchangeable: symbol_dim=16"),
        ("{ vocabulary = 6 }", "{ vocabulary = 5 }", "learned: .*--set vocabulary=6"),
        (
            "{ vocabulary = 6 }",
            '{ vocabulary = 6, encoder_positions = "learned", max_positions = 4 }',
            "learned: .*--set max_positions=",
        ),
        ("{ vocabulary = 6 }", '{ encoder_positions = "tree" }', "learned: .* no trees"),
        (
            "{ vocabulary = 6 }",
            '{ method = "forgetting", vocabulary = 6, every = 5 }',
            "learned: .* nothing is ever reset",
        ),
    ],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_what_cannot_be_is_refused_before_anything_is_trained(tmp_path, old, new, message, swapped):
    text = TINY.replace(old, new, 1)
    if swapped:  # whichever is trained last
        first, second = re.search(r"systems = \{ (.*\}), (.*\}) \}", text).groups()
        text = text.replace(f"{first}, {second}", f"{second}, {first}")
    with pytest.raises(UsageError, match=rf"train\.copying: {message}"):
        run_experiment(load_experiment(written(tmp_path, text)), tmp_path / "out")

    assert (tmp_path / "out" / "data" / "train").is_dir()
    assert not (tmp_path / "out" / "runs").exists()


@pytest.mark.parametrize(
    "asked", ["per_cell = 2", "test = 5\nper_cell = 1", "preset = 'copy-small'"]
)
def test_cells_alone_and_presets_have_test_rows(tmp_path, asked):
    load_experiment(written(tmp_path, TINY.replace("test = 12", asked)))


def test_a_copy_without_test_rows_is_refused_for_its_origin(tmp_path):
    text = TINY.replace('tests = ["test", "other"]', 'tests = ["other"]')
    with pytest.raises(UsageError, match=r"data\.other has no test rows"):
        load_experiment(written(tmp_path, text.replace("test = 12", "train = 12")))


def test_a_broken_file_is_refused(tmp_path):
    with pytest.raises(DataError, match="no TOML"):
        load_experiment(written(tmp_path, "summary = "))


@pytest.mark.parametrize("name", sorted(catalogue("experiments")))
def test_every_bundled_experiment_can_be_read(name):
    experiment = load_experiment(name)

    assert experiment.summary
    assert experiment.train
