"""How far answers are from what was to be copied: the mean number of edits.

Published next to exact match for the copying task ("Interchangeable Token Embeddings", ICML 2025):
it tells an answer with one slip from one that has nothing to do with the string.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from symshift.data.formula import MAX_TEXT
from symshift.data.text import tokens_of
from symshift.data.verdict import Estimate
from symshift.metrics.intervals import bootstrap_mean, per_cluster

Integers = npt.NDArray[np.int64]


def edit_distance(left: Sequence[str], right: Sequence[str]) -> int:
    """Return the least number of insertions, deletions and substitutions between two sequences.

    All cells of a column of the usual table are bits of one number (Hyyro, "A Bit-Vector
    Algorithm for Computing Levenshtein and Damerau Edit Distances", 2003, figure 5).
    """
    if not left:
        return len(right)
    places: dict[str, int] = {}
    for at, token in enumerate(left):
        places[token] = places.get(token, 0) | 1 << at
    every, last = (1 << len(left)) - 1, 1 << (len(left) - 1)
    up, down, distance = every, 0, len(left)
    for token in right:
        equal = places.get(token, 0)
        diagonal = (((equal & up) + up) ^ up) | equal | down
        right_up, right_down = down | (every & ~(diagonal | up)), up & diagonal
        distance += bool(right_up & last) - bool(right_down & last)
        right_up, right_down = right_up << 1 | 1, right_down << 1
        up, down = (right_down | ~(diagonal | right_up)) & every, right_up & diagonal & every
    return distance


def answer_distance(target: str, answer: str | None) -> int:
    """Return the edits from an answer to its target; no answer is an empty one.

    Of an answer that is longer than the longest that is read, the rest is left out.
    """
    if answer == target and len(target) <= MAX_TEXT:
        return 0
    wanted, given = tokens_of(target), tokens_of((answer or "")[:MAX_TEXT])
    return 0 if wanted == given else edit_distance(wanted, given)


def mean_distance(
    distances: Integers, lengths: Integers, problems: Integers | None = None
) -> Estimate:
    """Return the mean edit distance with its bootstrap interval.

    Args:
        distances: That of each answer.
        lengths: The number of tokens of each target; where all answers are equally far, the
            longest of them bounds the interval.
        problems: The problem that each row renames, or None where rows are independent.
    """
    values, counts = distances.astype(np.float64), None
    bound = float(max(lengths.max(initial=0), distances.max(initial=0)))
    if problems is not None:
        values, counts = per_cluster(values, problems)
    return bootstrap_mean(values, counts, max_value=bound)
