import subprocess
import sys

import pytest

import symshift
from symshift.data.errors import DataError, UsageError


def test_import_loads_nothing_heavy():
    code = (
        "import sys, symshift\n"
        "heavy = {'numpy', 'torch', 'pyarrow', 'click', 'symshift.data'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert done.returncode == 0, done.stderr


def test_rows_can_be_generated_checked_and_scored():
    rows = [row for row, _ in zip(symshift.generate("copy", symbols=3, size="3-5"), range(20))]
    answers = {row.id: row.target for row in rows[:15]}
    answers[rows[15].id] = "a a a a a a a"
    result = symshift.score(rows, answers)

    assert result.counts["exact"] == 15
    assert result.counts["incorrect"] == 1
    assert result.counts["missing"] == 4
    assert result.estimates["correct"].value == 0.75
    assert symshift.task("copy").check(rows[0], rows[0].target).verdict == "exact"


def test_any_mapping_is_a_row():
    judgement = symshift.task("ltl").check({"input": "a U b", "target": "cycle{b}"}, "a; cycle{b}")

    assert judgement.verdict == "correct"
    assert judgement.reason == ""


def test_a_data_set_is_loaded(tmp_path):
    from symshift.generators.generation import generate_dataset

    generate_dataset("copy", tmp_path / "d", {"test": 7}, num_workers=1)

    assert len(list(symshift.load(str(tmp_path / "d"), "test"))) == 7
    with pytest.raises(UsageError, match="train"):
        list(symshift.load(str(tmp_path / "d"), "train"))


def test_mistakes_are_refused():
    with pytest.raises(UsageError, match="'ltl'"):
        symshift.task("lt")
    with pytest.raises(UsageError, match="'symbols'"):
        symshift.generate("copy", symbol=3)
    with pytest.raises(UsageError, match=r"train=5 is for a data set .* take as many as you need"):
        symshift.generate("horn", train=5)
    with pytest.raises(UsageError, match=r"Known: balance.* symbols$"):
        symshift.generate("horn", preset="horn-rp")
    for wrong in ({"seed": "x"}, {"seed": None}, {"symbols": 2.5}, {"names": (0, 3)}):
        with pytest.raises(UsageError, match=next(iter(wrong))):
            symshift.generate("copy", **wrong)
    with pytest.raises(ValueError, match="nothing to score"):
        symshift.score([], {})
    rows = [next(symshift.generate("copy"))]
    with pytest.raises(DataError):
        symshift.score(rows, {"nobody": "a"})
