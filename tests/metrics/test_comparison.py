import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from symshift.data.errors import DataError
from symshift.metrics.comparison import (
    Comparison,
    compare,
    compare_files,
    format_comparison,
    read_rows,
)
from symshift.metrics.intervals import mcnemar
from symshift.metrics.scoring import Scored, write_result

Row = dict[str, Any]
Score = Callable[..., Scored]


def compared(a: Scored, b: Scored) -> Comparison:
    return compare(a.result, a.rows, b.result, b.rows)


@pytest.fixture
def many(make_row: Callable[..., Row]) -> list[Row]:
    return [make_row("a b", number) for number in range(40)]


def solved(numbers: range) -> dict[str, str]:
    return {f"r{number}": "b a" for number in numbers}


def test_rows_are_paired_by_id(score_toy: Score, many: list[Row]) -> None:
    a, b = score_toy(many, solved(range(30))), score_toy(many[::-1], solved(range(20, 35)))

    found = compared(a, b)
    assert (found.both, found.only_a, found.only_b, found.neither) == (10, 20, 5, 5)
    assert found.difference.value == pytest.approx(15 / 40)
    assert found.p_value == mcnemar(20, 5)
    assert found.difference.low is not None
    assert found.difference.low > 0


def test_swapping_the_systems_turns_the_sign(score_toy: Score, many: list[Row]) -> None:
    a, b = score_toy(many, solved(range(30))), score_toy(many, solved(range(20, 35)))

    there, back = compared(a, b), compared(b, a)
    assert there.difference.value == -(back.difference.value or 0)
    assert there.p_value == back.p_value
    assert there.swapped().to_plain().keys() == back.to_plain().keys()
    assert (there.swapped().only_a, there.swapped().name_a) == (back.only_a, back.name_a)
    assert there.swapped().difference.value == back.difference.value
    assert there.swapped().swapped() == there


def test_a_system_does_not_differ_from_itself_but_the_error_stays(
    score_toy: Score, many: list[Row]
) -> None:
    a = score_toy(many, solved(range(30)))

    found = compared(a, a)
    assert (found.difference.value, found.p_value) == (0, 1)
    assert found.difference.low == -(found.difference.high or 0) < 0


def test_pairs_show_gaps_that_separate_intervals_hide(score_toy: Score, many: list[Row]) -> None:
    a, b = score_toy(many, solved(range(28))), score_toy(many, solved(range(20)))

    left, right = a.result.estimates["correct"], b.result.estimates["correct"]
    assert (left.low or 0) < (right.high or 1)
    assert compared(a, b).p_value < 0.01


def test_renamings_are_compared_problem_by_problem(
    score_toy: Score, make_row: Callable[..., Row]
) -> None:
    rows = [
        make_row("a b", 8 * problem + at, base_id=f"p{problem}")
        for problem in range(5)
        for at in range(8)
    ]

    found = compared(score_toy(rows, solved(range(40))), score_toy(rows, {}))
    assert found.only_a == 40
    assert found.test == "sign-test"
    assert found.p_value == mcnemar(5, 0)
    assert found.difference.n == 5


def test_other_rows_are_not_compared(score_toy: Score, many: list[Row]) -> None:
    a = score_toy(many, {}, fingerprint="x")

    with pytest.raises(DataError, match="fingerprint 'x' and 'y'"):
        compared(a, score_toy(many, {}, fingerprint="y"))
    with pytest.raises(DataError, match="split 'test' and 'train'"):
        compared(a, score_toy(many, {}, fingerprint="x", split="train"))
    other = score_toy([{**row, "id": row["id"] + "x"} for row in many], {}, fingerprint="x")
    with pytest.raises(DataError, match="different ids"):
        compared(a, other)


def test_rows_that_rename_different_problems_are_not_compared(
    score_toy: Score, make_row: Callable[..., Row]
) -> None:
    def renamed(*base_ids: str) -> Scored:
        rows = [make_row("a b", at, base_id=base_id) for at, base_id in enumerate(base_ids)]
        return score_toy(rows, {})

    for other in (renamed("p", "q", "q"), renamed("p", "q", "s")):
        for pair in ((renamed("p", "p", "q"), other), (other, renamed("p", "p", "q"))):
            with pytest.raises(DataError, match="the same id different base_ids"):
                compared(*pair)


def test_no_rows_are_not_compared(score_toy: Score, many: list[Row]) -> None:
    a = score_toy(many, {})

    with pytest.raises(DataError, match="no rows"):
        compare(a.result, a.rows.slice(0, 0), a.result, a.rows.slice(0, 0))


def test_files_are_compared_with_the_rows_beside_them(
    tmp_path: Path, score_toy: Score, many: list[Row]
) -> None:
    write_result(score_toy(many, solved(range(30))), tmp_path / "a.json")
    write_result(score_toy(many, solved(range(10))), tmp_path / "b.json")

    found = compare_files(tmp_path / "a.json", tmp_path / "b.json")
    assert found.only_a == 20
    assert json.loads(json.dumps(found.to_plain()))["difference"]["value"] == 0.5
    assert "+0.5000  [" in format_comparison(found)
    (tmp_path / "a.rows.parquet").unlink()
    with pytest.raises(DataError, match="symshift score"):
        compare_files(tmp_path / "a.json", tmp_path / "b.json")


def test_the_rows_of_another_result_are_refused(
    tmp_path: Path, score_toy: Score, many: list[Row]
) -> None:
    for name, solving in (("a", range(30)), ("b", range(10)), ("c", range(10, 15))):
        write_result(score_toy(many, solved(solving)), tmp_path / f"{name}.json")
    (tmp_path / "c.rows.parquet").replace(tmp_path / "b.rows.parquet")

    with pytest.raises(DataError, match="5 of 40 rows are right, the result says 10 of 40"):
        compare_files(tmp_path / "a.json", tmp_path / "b.json")


def test_a_row_table_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(b"PAR1")

    with pytest.raises(DataError, match="no table of rows"):
        read_rows(tmp_path / "x.parquet")
