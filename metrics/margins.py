"""Correctness along one side of the grid: by number of symbols, and by size.

Not sums of cells: where rows rename one problem, intervals need the problems.
"""

from collections.abc import Mapping

import numpy as np

from symshift.data.verdict import Estimate
from symshift.metrics.accuracy import Booleans, RowFacts
from symshift.metrics.intervals import share
from symshift.metrics.judging import Outcomes

SIDES = ("num_symbols", "size")


def margins_of(facts: RowFacts, outcomes: Outcomes) -> dict[str, Mapping[str, Estimate]]:
    """Return correctness for each number of symbols and each size that rows have.

    Returns:
        For each of SIDES that rows say: value, as text, to estimate.
    """
    found: dict[str, Mapping[str, Estimate]] = {}
    for side in SIDES:
        values = getattr(facts, side)
        present = [value for value in np.unique(values).tolist() if value >= 0]
        if present:
            found[side] = {
                str(value): _share(facts, outcomes, values == value) for value in present
            }
    return found


def _share(facts: RowFacts, outcomes: Outcomes, rows: Booleans) -> Estimate:
    return share(outcomes.is_right[rows], facts.clusters(rows))
