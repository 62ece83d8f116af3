from collections import Counter
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import symshift
from symshift.data.plugins import load_task
from symshift.data.verdict import Judgement, Verdict
from symshift.metrics import baselines
from symshift.metrics.baselines import NUM_CANDIDATES, best_constant, trial_of
from symshift.metrics.predictions import predictions_from
from symshift.metrics.result import DatasetInfo, System
from symshift.metrics.scoring import score

Row = dict[str, Any]


class Listed:
    """An answer is right where the row lists it."""

    def __init__(self) -> None:
        self.num_checks = 0

    def check(self, row: Row, text: str) -> Judgement:
        self.num_checks += 1
        return Judgement(Verdict.CORRECT if text in row["right"] else Verdict.INCORRECT)


def every_candidate_on_every_row(task: Any, rows: list[Row]) -> tuple[str | None, int]:
    """Return the best constant answer by the plain search, and how many rows it solves."""
    counts = Counter(row["target"] for row in rows)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:NUM_CANDIDATES]
    trial = list(islice(rows, baselines.NUM_TRIAL_ROWS))
    solved = {text: sum(task.check(row, text).is_right for row in trial) for text, _ in ranked}
    best = max(solved, key=lambda text: solved[text], default=None)
    return best, 0 if best is None else solved[best]


def found_constant(task: Any, rows: list[Row]) -> str | None:
    return best_constant(rows, trial_of(task, rows))


answers = st.sampled_from("abcdefg")
drawn_rows = st.lists(st.builds(dict, target=answers, right=st.frozensets(answers)), max_size=40)


@given(rows=drawn_rows)
def test_the_best_constant_is_that_of_the_plain_search(rows: list[Row]) -> None:
    task = Listed()

    assert found_constant(task, rows) == every_candidate_on_every_row(task, rows)[0]


@pytest.mark.parametrize(
    "name", ["copy", "horn", "prop", pytest.param("ltl", marks=pytest.mark.spot)]
)
def test_on_real_rows_answer_and_share_are_those_of_the_plain_search(name: str) -> None:
    rows = list(islice(symshift.generate(name, symbols=4), 150))
    task = load_task(name)

    best, num_solved = every_candidate_on_every_row(task, rows)
    scored = score(
        rows,
        [predictions_from({})],
        task,
        dataset=DatasetInfo(name="d", task=name, split="test"),
        systems=[System(name="s")],
    ).result
    assert scored.dataset.constant == best
    assert scored.estimates["trivial:constant"].value == pytest.approx(num_solved / len(rows))


def test_candidates_that_cannot_win_are_tried_no_further() -> None:
    rows = [{"target": "abcde"[at % 5], "right": "a"} for at in range(100)]
    task = Listed()

    assert found_constant(task, rows) == "a"
    # After 51 rows `a` has more than the others can still reach.
    assert task.num_checks == 51 * 5


def test_of_equally_good_candidates_the_more_frequent_wins() -> None:
    rows = [{"target": text, "right": "ab"} for text in "bba"]

    assert found_constant(Listed(), rows) == "b"
    assert found_constant(Listed(), [{"target": text, "right": "ab"} for text in "ba"]) == "a"
