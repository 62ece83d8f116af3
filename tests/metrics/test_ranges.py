import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from symshift.cli import cli
from symshift.data import console
from symshift.data.errors import DataError
from symshift.metrics.result import Result
from symshift.metrics.result_file import read_result

GOLDEN = Path(__file__).parents[1] / "cases" / "results" / "result-v1.json"
SPREAD = {"mean": 0.5, "min": 0.4, "max": 0.6, "values": [0.4, 0.6]}


def estimate(value: float, low: float, high: float, n: int = 9) -> dict[str, Any]:
    return {"value": value, "low": low, "high": high, "n": n, "method": "wilson"}


def put(stored: dict[str, Any], place: str, value: Any) -> None:
    *path, last = place.split("/")
    at: Any = stored
    for name in path:
        at = at[int(name)] if isinstance(at, list) else at[name]
    at[last] = value


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        ("estimates/correct", estimate(1.5, 0.5, 1.6), "estimates.correct"),
        ("estimates/correct", estimate(-0.1, -0.2, 0.5), "estimates.correct"),
        ("estimates/correct", estimate(0.5, 0.6, 0.7), "estimates.correct"),
        ("estimates/correct", estimate(0.5, 0.4, 0.6, 0), "estimates.correct"),
        ("estimates/exact/n", -1, "estimates.exact"),
        ("estimates/trivial:", estimate(0.5, 0.4, 0.6), "'trivial:'"),
        ("estimates/trivial:constant", estimate(2.0, 2.0, 2.0), "estimates.trivial:constant"),
        ("counts", {"exact": 10, "incorrect": -1}, "counts.incorrect=-1"),
        ("counts", {"exact": 8}, "are not 9 verdicts"),
        ("proofs", {"minimal": 10, "absent": -1}, "proofs.absent=-1"),
        ("num_foreign", 10, "num_foreign=10"),
        ("cells/0/n", -3, r"cells\[0\].n=-3"),
        ("cells/0/num_right", 4, r"cells\[0\].num_right=4"),
        ("cells/0/correct", estimate(1.5, 0.5, 1.6), r"cells\[0\].correct"),
        ("margins/size", {"4": estimate(1.5, 0.5, 1.6)}, "margins.size.4"),
        ("alpha_covariance/overall", estimate(1.5, 0.5, 1.6), "alpha_covariance.overall"),
        ("alpha_covariance/num_missing", -1, "alpha_covariance.num_missing=-1"),
        ("repeats", {"mean": 0.7}, "repeats.estimates.correct"),
        ("repeats", {"values": [0.4, 0.9]}, "repeats.estimates.correct"),
        ("repeats", {"values": [0.5]}, "1 values for 2 files"),
        ("repeats", {"min": -1.0}, "repeats.estimates.correct"),
    ],
)
def test_numbers_that_cannot_be_are_refused_by_file_and_field(
    tmp_path: Path, place: str, value: Any, said: str
) -> None:
    stored = json.loads(GOLDEN.read_text("utf-8"))
    spread = {**SPREAD, **value} if place == "repeats" else value
    repeats = {"over": "seed", "labels": ["0", "1"], "estimates": {"correct": spread}}
    put(stored, place, repeats if place == "repeats" else value)
    path = tmp_path / "r.json"
    path.write_text(json.dumps(stored))

    with pytest.raises(DataError, match=rf"r\.json: [^\n]*{said}[^\n]*$"):
        read_result(path)


def test_figures_without_rows_are_refused(tmp_path: Path, make: Callable[..., Result]) -> None:
    stored = json.loads(make("a", 0.5).to_json())
    stored["dataset"]["rows"], stored["counts"] = 0, {}
    path = tmp_path / "r.json"
    path.write_text(json.dumps(stored))

    with pytest.raises(DataError, match=r"r\.json: estimates.*dataset\.rows is 0"):
        read_result(path)


def test_the_site_refuses_such_a_file_in_one_line(
    tmp_path: Path, make: Callable[..., Result], capsys: pytest.CaptureFixture[str]
) -> None:
    stored = json.loads(make("a", 0.5).to_json())
    stored["estimates"]["correct"]["high"] = 7.0
    path = tmp_path / "r.json"
    path.write_text(json.dumps(stored))

    assert console.run(cli, ["leaderboard", str(path), "-o", str(tmp_path / "site")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{path}: estimates.correct=" in line
