import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from exchange_files import copies

from symshift.cli import program
from symshift.data import console
from symshift.data.dataset import Dataset, open_dataset
from symshift.data.files import sha256_of
from symshift.metrics.result_file import read_result
from symshift.metrics.submission import check_entry
from symshift.tasks.ltl import TASK

ROWS = [
    {"id": "1", "input": "a U b", "target": "cycle{b}", "num_symbols": 2, "size": 3},
    {"id": "2", "input": "G a", "target": "cycle{a}", "num_symbols": 1, "size": 2},
]


def run(*arguments: Any) -> int:
    return console.run(program(), list(map(str, arguments)))


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    (tmp_path / "set" / "data").mkdir(parents=True)
    path = tmp_path / "set" / "data" / "test.parquet"
    pq.write_table(pa.Table.from_pylist(ROWS), path)
    names = ("options", "versions", "asked", "rejects", "missing", "hard_rows", "solvers")
    entry = {"split": "test", "rows": 2, "bytes": path.stat().st_size, "sha256": sha256_of(path)}
    manifest = {
        **{name: {} for name in names},
        **{"schema_version": 1, "task": "ltl", "perturbation": "none", "seed": 0, "message": ""},
        **{"vocabulary": {"window": [0, 5]}, "columns": [], "candidates": 2, "cells": []},
        "files": [{"path": "data/test.parquet", **entry}],
        "fingerprint": "f",
    }
    (tmp_path / "set" / "manifest.json").write_text(json.dumps(manifest))
    return open_dataset(tmp_path / "set")


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    path = tmp_path / "traces.txt"
    path.write_text("Ga\n{a}\nUab\nAnswer: &a!b;{b}</s>\n")
    return path


def test_a_trace_file_is_scored_explained_and_rescored(
    tmp_path: Path,
    dataset: Dataset,
    traces: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "r.json"
    assert run("score", dataset.path, traces, "-o", out, "--notation", "polish") == 0
    shown = capsys.readouterr().out
    assert "answers in polish notation" in shown
    assert "correct, lenient reading" in shown

    result = read_result(out)
    assert (result.counts["exact"], result.counts["invalid"]) == (1, 1)
    assert result.estimates["lenient"].value == 1
    assert result.reading.notation == "polish"
    assert pq.read_table(tmp_path / "r.rows.parquet")["lenient"].to_pylist() == ["correct", "exact"]
    monkeypatch.setattr("symshift.metrics.submission.fingerprint_of", lambda rows: "f")
    monkeypatch.setattr(Dataset, "rows", lambda self, split: iter(ROWS))
    assert check_entry(result, dataset, [traces], TASK) == []

    assert run("score", dataset.path, traces, "--explain", "1", "--json") == 0
    why = json.loads(capsys.readouterr().out)
    assert (why["verdict"], why["lenient"]) == ("invalid", "correct")
    assert why["prediction"] == "Answer: &a!b;{b}</s>"
    assert why["why"].startswith("no Polish notation")


def test_every_problem_of_a_file_is_listed_on_request(
    tmp_path: Path, dataset: Dataset, capsys: pytest.CaptureFixture[str]
) -> None:
    path, listing = tmp_path / "p.jsonl", tmp_path / "problems.txt"
    path.write_text('{"id": "9", "prediction": "a"}\n' * 30)

    assert run("score", dataset.path, path) == 1
    assert "and 20 more (--problems FILE lists them)" in capsys.readouterr().err
    assert run("score", dataset.path, path, "--problems", listing) == 1
    assert len(listing.read_text().splitlines()) == 30
    assert run("score", dataset.path, path, "--problems", path) == 2

    path.write_text("")
    assert run("score", dataset.path, path, "--problems", listing) == 0
    assert listing.read_text() == ""


def test_a_wrong_reading_is_a_wrong_usage(
    tmp_path: Path, traces: Path, dataset: Dataset, capsys: pytest.CaptureFixture[str]
) -> None:
    other = copies(tmp_path / "copies", test=["a b"])
    for arguments, what in (
        ((other, traces), "copy has no Polish notation"),
        ((dataset.path, traces, "--filter", "none"), "deepltl, which has no filters"),
        ((dataset.path, traces, "--format", "deep"), "Did you mean 'deepltl'?"),
        ((dataset.path, traces, "--notation", "infix"), "unknown notation 'infix'"),
    ):
        assert run("score", *arguments) == 2
        assert what in capsys.readouterr().err
