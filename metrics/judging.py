"""Rows and answers in one pass: each distinct text of a row is checked once.

What is kept of a row is a few numbers, so the memory for ten million rows is that of a few arrays.
"""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from symshift.data.task import Task
from symshift.data.verdict import Judgement, Verdict
from symshift.metrics.alpha_covariance import AlphaCovariance
from symshift.metrics.joining import Answer

VERDICTS = tuple(Verdict)
_CODES = {verdict: code for code, verdict in enumerate(VERDICTS)}
ROWS_SCHEMA = pa.schema([(name, pa.string()) for name in ("id", "base_id", "verdict", "reason")])


class Judge:
    """The checker of one row, with a memory of the texts that it has seen."""

    def __init__(self, task: Task, row: Mapping[str, Any]) -> None:
        self.row = row
        """The row."""
        self._task = task
        self._seen: dict[str, Judgement] = {}

    def text(self, text: str) -> Judgement:
        """Return the judgement on a text."""
        found = self._seen.get(text)
        if found is None:
            found = self._seen[text] = self._task.check(self.row, text)
        return found

    def answer(self, answer: Answer) -> Judgement:
        """Return the judgement on an answer: that on its first sample."""
        if answer.is_missing:
            return Judgement(Verdict.MISSING, answer.reason)
        if answer.reason or not answer.samples or answer.samples[0] is None:
            return Judgement(Verdict.INVALID, answer.reason)
        return self.text(answer.samples[0])


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What became of the answers in one file, row by row."""

    verdicts: npt.NDArray[np.uint8]
    """Places in VERDICTS."""
    is_foreign: npt.NDArray[np.bool_]
    """Whether the answer uses symbols that the input does not have."""
    right_samples: npt.NDArray[np.float64]
    """The share of the row's samples that are right."""
    has_right_sample: npt.NDArray[np.bool_]
    """Whether any of them is."""
    max_samples: int
    """The largest number of samples of a row."""
    rows: pa.Table | None
    """The row table of the result (ROWS_SCHEMA), where it was asked for."""
    alpha_covariance: AlphaCovariance
    """The problems' renamings with their predictions."""

    @property
    def is_exact(self) -> npt.NDArray[np.bool_]:
        """Whether each answer equals the target."""
        return np.equal(self.verdicts, _CODES[Verdict.EXACT])

    @property
    def is_right(self) -> npt.NDArray[np.bool_]:
        """Whether each answer is right."""
        return self.is_exact | np.equal(self.verdicts, _CODES[Verdict.CORRECT])

    def counts(self) -> dict[str, int]:
        """Return how many rows have each verdict; they add up to the number of rows."""
        counted = np.bincount(self.verdicts, minlength=len(VERDICTS)).tolist()
        return {verdict.value: n for verdict, n in zip(VERDICTS, counted, strict=True)}


class OutcomeCollector:
    """Gathers the outcomes of one file of predictions."""

    def __init__(self, *, keep_rows: bool) -> None:
        self._verdicts = array("B")
        self._foreign = array("B")
        self._shares = array("d")
        self._max_samples = 1
        self._rows: list[tuple[str, str | None, str, str]] = []
        self._batches: list[pa.RecordBatch] = []
        self._keep_rows = keep_rows
        self._alpha = AlphaCovariance()

    def add(self, judge: Judge, answer: Answer) -> None:
        """Take in the answer to the next row."""
        judgement, row = judge.answer(answer), judge.row
        self._verdicts.append(_CODES[judgement.verdict])
        self._foreign.append(judgement.foreign)
        self._shares.append(self._share(judge, answer, judgement))
        if row.get("renaming") is not None:
            has_text = judgement.verdict not in (Verdict.MISSING, Verdict.TIMEOUT)
            text = answer.samples[0] if has_text and answer.samples else None
            self._alpha.add(row, text, judgement.verdict)
        if self._keep_rows:
            kept = (row["id"], row.get("base_id"), judgement.verdict.value, judgement.reason)
            self._rows.append(kept)

    def _share(self, judge: Judge, answer: Answer, first: Judgement) -> float:
        if answer.samples is None or len(answer.samples) < 2:
            return float(first.is_right)
        self._max_samples = max(self._max_samples, len(answer.samples))
        right = sum(text is not None and judge.text(text).is_right for text in answer.samples)
        return right / len(answer.samples)

    def flush(self) -> None:
        """Pack the rows so far; to be called now and then."""
        if self._rows:
            columns = [pa.array(column, pa.string()) for column in zip(*self._rows, strict=True)]
            self._batches.append(pa.RecordBatch.from_arrays(columns, schema=ROWS_SCHEMA))
            self._rows.clear()

    def outcomes(self) -> Outcomes:
        """Return everything that was gathered."""
        self.flush()
        shares = np.frombuffer(self._shares, dtype=np.float64)
        return Outcomes(
            verdicts=np.frombuffer(self._verdicts, dtype=np.uint8),
            is_foreign=np.frombuffer(self._foreign, dtype=np.bool_),
            right_samples=shares,
            has_right_sample=shares > 0,
            max_samples=self._max_samples,
            rows=pa.Table.from_batches(self._batches, ROWS_SCHEMA) if self._keep_rows else None,
            alpha_covariance=self._alpha,
        )
