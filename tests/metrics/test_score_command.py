import json
import re
from pathlib import Path
from typing import Any

import pytest
from exchange_files import copies

from symshift.cli import cli
from symshift.data import console, errata
from symshift.data.dataset import Dataset, open_dataset
from symshift.metrics.rows import SplitRows


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return open_dataset(copies(tmp_path, train=["a b", "a b c a"], test=["b a a", "c b a c", "b"]))


def test_a_split_says_what_it_covers(dataset: Dataset) -> None:
    assert dataset.ranges("train") == {"num_symbols": "2-3", "size": "2-4"}
    assert dataset.ranges("test") == {"num_symbols": "1-3", "size": "1-4"}
    assert dataset.ranges("validation") == {}


def test_the_rows_of_a_split_are_read_in_order_in_lists_of_any_length(
    dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = [(row["id"], row["input"]) for row in dataset.rows("test")]
    monkeypatch.setattr("symshift.metrics.rows._LISTED_ROWS", 2)

    rows = SplitRows(dataset, "test")
    assert [(row["id"], row["input"]) for row in rows] == stored
    assert list(rows.column("input")) == [text for _, text in stored]


def test_scoring_writes_the_grid_and_counts_edits(
    tmp_path: Path, dataset: Dataset, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = dataset.columns("test", ["id", "size"])
    answers = tmp_path / "a.jsonl"
    first = {"id": ids["id"][0], "prediction": ""}
    answers.write_text(json.dumps(first) + "\n")
    (tmp_path / "a.jsonl.meta.json").write_text(json.dumps({"trained_on": dataset.ranges("train")}))
    grid, result = tmp_path / "g.svg", tmp_path / "r.json"
    arguments: list[Any] = ["score", dataset.path, answers, "-o", result, "--grid", grid]
    assert console.run(cli, list(map(str, arguments))) == 0

    assert "trained region" in capsys.readouterr().out
    found = json.loads(result.read_text())["estimates"]
    # Nothing was copied, so each string is its whole length away.
    assert found["edit_distance"]["value"] == pytest.approx(sum(ids["size"]) / 3)
    assert (found["correct:inside"]["n"], found["correct:outside"]["n"]) == (2, 1)
    titles = re.findall("<title>(.*), size", grid.read_text("utf-8"))
    assert titles == ["1 symbol", "2 symbols", "3 symbols"]


def test_scoring_says_what_is_known_to_be_wrong_with_a_data_set(
    tmp_path: Path,
    dataset: Dataset,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = errata.Erratum(id="E7", fingerprint=dataset.fingerprint, text="Use the second set.")
    monkeypatch.setattr(errata, "ERRATA", (known,))
    (tmp_path / "a.jsonl").write_text("")
    result = tmp_path / "r.json"
    arguments = ["score", str(dataset.path), str(tmp_path / "a.jsonl"), "-o", str(result)]
    assert console.run(cli, arguments) == 0

    assert "erratum E7 of this data set: Use the second set." in capsys.readouterr().err
    stored = json.loads(result.read_text())
    assert stored["dataset"]["errata"] == ["E7"]
    assert stored["versions"]["verdicts"] == errata.VERDICTS
