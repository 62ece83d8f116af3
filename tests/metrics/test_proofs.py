import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from symshift.data.errors import DataError
from symshift.data.plugins import load_task
from symshift.data.task import Solution
from symshift.metrics.comparison import compare_files
from symshift.metrics.predictions import predictions_from
from symshift.metrics.result import DatasetInfo, System
from symshift.metrics.result_file import read_result
from symshift.metrics.scoring import Scored, score, write_result
from symshift.metrics.site import write_site
from symshift.metrics.table import format_table

TEXT = "facts: a, b; rules: c -> d, a & b -> c, b -> e; query: "
ANSWERS = {
    "r0": "a & b -> c; c -> d; true",
    "r1": "a & b -> c; b -> e; c -> d; false",
    "r2": "b -> e; true",
    "r3": "c -> e; true",
    "r4": "perhaps",
}


def rows() -> list[dict[str, Any]]:
    task = load_task("horn")
    found = []
    for number, query in enumerate("dxaeed"):
        solution = task.solve(task.read(TEXT + query))
        assert isinstance(solution, Solution)
        row = {"input": TEXT + query, "target": solution.target}
        found.append({"id": f"r{number}", **row, "shortcuts": list(solution.shortcuts)})
    return found


def scored(*answers: Mapping[str, str]) -> Scored:
    return score(
        rows(),
        [predictions_from(given) for given in answers],
        load_task("horn"),
        dataset=DatasetInfo(name="d", task="horn", split="test"),
        systems=[System(name="s") for _ in answers],
    )


def test_verdicts_on_proofs_are_counted_and_add_up_to_the_rows() -> None:
    result = scored(ANSWERS).result

    assert result.proofs == {"minimal": 2, "valid": 1, "broken": 1, "absent": 2}
    assert result.counts["invalid"] == result.counts["missing"] == 1
    assert "proofs: minimal 2  valid 1  broken 1  absent 2" in format_table(result)


def test_the_row_table_tells_each_proof_and_its_first_bad_step() -> None:
    table = scored(ANSWERS).rows.to_pylist()

    assert [row["proof"] for row in table] == [
        *("minimal", "minimal", "valid", "broken", "absent", "absent")
    ]
    assert table[3]["proof_reason"] == "step 1 `c -> e`: the problem has no such rule"
    assert table[5]["verdict"] == "missing"


def test_the_first_file_decides_the_counts() -> None:
    assert scored(ANSWERS, {}).result.proofs == scored(ANSWERS).result.proofs


def test_tasks_without_proofs_have_no_such_figures(score_toy: Any, make_row: Any) -> None:
    found = score_toy([make_row("a b")], {"r0": "b a"})

    assert found.result.proofs is None
    assert found.rows.column_names == ["id", "base_id", "verdict", "reason", "lenient"]
    assert "proofs" not in format_table(found.result)


def test_results_with_proofs_are_written_read_compared_and_shown(tmp_path: Path) -> None:
    for name, answers in (("a", ANSWERS), ("b", {"r0": "true"})):
        write_result(scored(answers), tmp_path / f"{name}.json")
    result = read_result(tmp_path / "a.json")

    assert result.proofs == {"minimal": 2, "valid": 1, "broken": 1, "absent": 2}
    assert compare_files(tmp_path / "a.json", tmp_path / "b.json")
    write_site([result], tmp_path / "site")
    pages = [page.read_text() for page in (tmp_path / "site").rglob("*.html")]
    assert any("Proofs" in page and "minimal" in page for page in pages)


def test_counts_of_proofs_that_do_not_add_up_are_refused(tmp_path: Path) -> None:
    write_result(scored(ANSWERS), tmp_path / "a.json")
    plain = json.loads((tmp_path / "a.json").read_text())
    for proofs in ({"minimal": 1}, {"lovely": 6}):
        (tmp_path / "b.json").write_text(json.dumps({**plain, "proofs": proofs}))
        with pytest.raises(DataError, match="proofs="):
            read_result(tmp_path / "b.json")
