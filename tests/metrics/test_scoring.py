import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from symshift.data.errors import DataError
from symshift.data.plugins import load_task
from symshift.metrics.intervals import wilson
from symshift.metrics.predictions import predictions_from, read_predictions
from symshift.metrics.result import DatasetInfo, Result, System
from symshift.metrics.result_file import read_result
from symshift.metrics.scoring import Scored, rows_path, score, write_result
from symshift.metrics.table import format_table

Row = dict[str, Any]
Score = Callable[..., Scored]
CASES = Path(__file__).parents[1] / "cases" / "predictions"


def value(found: Scored, name: str) -> float | None:
    return found.result.estimates[name].value


def test_every_row_gets_one_verdict_with_its_reason(score_toy: Score, rows: list[Row]) -> None:
    answers = {"r0": "a", "r1": "a b", "r2": "slow", "r3": 7}

    found = score_toy(rows, answers)
    assert found.result.counts == {
        "exact": 1,
        "correct": 1,
        "incorrect": 0,
        "invalid": 1,
        "missing": 1,
        "timeout": 1,
    }
    reasons = {row["id"]: row["reason"] for row in found.rows.to_pylist()}
    assert reasons["r2"] == "budget of 1 state"
    assert reasons["r3"] == "the prediction is a number, not a text"
    assert reasons["r4"] == "no prediction"


def test_accuracy_is_over_all_rows(score_toy: Score, rows: list[Row]) -> None:
    found = score_toy(rows, {"r0": "a", "r1": "a b"})

    assert found.result.estimates["correct"] == wilson(2, 5)
    assert found.result.estimates["exact"] == wilson(1, 5)


def test_hard_rows_are_those_that_no_shortcut_solves(score_toy: Score, rows: list[Row]) -> None:
    found = score_toy(rows, {"r0": "a", "r1": "a b"})

    assert found.result.estimates["correct_hard"] == wilson(1, 4)


def test_answers_with_foreign_symbols_are_counted_apart(score_toy: Score, rows: list[Row]) -> None:
    found = score_toy(rows, {"r0": "a", "r1": "a z", "r2": "z"})

    assert found.result.num_foreign == 2


def test_cells_add_up_to_the_rows(score_toy: Score, rows: list[Row]) -> None:
    cells = score_toy(rows, {"r1": "b a", "r3": "b"}).result.cells

    places = [(c.num_symbols, c.size, c.n, c.num_right, c.num_hard) for c in cells]
    assert places == [(1, 1, 1, 0, 0), (2, 2, 2, 1, 2), (3, 3, 1, 0, 1), (3, 4, 1, 0, 1)]
    assert cells[1].correct == wilson(1, 2)


def test_rows_need_only_id_input_and_target(score_toy: Score) -> None:
    rows = [{"id": "x", "input": "a b", "target": "b a"}, {"id": "y", "input": "a", "target": "a"}]

    found = score_toy(rows, {"x": "b a"})
    assert value(found, "correct") == 0.5
    assert value(found, "trivial:all-a") == 0.5
    assert found.result.cells == ()


def test_trivial_answers_are_scored_on_the_same_rows(score_toy: Score, rows: list[Row]) -> None:
    found = score_toy(rows, {})

    assert value(found, "trivial:all-a") == 0.2
    assert value(found, "trivial:empty") == 0
    assert value(found, "trivial:any-shortcut") == 0.2
    assert value(found, "trivial:copied-input") == 1
    # "b a" and "a b" are both right for the two rows with these symbols.
    assert value(found, "trivial:constant") == 0.4
    assert found.result.dataset.constant in ("a b", "b a")
    assert found.result.estimates["trivial"] == found.result.estimates["trivial:copied-input"]


def test_handing_back_the_input_is_no_baseline_where_it_is_the_task(
    score_toy: Score, make_row: Callable[..., Row]
) -> None:
    rows = [make_row("a", 0), make_row("a a", 1)]

    found = score_toy(rows, {})
    assert value(found, "trivial:copied-input") == 1
    assert value(found, "trivial") == 0.5


def test_a_shortcuts_column_that_the_checker_contradicts_refuses_the_data_set(
    score_toy: Score, rows: list[Row]
) -> None:
    rows[2]["shortcuts"] = ["all-a"]

    with pytest.raises(DataError, match=r"row r2: its column shortcuts says \['all-a'\]"):
        score_toy(rows, {})


def test_a_row_whose_own_target_is_wrong_refuses_the_data_set(
    score_toy: Score, rows: list[Row]
) -> None:
    rows[3]["target"] = "a"

    with pytest.raises(DataError, match="row r3: its own target 'a' is incorrect"):
        score_toy(rows, {})


def test_each_text_of_a_row_is_checked_once(task: Any, score_toy: Score, rows: list[Row]) -> None:
    many = [*rows, *({**row, "id": f"again-{row['id']}"} for row in rows)]
    answers = {row["id"]: [row["target"], "x", "x"] for row in many}

    score_toy(many, answers, answers, systems=[System(name="s")] * 2)
    # Those that chose the constant on the same rows beforehand are among them.
    assert len(task.checked) == len(set(task.checked))


def test_equal_ids_and_empty_data_sets_are_refused(score_toy: Score, rows: list[Row]) -> None:
    with pytest.raises(DataError, match="same id"):
        score_toy([*rows, rows[0]], {})
    with pytest.raises(DataError, match="no rows"):
        score_toy([], {})


def test_rows_that_can_be_read_only_once_are_refused(task: Any, rows: list[Row]) -> None:
    info = DatasetInfo(name="d", task="t", split="test")

    with pytest.raises(ValueError, match="only be looped over once"):
        score(iter(rows), [predictions_from({})], task, dataset=info, systems=[System(name="s")])


def test_samples_count_by_the_first_with_mean_and_best_beside(
    score_toy: Score, rows: list[Row]
) -> None:
    answers = {"r0": ["x", "a"], "r1": ["a b", None, "x", "b a"], "r2": "a b c"}

    found = score_toy(rows, answers)
    assert value(found, "correct") == 0.4
    assert value(found, "correct_mean_of_samples") == pytest.approx((0.5 + 0.5 + 1) / 5)
    assert value(found, "correct_best_of_samples") == 0.6
    assert "correct_best_of_samples" not in score_toy(rows, {"r2": ["a b c"]}).result.estimates


def test_renamings_of_one_problem_are_no_independent_rows(
    score_toy: Score, make_row: Callable[..., Row]
) -> None:
    rows = [
        make_row(name, 10 * problem + at, base_id=f"p{problem}", renaming=[pair], shortcuts=[])
        for problem in range(6)
        for at, name in enumerate("bcd")
        for pair in [{"name": "a", "renamed": name}]
    ]
    answers = {row["id"]: row["target"] for row in rows if row["base_id"] < "p3"}

    found = score_toy(rows, answers, max_renamings=3)
    correct = found.result.estimates["correct"]
    assert (correct.value, correct.n, correct.method) == (0.5, 6, "cluster-bootstrap-2000")
    # Three problems were answered alike in all names, three not at all.
    assert value(found, "alpha_covariance") == 0.5
    assert found.result.alpha_covariance is not None
    assert found.result.alpha_covariance.num_missing == 9
    assert found.rows["base_id"].to_pylist()[:4] == ["p0", "p0", "p0", "p1"]


def test_one_renaming_a_problem_leaves_rows_independent(
    score_toy: Score, make_row: Callable[..., Row]
) -> None:
    rows = [
        make_row(name, at, base_id=f"p{at}", renaming=[{"name": "a", "renamed": name}])
        for at, name in enumerate("bcd")
    ]

    found = score_toy([{**row, "shortcuts": [], "regime": "all-unseen"} for row in rows], {})
    assert found.result.estimates["correct"].method == "wilson"
    assert "alpha_covariance" not in found.result.estimates
    assert found.result.alpha_covariance is not None
    assert found.result.alpha_covariance.num_excluded == 3
    assert found.result.dataset.regime == "all-unseen"


def test_renamings_are_reported_unless_there_is_one_by_design(
    score_toy: Score, make_row: Callable[..., Row]
) -> None:
    rows = [
        make_row(name, at, base_id="p", renaming=[{"name": "a", "renamed": name}], shortcuts=[])
        for at, name in enumerate("bc")
    ]

    several = format_table(score_toy(rows, {"r0": "b"}, max_renamings=120).result)
    assert "alpha-covariance: at most 120 renamings a problem; 0 problems with one" in several
    assert "\n  1 symbol  0.0000" in several
    assert "at most" not in format_table(score_toy(rows[:1], {}, max_renamings=1).result)


def test_rows_without_symbols_do_not_mix_a_regime(
    score_toy: Score, make_row: Callable[..., Row]
) -> None:
    rows = [make_row("a b", 0, regime="all-unseen")]
    rows.append({**make_row("a", 1, regime="seen"), "num_symbols": 0})

    assert score_toy(rows, {}).result.dataset.regime == "all-unseen"


def test_regimes_within_a_data_set_are_scored_apart(score_toy: Score, rows: list[Row]) -> None:
    regimes = ["seen", "seen", "all-unseen", "all-unseen", "all-unseen"]
    mixed = [{**row, "regime": regime} for row, regime in zip(rows, regimes, strict=True)]

    found = score_toy(mixed, {"r0": "a", "r1": "b a", "r2": "c b a"})
    assert value(found, "correct:seen") == 1
    assert value(found, "correct:all-unseen") == pytest.approx(1 / 3)
    assert found.result.dataset.regime == ""


def test_several_files_give_mean_and_range_apart_from_the_interval(
    score_toy: Score, rows: list[Row]
) -> None:
    first, second = {"r0": "a"}, {"r0": "a", "r1": "a b", "r2": "c b a"}
    systems = [System(name="s", seed=1, table_seed=n) for n in (4, 9)]

    found = score_toy(rows, first, second, systems=systems)
    assert found.result.estimates == score_toy(rows, first).result.estimates
    repeats = found.result.repeats
    assert repeats is not None
    assert (repeats.over, repeats.labels) == ("table_seed", ("4", "9"))
    correct = repeats.estimates["correct"]
    assert (correct.mean, correct.min, correct.max) == (0.4, 0.2, 0.6)


def test_the_order_of_predictions_and_the_size_of_batches_change_nothing(
    score_toy: Score, rows: list[Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = {"r4": "a a b c", "r0": "a", "r2": "x"}
    text = score_toy(rows, answers).result.to_json()
    monkeypatch.setattr("symshift.metrics.scoring.BATCH_ROWS", 2)

    assert score_toy(rows, dict(reversed(answers.items()))).result.to_json() == text


def test_the_row_table_is_the_same_in_groups_of_any_size(
    score_toy: Score, rows: list[Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = score_toy(rows, {"r1": "a b"}).rows
    monkeypatch.setattr("symshift.metrics.row_table._GROUP_ROWS", 2)

    assert score_toy(rows, {"r1": "a b"}).rows.equals(whole)


def test_known_files_of_predictions_give_their_known_scores() -> None:
    gold = [json.loads(line) for line in (CASES / "gold.jsonl").read_text("utf-8").splitlines()]

    found = score(
        gold,
        [read_predictions(CASES / "messy.jsonl")],
        load_task("ltl"),
        dataset=DatasetInfo(name="gold", task="ltl", split="test"),
        systems=[System(name="messy")],
    )
    counts = found.result.counts
    assert value(found, "correct") == 0.4
    assert (counts["exact"], counts["correct"]) == (1, 1)
    assert (counts["invalid"], counts["missing"]) == (2, 1)
    # a U b by all-true; G a and F a by all-true; none of the three by all-false.
    assert value(found, "trivial:all-true") == 1
    assert value(found, "trivial:all-false") == 0
    assert found.result.estimates["correct_hard"].n == 0


def test_what_was_written_is_read_back(tmp_path: Path, score_toy: Score, rows: list[Row]) -> None:
    systems = [System(name="s\u2028<b>", seed=n, parameters={"body": 10}) for n in (1, 2)]
    found = score_toy(rows, {"r0": "a"}, {}, systems=systems, fingerprint="f")
    path = tmp_path / "out" / "r.json"

    write_result(found, path)
    assert read_result(path) == found.result
    assert rows_path(path).name == "r.rows.parquet"
    assert pq.read_table(rows_path(path)).equals(found.rows)
    assert sorted(p.name for p in path.parent.iterdir()) == ["r.json", "r.rows.parquet"]


def test_equal_inputs_give_equal_bytes(tmp_path: Path, score_toy: Score, rows: list[Row]) -> None:
    for name in ("a", "b"):
        write_result(score_toy(rows, {"r0": "a"}), tmp_path / name)

    for end in ("", ".rows.parquet"):
        assert (tmp_path / f"a{end}").read_bytes() == (tmp_path / f"b{end}").read_bytes()


def test_result_files_are_sorted_finite_and_without_dates(result: Result) -> None:
    text = result.to_json()

    assert text.endswith("}\n")
    plain = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert json.dumps(plain, sort_keys=True) == json.dumps(plain)
    assert plain["schema_version"] == 1
    assert {"system", "dataset", "counts", "estimates", "cells", "versions"} <= plain.keys()
    assert not {"date", "time", "duration"} & plain.keys()
    assert set(plain["estimates"]["correct"]) == {"value", "low", "high", "n", "method"}


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"schema_version": 2}, "schema_version 2"),
        ({"counts": {"exact": 1}}, "are not 5 verdicts"),
        ({"counts": {"right": 5}}, "verdicts"),
        ({"counts": {"exact": "5"}}, "counts.exact is '5', expected int"),
        ({"system": {"name": 3}}, "system.name is 3, expected str"),
        ({"system": {}}, "missing 1 required keyword-only argument: 'name'"),
        ({"system": []}, "expected an object"),
        ({"estimates": {}}, "estimates lack correct"),
        ({"surprise": 1}, "result has 'surprise', which this symshift does not know"),
        ({"cells": [{}]}, r"cells\[0\]"),
        ({"versions": {"x": float("nan")}}, "no finite number"),
        ({"system": {"name": "\ud800"}}, "lone surrogate"),
        ({"counts": {"\ud800": 5}}, "lone surrogate"),
        ({"estimates": {"correct": {"value": 10**400}}}, "expected float"),
    ],
)
def test_a_result_file_that_cannot_be_is_refused(
    tmp_path: Path, result: Result, change: dict[str, Any], what: str
) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps({**json.loads(result.to_json()), **change}))

    with pytest.raises(DataError, match=what):
        read_result(path)


@pytest.mark.parametrize("text", ['{"a":' * 100_000, '{"schema_version": ' + "9" * 9_000 + "}"])
def test_a_result_file_that_would_choke_the_reader_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.json").write_text(text)

    with pytest.raises(DataError, match="cannot be read"):
        read_result(tmp_path / "r.json")


@pytest.mark.parametrize("depth", [20, 22, 500, 900, 980])
def test_nesting_in_a_result_file_is_read_or_refused(
    tmp_path: Path, result: Result, depth: int
) -> None:
    text = result.to_json().replace(
        '"versions": {', '"versions": {"x": ' + "[" * depth + "]" * depth + ","
    )
    (tmp_path / "r.json").write_text(text)

    with contextlib.suppress(DataError):
        read_result(tmp_path / "r.json").to_json()


def test_an_interval_that_misses_its_value_is_refused(tmp_path: Path, result: Result) -> None:
    plain = json.loads(result.to_json())
    plain["estimates"]["correct"]["low"] = 0.9
    (tmp_path / "r.json").write_text(json.dumps(plain))

    with pytest.raises(DataError, match=r"estimates\.correct"):
        read_result(tmp_path / "r.json")


def test_the_printed_table_has_every_figure_with_its_interval(
    score_toy: Score, rows: list[Row]
) -> None:
    systems = [System(name="s", table_seed=n) for n in (1, 2)]
    table = format_table(score_toy(rows, {"r0": ["a", "b"]}, {}, systems=systems).result)

    assert "s on toy (reversal, test, 5 rows)" in table
    assert "exact 1  correct 0  incorrect 0  invalid 0  missing 4  timeout 0" in table
    for label in (
        "correct, hard rows",
        "exact match",
        "trivial: all-a",
        "correct, best of samples",
    ):
        assert label in table
    assert "0.2000  [0.0362, 0.6245]  n=5  wilson" in table
    assert "mean 0.1000  range 0.0000 to 0.2000" in table


@pytest.mark.slow
def test_a_million_rows_are_scored_in_bounded_time(score_toy: Score) -> None:
    rows = [{"id": str(n), "input": "a b", "target": "b a", "shortcuts": []} for n in range(10**6)]

    found = score_toy(rows, {row["id"]: "b a" for row in rows})
    assert value(found, "exact") == 1
    assert np.isfinite(found.result.estimates["exact"].low or 0)
