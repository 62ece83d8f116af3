"""Alpha-covariance: does a system's answer follow when the symbols are renamed?

For one problem it is 1 - (|U| - 1) / (|P| - 1): P are the renamings that were asked, U the
distinct predictions after each renaming is undone. 1: renaming the problem renames the answer;
0: every renaming gets another answer. Predictions are compared as token sequences; whether they
are right plays no part.

The idea is from "Interchangeable Token Embeddings for Extendable Vocabulary and Alpha-Equivalence"
(ICML 2025). Undoing is stricter here: a symbol outside the renaming's image is marked as foreign,
so it cannot pass for an original one.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symshift.data.errors import DataError
from symshift.data.text import is_name, tokens_of
from symshift.data.verdict import Estimate, Verdict
from symshift.metrics.intervals import bootstrap_mean

FOREIGN = "~"
"""Stands before a foreign symbol; no token of a text looks like the two together."""


def undo(text: str, renamed_to_name: Mapping[str, str]) -> tuple[str, ...]:
    """Return the tokens of a prediction with a renaming undone.

    Args:
        text: The prediction, well-formed or not.
        renamed_to_name: New names to the original ones.
    """
    return tuple(
        renamed_to_name.get(token, FOREIGN + token) if is_name(token) else token
        for token in tokens_of(text)
    )


def covariance(num_distinct: int, num_renamings: int) -> float:
    """Return the alpha-covariance of one problem.

    Args:
        num_distinct: Distinct predictions after undoing, at least 1.
        num_renamings: Renamings that were asked, at least 2.
    """
    if not 1 <= num_distinct <= num_renamings or num_renamings < 2:
        raise ValueError(
            f"num_distinct={num_distinct}, num_renamings={num_renamings}: "
            "expected 1 <= num_distinct <= num_renamings and at least 2 renamings"
        )
    return 1 - (num_distinct - 1) / (num_renamings - 1)


@dataclass(slots=True)
class _Problem:
    num_symbols: int | None
    renamings: set[tuple[tuple[str, str], ...]] = field(default_factory=set)
    undone: set[tuple[str, ...]] = field(default_factory=set)
    num_lost: int = 0

    @property
    def value(self) -> float:
        return covariance(len(self.undone) + self.num_lost, len(self.renamings))


@dataclass(frozen=True, slots=True, kw_only=True)
class AlphaSummary:
    """Alpha-covariance over the problems of a renamed data set."""

    overall: Estimate
    """The mean over problems."""
    by_num_symbols: Mapping[str, Estimate]
    """The same for the problems with each number of symbols."""
    num_excluded: int
    """Problems with a single renaming, which say nothing."""
    num_missing: int
    """Predictions that were absent or no text; each counts as an answer like no other."""
    num_timeout: int
    """Predictions whose check timed out; likewise."""


class AlphaCovariance:
    """Gathers predictions for the renamings of many problems, in any order."""

    def __init__(self) -> None:
        self._problems: dict[str, _Problem] = {}
        self._num_missing = 0
        self._num_timeout = 0

    def add(self, row: Mapping[str, Any], text: str | None, verdict: Verdict) -> None:
        """Take in the prediction for one renaming.

        Args:
            row: A row of a renamed data set: `base_id`, `renaming`, and `num_symbols` if it has it.
            text: The prediction; None where there is none to compare, which makes it an element
                of its own.
            verdict: What the checker said.

        Raises:
            DataError: If the renaming is not one-to-one, or was there already for this problem.
        """
        pairs = tuple(sorted((pair["name"], pair["renamed"]) for pair in row["renaming"]))
        back = {renamed: name for name, renamed in pairs}
        problem = self._problems.setdefault(row["base_id"], _Problem(row.get("num_symbols")))
        if len(back) < len(pairs) or len(dict(pairs)) < len(pairs):
            raise DataError(f"row {row['id']}: its renaming is not one-to-one")
        if pairs in problem.renamings:
            raise DataError(f"row {row['id']}: problem {row['base_id']} has this renaming twice")
        problem.renamings.add(pairs)
        if text is not None:
            problem.undone.add(undo(text, back))
            return
        problem.num_lost += 1
        self._num_timeout += verdict is Verdict.TIMEOUT
        self._num_missing += verdict is not Verdict.TIMEOUT

    def summary(self) -> AlphaSummary | None:
        """Return the estimates, or None if there was no renamed row at all."""
        if not self._problems:
            return None
        usable = [p for p in self._problems.values() if len(p.renamings) > 1]
        sizes = sorted({p.num_symbols for p in usable if p.num_symbols is not None})
        return AlphaSummary(
            overall=_mean(p.value for p in usable),
            by_num_symbols={
                str(size): _mean(p.value for p in usable if p.num_symbols == size) for size in sizes
            },
            num_excluded=len(self._problems) - len(usable),
            num_missing=self._num_missing,
            num_timeout=self._num_timeout,
        )


def _mean(values: Iterable[float] | Iterator[float]) -> Estimate:
    return bootstrap_mean(np.fromiter(values, dtype=np.float64))
