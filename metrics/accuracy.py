"""Correctness and exact match: overall, on hard rows, and in each cell of the grid."""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from symshift.data.verdict import Estimate
from symshift.metrics.intervals import bootstrap_mean, per_cluster, share, wilson
from symshift.metrics.judging import Outcomes

Booleans = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RowFacts:
    """What the metrics need to know of each row, whatever was answered."""

    num_symbols: Integers
    """Distinct symbols of the input; -1 where the row does not say."""
    size: Integers
    """The problem's size; -1 where the row does not say."""
    is_hard: Booleans
    """Whether no trivial answer solves the row."""
    problems: Integers | None
    """The problem that each row renames, as numbers from 0; None where rows are independent."""
    regimes: tuple[str, ...]
    """The regimes that occur."""
    regime: npt.NDArray[np.int16]
    """Each row's place in `regimes`; -1 where the row does not say."""

    @property
    def only_regime(self) -> str:
        """The regime that all rows share, if they do (rows without symbols aside)."""
        found = np.unique(self.regime[self.num_symbols != 0]).tolist()
        return self.regimes[found[0]] if len(found) == 1 and found[0] >= 0 else ""

    def clusters(self, chosen: Booleans) -> Integers | None:
        """Return the problems of the chosen rows, or None where rows are independent."""
        return None if self.problems is None else self.problems[chosen]


class FactCollector:
    """Gathers the facts of the rows."""

    def __init__(self) -> None:
        self._num_symbols = array("q")
        self._size = array("q")
        self._hard = array("B")
        self._problems = array("q")
        self._regime = array("h")
        self._numbers: dict[str, int] = {}
        self._regimes: dict[str, int] = {}

    def add(self, row: Mapping[str, Any], *, is_hard: bool) -> None:
        """Take in the next row."""
        for column, values in (("num_symbols", self._num_symbols), ("size", self._size)):
            number = row.get(column)
            values.append(-1 if number is None else number)
        self._hard.append(is_hard)
        base_id = row.get("base_id")
        if base_id is not None:
            self._problems.append(self._numbers.setdefault(base_id, len(self._numbers)))
        regime = row.get("regime")
        place = -1 if regime is None else self._regimes.setdefault(regime, len(self._regimes))
        self._regime.append(place)

    def facts(self) -> RowFacts:
        """Return everything that was gathered."""
        # Rows with one renaming each are as independent as the problems they come from.
        is_renamed = len(self._problems) == len(self._size) > len(self._numbers)
        return RowFacts(
            num_symbols=np.frombuffer(self._num_symbols, dtype=np.int64),
            size=np.frombuffer(self._size, dtype=np.int64),
            is_hard=np.frombuffer(self._hard, dtype=np.bool_),
            problems=np.frombuffer(self._problems, dtype=np.int64) if is_renamed else None,
            regimes=tuple(self._regimes),
            regime=np.frombuffer(self._regime, dtype=np.int16),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The rows with one number of symbols and one size."""

    num_symbols: int
    """Distinct symbols in the input."""
    size: int
    """The problem's size."""
    n: int
    """How many rows."""
    num_right: int
    """How many were answered exactly or correctly."""
    num_exact: int
    """How many were answered exactly."""
    num_hard: int
    """How many no trivial answer solves."""
    num_hard_right: int
    """How many of those were answered rightly."""
    correct: Estimate
    """The share of right answers."""


_CELL_NUMBERS = tuple(f.name for f in fields(Cell) if f.name != "correct")


def accuracy_estimates(facts: RowFacts, outcomes: Outcomes) -> dict[str, Estimate]:
    """Return correctness, exact match, correctness on hard rows and leniently read, by name.

    Where some row has several samples: also the mean over samples, and the best of them.
    """
    right, hard = outcomes.is_right, facts.is_hard
    estimates = {
        "correct": share(right, facts.problems),
        "exact": share(outcomes.is_exact, facts.problems),
        "lenient": share(outcomes.is_right_leniently, facts.problems),
        "correct_hard": share(right[hard], facts.clusters(hard)),
    }
    if outcomes.right_samples is not None:
        means, counts = outcomes.right_samples, None
        if facts.problems is not None:
            means, counts = per_cluster(means, facts.problems)
        estimates["correct_mean_of_samples"] = bootstrap_mean(means, counts)
        estimates["correct_best_of_samples"] = share(outcomes.right_samples > 0, facts.problems)
    return estimates


def regime_estimates(facts: RowFacts, outcomes: Outcomes) -> dict[str, Estimate]:
    """Return correctness for each regime by "correct:REGIME", where rows are of several."""
    if len(facts.regimes) < 2:
        return {}
    chosen = {name: facts.regime == at for at, name in enumerate(facts.regimes)}
    return {
        f"correct:{name}": share(outcomes.is_right[rows], facts.clusters(rows))
        for name, rows in sorted(chosen.items())
    }


def cells_of(facts: RowFacts, outcomes: Outcomes) -> tuple[Cell, ...]:
    """Return the cells that have rows, by number of symbols, then size.

    Rows that do not say their number of symbols or size are in no cell.
    """
    known = (facts.num_symbols >= 0) & (facts.size >= 0)
    if not known.any():
        return ()
    width = int(facts.size.max()) + 1
    keys, cell_of_row = np.unique(
        facts.num_symbols[known] * width + facts.size[known], return_inverse=True
    )
    right, hard = outcomes.is_right[known], facts.is_hard[known]
    columns = (np.ones_like(right), right, outcomes.is_exact[known], hard, hard & right)
    counts = [np.bincount(cell_of_row, weights=column) for column in columns]
    clusters = facts.clusters(known)
    cells = []
    table = np.stack([keys // width, keys % width, *counts]).astype(np.int64)
    for at, numbers in enumerate(table.T.tolist()):
        if clusters is None:
            correct = wilson(numbers[3], numbers[2])
        else:
            rows = cell_of_row == at
            correct = share(right[rows], clusters[rows])
        cells.append(Cell(**dict(zip(_CELL_NUMBERS, numbers, strict=True)), correct=correct))
    return tuple(cells)
