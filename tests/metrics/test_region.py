from collections.abc import Callable
from typing import Any

import pytest

from symshift.data.errors import DataError
from symshift.metrics.region import trained_region
from symshift.metrics.result import Result, System
from symshift.metrics.scoring import Scored

Row = dict[str, Any]
Score = Callable[..., Scored]
TRAINED = {"num_symbols": "1-2", "size": "2-9"}


def found(score_toy: Score, rows: list[Row], trained_on: dict[str, Any]) -> Result:
    right = {row["id"]: row["target"] for row in rows[:3]}
    return score_toy(rows, right, systems=[System(name="s", trained_on=trained_on)]).result


def test_rows_inside_the_trained_region_and_outside_are_counted_apart(
    score_toy: Score, rows: list[Row]
) -> None:
    # a | a b | a b c | b a | c b a a: inside are those of 1 to 2 symbols and at least 2 long.
    estimates = found(score_toy, rows, TRAINED).estimates

    inside, outside = estimates["correct:inside"], estimates["correct:outside"]
    assert (inside.n, inside.value) == (2, 0.5)
    assert (outside.n, outside.value) == (3, pytest.approx(2 / 3, abs=1e-9))


def test_a_part_without_rows_has_no_figure(score_toy: Score, rows: list[Row]) -> None:
    everything = {"num_symbols": "0-9", "size": "1-9"}

    assert "correct:outside" not in found(score_toy, rows, everything).estimates
    assert found(score_toy, rows, everything).estimates["correct:inside"].n == 5


@pytest.mark.parametrize("trained_on", [{}, {"num_symbols": "1-2"}, {"size": "1-2", "name": "d"}])
def test_a_region_that_is_not_stated_is_not_guessed(
    score_toy: Score, rows: list[Row], trained_on: dict[str, Any]
) -> None:
    assert trained_region(trained_on) is None
    assert "correct:inside" not in found(score_toy, rows, trained_on).estimates


@pytest.mark.parametrize("value", ["<script>", "5-1", [1], "-", "9" * 9_000, ""])
def test_a_region_that_is_none_is_refused(value: Any) -> None:
    with pytest.raises(DataError, match="trained_on: "):
        trained_region({"num_symbols": value, "size": "1-2"})


def test_figures_by_symbols_and_by_size_are_of_rows_and_clustered(
    score_toy: Score, rows: list[Row], make_row: Callable[..., Row]
) -> None:
    margins = found(score_toy, rows, {}).margins
    assert {k: (e.n, e.value) for k, e in margins["num_symbols"].items()} == {
        "1": (1, 1),
        "2": (2, 0.5),
        "3": (2, 0.5),
    }
    assert list(margins["size"]) == ["1", "2", "3", "4"]

    renamed = [make_row("a b", at, base_id=f"p{at // 8}") for at in range(40)]
    clustered = found(score_toy, renamed, {}).margins["size"]["2"]
    assert (clustered.n, clustered.method) == (5, "cluster-bootstrap-2000")
