"""Names and answers from anybody's files, where score, compare and explain print or draw them."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from symshift.data.plugins import load_task
from symshift.data.verdict import Proof
from symshift.metrics.comparison import Comparison, format_comparison
from symshift.metrics.explanation import Explanation
from symshift.metrics.grid import write_grid
from symshift.metrics.intervals import wilson
from symshift.metrics.result import Repeats, Result, Spread
from symshift.metrics.table import format_results, format_table

ATTACK = "x\x1b[2J\ncorrect  1.0000  [1.0000, 1.0000]\x9b"
FORGED = "correct  1.0000"


def hostile(result: Result) -> Result:
    """Return a result in which every text is hostile."""
    spread = Spread(mean=1, min=1, max=1, values=(1,))
    return replace(
        result,
        system=replace(result.system, name=ATTACK),
        dataset=replace(result.dataset, name=ATTACK, regime=ATTACK, split=ATTACK),
        estimates={**result.estimates, ATTACK: wilson(1, 2), f"correct:{ATTACK}": wilson(1, 2)},
        repeats=Repeats(over=ATTACK, labels=(ATTACK,), estimates={"correct": spread}),
    )


def require_harmless(text: str, num_lines: int | None = None) -> None:
    lines = text.split("\n")
    assert all(line.isprintable() for line in lines)
    assert not any(line.startswith(FORGED) for line in lines)
    assert num_lines in (None, len(lines))


def test_tables_of_hostile_names_have_no_forged_lines(result: Result) -> None:
    require_harmless(format_table(hostile(result)))
    require_harmless(format_results([hostile(result)]), 2)


def test_comparisons_of_hostile_names_have_no_forged_lines() -> None:
    both: dict[str, Any] = {"both": 1, "only_a": 1, "only_b": 0, "neither": 0, "n": 2}
    difference = wilson(1, 2)
    compared = Comparison(
        name_a=ATTACK, name_b=ATTACK, difference=difference, p_value=1, test="mcnemar", **both
    )
    require_harmless(format_comparison(compared), 6)


def test_explanations_of_hostile_answers_have_a_line_each() -> None:
    row = {
        "input": "facts: a; rules: a -> b; query: b",
        "target": "a -> b; true",
        "id": "r",
    }
    found = load_task("horn").check(row, f"{ATTACK}; true")
    explanation = Explanation(
        id=ATTACK,
        input=row["input"],
        target=row["target"],
        prediction=ATTACK,
        num_samples=1,
        verdict="correct",
        lenient="correct",
        why=f"{found.proof_reason} {ATTACK}",
    )

    assert found.proof is Proof.BROKEN
    assert found.proof_reason.isprintable()
    require_harmless(explanation.to_text(), 7)


@pytest.mark.parametrize("name", [ATTACK, "\ufffe\x00\uffff", "模型 \U0001f642"])
def test_a_picture_of_any_name_is_well_formed_and_drawn_without_a_warning(
    tmp_path: Path, result: Result, name: str
) -> None:
    named = replace(result, system=replace(result.system, name=name))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_grid(named, tmp_path / "g.svg")
        write_grid(named, tmp_path / "g.png")

    ElementTree.parse(tmp_path / "g.svg")
