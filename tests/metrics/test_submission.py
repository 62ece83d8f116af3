import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from symshift.cli import cli
from symshift.data import console
from symshift.data.dataset import Dataset, fingerprint_of, open_dataset
from symshift.data.errors import DataError, UsageError
from symshift.data.example import Example
from symshift.data.files import sha256_of
from symshift.data.schema import COMMON, arrow_schema, to_table
from symshift.metrics.result import Result
from symshift.metrics.row_faults import row_faults
from symshift.metrics.submission import check_entry, disagreements, score_files
from symshift.metrics.systems import read_system

Row = dict[str, Any]
META = {
    "name": "net",
    "method": "hyper",
    "seed": 3,
    "table_seed": 0,
    "command": "symshift predict",
    "parameters": {"body": 7},
    "trained_on": {"name": "d", "fingerprint": "f"},
    "device": "cpu",
    "duration_s": 3.2,
}


def entry(path: Path, rows: int) -> dict[str, Any]:
    """Return what a manifest says of a shard."""
    return {
        "split": "test",
        "path": path.name,
        "rows": rows,
        "bytes": path.stat().st_size,
        "sha256": sha256_of(path),
    }


@pytest.fixture
def dataset(tmp_path: Path, rows: list[Row]) -> Dataset:
    """Return the toy rows on disk, in two files."""
    for name, part in (("a", rows[:2]), ("b", rows[2:])):
        pq.write_table(pa.Table.from_pylist(part), tmp_path / f"{name}.parquet")
    manifest = {
        "task": "reversal",
        "vocabulary": {"window": [0, 2]},
        "fingerprint": "f",
        "files": [entry(tmp_path / f"{name}.parquet", n) for name, n in (("a", 2), ("b", 3))],
    }
    return Dataset(tmp_path, manifest)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def run(name: str, answers: dict[str, Any], meta: Any = None) -> Path:
        path = tmp_path / name
        lines = (json.dumps({"id": i, "prediction": text}) for i, text in answers.items())
        path.write_text("\n".join(lines))
        if meta is not None:
            path.with_name(name + ".meta.json").write_text(json.dumps(meta))
        return path

    return run


def test_files_on_disk_are_scored_as_rows_in_memory(
    dataset: Dataset, write: Callable[..., Path], task: Any, rows: list[Row], score_toy: Any
) -> None:
    answers = {"r4": "a a b c", "r0": "a"}
    scored = score_files(dataset, [write("p.jsonl", answers)], task)

    assert scored.result.estimates == score_toy(rows, answers).result.estimates
    data = scored.result.dataset
    assert (data.name, data.fingerprint, data.window) == (dataset.name, "f", "0-2")
    assert scored.result.system.name == "p"
    assert scored.rows["id"].to_pylist() == [row["id"] for row in rows]


def test_a_system_is_what_the_file_beside_its_predictions_says(
    dataset: Dataset, write: Callable[..., Path], task: Any
) -> None:
    path = write("p.jsonl", {"r0": "a"}, META)

    result = score_files(dataset, [path], task).result
    system = result.system
    assert (system.name, system.method, system.seed) == ("net", "hyper", 3)
    assert system.settings == {"device": "cpu"}
    assert "duration" not in result.to_json()
    # It was trained on this very data set.
    assert result.dataset.regime == "seen"
    assert read_system(path, "mine").name == "mine"


def test_what_a_model_was_asked_with_reaches_the_result(
    dataset: Dataset, write: Callable[..., Path], task: Any
) -> None:
    asked = {"phase": "reset+10", "redraw_unseen": "matched", "output": "dense"}
    path = write("p.jsonl", {"r0": "a"}, {**META, **asked})
    result = score_files(dataset, [path], task).result

    assert result.system.settings == {"device": "cpu", **asked}
    assert json.loads(result.to_json())["system"]["settings"]["redraw_unseen"] == "matched"


@pytest.mark.parametrize(
    ("meta", "what"),
    [
        ([1], "expected an object"),
        ({"seed": "3"}, "seed is '3', expected int"),
        ({"seed": True}, "seed is True"),
        ({"name": 3}, "name is 3, expected str"),
        ({"parameters": float("nan")}, "no finite number"),
        ({"name": "\ud800"}, "lone surrogate"),
        ({"parameters": {"\udfff": 1}}, "lone surrogate"),
    ],
)
def test_a_broken_meta_file_is_refused(write: Callable[..., Path], meta: Any, what: str) -> None:
    with pytest.raises(DataError, match=what):
        read_system(write("p.jsonl", {}, meta))


def test_files_of_several_systems_are_refused(
    dataset: Dataset, write: Callable[..., Path], task: Any
) -> None:
    paths = [write("p.jsonl", {"r0": "a"}), write("q.jsonl", {})]

    with pytest.raises(UsageError, match="--name"):
        score_files(dataset, paths, task)
    repeats = score_files(dataset, paths, task, name="both").result.repeats
    assert repeats is not None
    assert (repeats.over, repeats.estimates["correct"].mean) == ("file", 0.1)


def test_a_split_that_is_not_there_and_a_broken_shard_are_named(
    dataset: Dataset, write: Callable[..., Path], task: Any
) -> None:
    path = write("p.jsonl", {})

    with pytest.raises(UsageError, match="no train rows"):
        score_files(dataset, [path], task, split="train")
    dataset.manifest["files"][0]["rows"] = 3
    with pytest.raises(DataError, match="5 test rows, the manifest says 6"):
        score_files(dataset, [path], task)
    whole = (dataset.path / "b.parquet").read_bytes()
    (dataset.path / "b.parquet").write_bytes(whole[:-20])
    with pytest.raises(DataError, match=r"b\.parquet"):
        score_files(dataset, [path], task)


def test_an_entry_holds_if_rescoring_gives_its_numbers(
    dataset: Dataset, write: Callable[..., Path], task: Any
) -> None:
    path = write("p.jsonl", {"r0": "a", "r1": "a b"})
    stated = score_files(dataset, [path], task, title="a nicer title").result

    rescored: Result = score_files(dataset, [path], task, name="other").result
    assert disagreements(stated, rescored) == []
    other = score_files(dataset, [write("p.jsonl", {"r0": "a"})], task).result
    found = disagreements(stated, other)
    assert any(line.startswith("counts.correct: stated 1, found 0") for line in found)
    assert any(line.startswith("system.predictions_sha256") for line in found)


def test_an_entry_is_checked_against_the_rows_themselves(
    tmp_path: Path, task: Any, make_row: Callable[..., Row]
) -> None:
    row = make_row("a b", 0, task="reversal", symbols=["a", "b"], canonical_id="c", split="test")
    row |= {"perturbation": "none", "index": 0, "solver": "s"}
    pq.write_table(
        to_table([Example.from_columns(row)], arrow_schema(COMMON)), tmp_path / "a.parquet"
    )
    manifest = {
        "task": "reversal",
        "vocabulary": {"window": [0, 2]},
        "fingerprint": fingerprint_of([row]),
        "files": [entry(tmp_path / "a.parquet", 1)],
    }
    dataset = Dataset(tmp_path, manifest)
    (tmp_path / "p.csv").write_text("id,prediction\nr0,b a\n")
    stated = score_files(dataset, [tmp_path / "p.csv"], task).result

    assert check_entry(stated, dataset, [tmp_path / "p.csv"], task) == []
    forged = Dataset(tmp_path, {**manifest, "fingerprint": "f"})
    assert "fingerprint" in check_entry(stated, forged, [tmp_path / "p.csv"], task)[0]


CLAIMS: list[dict[str, Any]] = [
    {"regime": "all-unseen"},
    {"window": "5-9"},
    {"example": ("1", "0")},
    {"errata": ("E999",)},
]


@pytest.mark.parametrize("claim", CLAIMS)
def test_claims_about_the_data_set_are_computed_again(
    result: Result, claim: dict[str, Any]
) -> None:
    result = replace(result, dataset=replace(result.dataset, regime="seen"))
    stated = replace(result, dataset=replace(result.dataset, **claim))

    found = disagreements(stated, result)
    assert found
    assert all(line.startswith(f"dataset.{next(iter(claim))}") for line in found)


def test_a_regime_may_be_stated_where_nothing_tells_it(result: Result) -> None:
    silent = replace(result, dataset=replace(result.dataset, regime=""))
    stated = replace(result, dataset=replace(result.dataset, regime="more-symbols"))

    assert disagreements(stated, silent) == []


@pytest.mark.parametrize("name", ["verdicts", "lenient", "task", "checker", "another"])
def test_versions_of_what_decides_verdicts_must_be_the_present_ones(
    result: Result, name: str
) -> None:
    stated = replace(result, versions={**result.versions, name: "of old"})

    assert disagreements(stated, result)[0].startswith(f"versions.{name}: stated 'of old'")
    programs = {**result.versions, "symshift": "0.0.1", "numpy": "1.0"}
    assert disagreements(replace(result, versions=programs), result) == []


def test_a_trained_region_that_no_meta_file_states_is_refused(
    dataset: Dataset, write: Callable[..., Path], task: Any
) -> None:
    path = write("p.jsonl", {"r0": "a"}, META)
    stated = score_files(dataset, [path], task).result
    path.with_name("p.jsonl.meta.json").unlink()

    rescored = score_files(dataset, [path], task, name="net").result
    found = disagreements(stated, rescored)
    assert "system.trained_on.fingerprint: stated 'f', found 'nothing'" in found


def test_what_nobody_can_compute_may_be_said(result: Result) -> None:
    described = replace(result.dataset, name="nicer", description="A sentence.")
    system = replace(result.system, name="x", command="y", method="z")

    assert disagreements(replace(result, dataset=described, system=system), result) == []


@pytest.fixture
def table() -> pa.Table:
    columns = {
        "id": ["r0", "r1"],
        "base_id": ["p", "q"],
        "verdict": ["exact", "incorrect"],
        "reason": ["", "no"],
        "lenient": ["exact", "incorrect"],
    }
    return pa.table(columns)


@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        ("verdict", ["incorrect", "exact"], "row r0: verdict stated 'incorrect', found 'exact'"),
        ("base_id", ["p", "p"], "row r1: base_id stated 'p', found 'q'"),
        ("reason", ["", None], "row r1: reason stated None, found 'no'"),
        ("id", ["r0", "r2"], "row r1: id stated 'r2', found 'r1'"),
        ("lenient", ["exact", "exact"], "row r1: lenient stated 'exact', found 'incorrect'"),
        ("lenient", None, "columns"),
        ("more", ["x", "y"], "columns"),
        ("reason", [0, 1], "columns of int64"),
    ],
)
def test_stated_rows_must_be_the_rescored_ones(
    tmp_path: Path, table: pa.Table, column: str, values: list[Any] | None, said: str
) -> None:
    stated = {name: table[name] for name in table.column_names} | {column: values}
    if values is None:
        del stated[column]
    pq.write_table(pa.table(stated), tmp_path / "r.rows.parquet")

    (fault,) = row_faults(tmp_path / "r.rows.parquet", table)
    assert fault.startswith(f"{tmp_path / 'r.rows.parquet'}: {said}")


def test_stated_rows_hold_in_any_order_and_none_may_lack(tmp_path: Path, table: pa.Table) -> None:
    path = tmp_path / "r.rows.parquet"
    pq.write_table(table.take([1, 0]), path)
    assert row_faults(path, table) == []
    pq.write_table(table.slice(1), path)
    assert row_faults(path, table) == [f"{path}: 1 rows, found 2"]
    path.write_bytes(b"PAR1")
    with pytest.raises(DataError, match="no table of rows"):
        row_faults(path, table)


def test_submit_refuses_swapped_rows_and_says_where_there_are_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, result, answers = (str(tmp_path / n) for n in ("d", "r.json", "p.jsonl"))
    assert console.run(cli, ["generate", "copy", data, "--test", "2", "--workers", "1"]) == 0
    first = next(iter(open_dataset(Path(data)).rows("test")))
    line = json.dumps({"id": first["id"], "prediction": first["target"]})
    Path(answers).write_text(line + "\n")
    assert console.run(cli, ["score", data, answers, "-o", result]) == 0
    assert console.run(cli, ["submit", result, data, answers]) == 0

    rows = pq.read_table(tmp_path / "r.rows.parquet")
    swapped = rows.set_column(0, "id", rows["id"].take([1, 0]))
    pq.write_table(swapped, tmp_path / "r.rows.parquet")
    capsys.readouterr()
    assert console.run(cli, ["submit", result, data, answers]) == 1
    assert "verdict stated" in capsys.readouterr().out
    (tmp_path / "r.rows.parquet").unlink()
    assert console.run(cli, ["submit", result, data, answers]) == 0
    assert "no rows are compared" in capsys.readouterr().err


def test_an_entry_on_other_rows_does_not_hold(result: Result) -> None:
    moved = replace(result, dataset=replace(result.dataset, fingerprint="g"), versions={})

    found = disagreements(result, moved)
    assert found[0].startswith("dataset.fingerprint: stated 'ffff")
    assert found[-1].startswith("versions: ")
