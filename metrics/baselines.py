"""What trivial answers achieve on the same rows: the figure to read every other figure against.

Three kinds: the task's own shortcuts (answers made without reading the problem, such as the word
on which every symbol is always true), the best constant, and the input handed back.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from symshift.data.errors import DataError
from symshift.data.task import Task
from symshift.data.verdict import Estimate
from symshift.metrics.accuracy import RowFacts
from symshift.metrics.intervals import share
from symshift.metrics.judging import Judge

CONSTANT = "constant"
COPIED_INPUT = "copied-input"
ANY_SHORTCUT = "any-shortcut"
NUM_COUNTED_TARGETS = 100_000
NUM_CANDIDATES = 5
NUM_TRIAL_ROWS = 500
NUM_CHECKED_SHORTCUTS = 100


def trial_of(task: Task, rows: Iterable[Mapping[str, Any]]) -> list[Judge]:
    """Return the judges of the first rows, on which constant answers are tried.

    Scoring asks them again, so what they were asked here is not checked a second time.
    """
    return [Judge(task, row) for row in islice(rows, NUM_TRIAL_ROWS)]


def best_constant(rows: Iterable[Mapping[str, Any]], trial: Sequence[Judge]) -> str | None:
    """Return the fixed text that is right for most rows, or None if there are no rows.

    The candidates are the most frequent targets among the first NUM_COUNTED_TARGETS rows, tried on
    the first NUM_TRIAL_ROWS: it is chosen on the very rows that it is then scored on, so its
    figure is, if anything, too high.

    Args:
        rows: The rows.
        trial: What `trial_of` returns for them.
    """
    counts: Counter[str] = Counter(row["target"] for row in islice(rows, NUM_COUNTED_TARGETS))
    # Ties go by text, so that the order of the rows does not decide.
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    candidates = [text for text, _ in ranked[:NUM_CANDIDATES]]
    if len(candidates) < 2:
        return candidates[0] if candidates else None
    return _most_often_right(candidates, trial)


def _most_often_right(candidates: Sequence[str], trial: Sequence[Judge]) -> str:
    """Return the first of the candidates that are right for most rows.

    All are tried on a row before the next one, so that the row is read once; one that can no longer
    be the best is tried no further.
    """
    solved = dict.fromkeys(candidates, 0)
    for num_tried, judge in enumerate(trial, 1):
        for text in solved:
            solved[text] += judge.text(text).is_right
        least = max(solved.values()) - (len(trial) - num_tried)
        solved = {text: num for text, num in solved.items() if num >= least}
        if len(solved) == 1:
            break
    return max(solved, key=lambda text: solved[text])


class BaselineCollector:
    """Gathers which trivial answers solve each row."""

    def __init__(self, task: Task, constant: str | None) -> None:
        self._task = task
        self._constant = constant
        self._solved = {name: array("B") for name in (*task.shortcut_names, ANY_SHORTCUT)}
        if constant is not None:
            self._solved[CONSTANT] = array("B")
        self._solved[COPIED_INPUT] = array("B")
        self._num_rows = 0
        self._input_is_target = True

    def add(self, judge: Judge) -> bool:
        """Take in the next row and tell whether it is hard: no shortcut solves it."""
        row = judge.row
        solving = self._solving(judge)
        for name in self._task.shortcut_names:
            self._solved[name].append(name in solving)
        self._solved[ANY_SHORTCUT].append(bool(solving))
        if self._constant is not None:
            self._solved[CONSTANT].append(judge.text(self._constant).is_right)
        self._solved[COPIED_INPUT].append(judge.text(row["input"]).is_right)
        self._input_is_target &= row["input"] == row["target"]
        self._num_rows += 1
        return not solving

    def _solving(self, judge: Judge) -> Sequence[str]:
        listed = judge.row.get("shortcuts")
        if listed is not None and self._num_rows >= NUM_CHECKED_SHORTCUTS:
            return list(listed)
        found = [
            name
            for name in self._task.shortcut_names
            if judge.text(self._task.shortcut(name, judge.row)).is_right
        ]
        if listed is not None and sorted(listed) != sorted(found):
            raise DataError(
                f"row {judge.row['id']}: its column shortcuts says {list(listed)}, "
                f"the checker says {found}; run `symshift verify` on the data set"
            )
        return found

    def estimates(self, facts: RowFacts) -> dict[str, Estimate]:
        """Return the share of rows that each trivial answer solves, by "trivial:NAME".

        "trivial" is the best single one of them, and "trivial:any-shortcut" what one would get by
        choosing the right shortcut for each row. Where every target is the input itself (copying),
        handing it back is the task, and no candidate for "trivial".
        """
        found = {
            name: share(np.frombuffer(solved, dtype=np.bool_), facts.problems)
            for name, solved in self._solved.items()
            if name != ANY_SHORTCUT or self._task.shortcut_names
        }
        apart = {ANY_SHORTCUT, COPIED_INPUT} if self._input_is_target else {ANY_SHORTCUT}
        single = [estimate for name, estimate in found.items() if name not in apart]
        best = max(single, key=lambda estimate: estimate.value or 0.0, default=None)
        named = {f"trivial:{name}": estimate for name, estimate in found.items()}
        return named if best is None else {"trivial": best, **named}
