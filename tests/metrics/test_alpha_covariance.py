import json
from pathlib import Path
from typing import Any

import pytest

from symshift.data.errors import DataError
from symshift.data.text import is_name, tokens_of
from symshift.data.verdict import Verdict
from symshift.metrics.alpha_covariance import AlphaCovariance, AlphaSummary, covariance, undo

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "alpha_covariance.jsonl").open()
]


def renamed_row(names: str, renamed: str, **more: Any) -> dict[str, Any]:
    pairs = [{"name": n, "renamed": r} for n, r in zip(names, renamed, strict=True)]
    return {"id": renamed, "base_id": "p", "num_symbols": len(names), "renaming": pairs, **more}


def summary_of(*rows: tuple[dict[str, Any], str | None]) -> AlphaSummary:
    gathered = AlphaCovariance()
    for row, text in rows:
        gathered.add(row, text, Verdict.MISSING if text is None else Verdict.CORRECT)
    found = gathered.summary()
    assert found is not None
    return found


@pytest.mark.parametrize("case", CASES)
def test_known_values(case: dict[str, Any]) -> None:
    symbols = list(filter(is_name, tokens_of(case["input"])))
    rows = [
        (renamed_row("".join(symbols), "".join(filter(is_name, tokens_of(text)))), prediction)
        for text, prediction in case["predictions"].items()
    ]

    assert summary_of(*rows).overall.value == pytest.approx(case["alpha_covariance"])


def test_a_foreign_symbol_cannot_pass_for_an_original_one() -> None:
    assert undo("c & d", {"c": "d"}) == ("d", "&", "~d")


def test_texts_that_do_not_parse_are_undone_token_by_token() -> None:
    undone = undo(" cycle{c} and->(", {"c": "a", "and": "b"})

    assert " ".join(undone) == "cycle { a } b -> ("


def test_white_space_makes_no_difference() -> None:
    a = (renamed_row("a", "a"), "cycle{a}")
    b = (renamed_row("a", "b"), " cycle {\tb }")

    assert summary_of(a, b).overall.value == 1


def test_missing_and_timed_out_predictions_are_unlike_any_other() -> None:
    gathered = AlphaCovariance()
    gathered.add(renamed_row("a", "a"), "a", Verdict.CORRECT)
    gathered.add(renamed_row("a", "b"), "b", Verdict.CORRECT)
    gathered.add(renamed_row("a", "c"), None, Verdict.MISSING)
    gathered.add(renamed_row("a", "d"), None, Verdict.TIMEOUT)

    found = gathered.summary()
    assert found is not None
    assert found.overall.value == pytest.approx(1 - 2 / 3)
    assert (found.num_missing, found.num_timeout) == (1, 1)


def test_a_system_that_says_nothing_is_not_covariant() -> None:
    assert summary_of(*((renamed_row("a", name), None) for name in "abc")).overall.value == 0


def test_a_problem_with_one_renaming_is_excluded_and_counted() -> None:
    one = renamed_row("", "", base_id="q", num_symbols=0)
    found = summary_of((one, "1"), (renamed_row("a", "a"), "a"), (renamed_row("a", "b"), "a"))

    assert found.num_excluded == 1
    assert (found.overall.value, found.overall.n) == (0, 1)
    assert list(found.by_num_symbols) == ["1"]


def test_values_are_also_given_by_number_of_symbols() -> None:
    rows = [(renamed_row("a", name), name) for name in "abc"]
    rows += [(renamed_row("ab", names, base_id="q"), "a") for names in ("ab", "bc", "ca")]

    found = summary_of(*rows)
    assert {k: e.value for k, e in found.by_num_symbols.items()} == {"1": 1.0, "2": 0.0}
    assert found.overall.value == 0.5
    assert found.overall.low is not None
    assert found.overall.low < 0.5


def test_a_renaming_that_is_repeated_or_not_one_to_one_is_refused() -> None:
    for renamed in ("ab", "cc"):
        with pytest.raises(DataError, match="row"):
            summary_of((renamed_row("ab", "ab"), "a"), (renamed_row("ab", renamed), "a"))


def test_covariance_refuses_impossible_counts() -> None:
    for num_distinct, num_renamings in ((0, 2), (3, 2), (1, 1)):
        with pytest.raises(ValueError, match="num_distinct"):
            covariance(num_distinct, num_renamings)


def test_without_renamed_rows_there_is_no_figure() -> None:
    assert AlphaCovariance().summary() is None
