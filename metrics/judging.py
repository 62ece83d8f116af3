"""Rows and answers in one pass: each distinct text of a row is checked once.

What is kept of a row is a few numbers, so the memory for ten million rows is that of a few arrays;
the row table goes to a temporary file.
"""

from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from symshift.data.task import Task
from symshift.data.verdict import Judgement, Proof, Verdict
from symshift.metrics.alpha_covariance import AlphaCovariance
from symshift.metrics.edit_distance import answer_distance
from symshift.metrics.joining import Answer
from symshift.metrics.leniency import sole_answer
from symshift.metrics.notations import Notation, NotationError
from symshift.metrics.row_table import RowTable

VERDICTS = tuple(Verdict)
_CODES = {verdict: code for code, verdict in enumerate(VERDICTS)}
_RIGHT = tuple(code for code, v in enumerate(VERDICTS) if Judgement(v).is_right)


class Judge:
    """The checker of one row, with a memory of the texts that it has seen."""

    def __init__(self, task: Task, row: Mapping[str, Any]) -> None:
        self.row = row
        """The row."""
        self._task = task
        self._seen: dict[str, Judgement] = {}

    @property
    def has_proof(self) -> bool:
        """Whether answers to the row have proofs, as its target has."""
        return self.text(self.row["target"]).proof is not None

    def distance(self, answer: Answer) -> int | None:
        """Return the edits from an answer to the target, where the task is to repeat a string."""
        if not self._task.names_matter:
            return None
        return answer_distance(self.row["target"], answer.text)

    def text(self, text: str) -> Judgement:
        """Return the judgement on a text."""
        found = self._seen.get(text)
        if found is None:
            found = self._seen[text] = self._task.check(self.row, text)
        return found

    def written(self, text: str, notation: Notation) -> Judgement:
        """Return the judgement on a text in some notation."""
        try:
            return self.text(notation.native(text))
        except NotationError as error:
            return Judgement(Verdict.INVALID, str(error))

    def answer(self, answer: Answer, notation: Notation) -> Judgement:
        """Return the judgement on an answer: that on its first sample."""
        if answer.is_missing:
            return Judgement(Verdict.MISSING, answer.reason)
        text = answer.text
        if text is None:
            return Judgement(Verdict.INVALID, answer.reason)
        return self.written(text, notation)

    def lenient(self, answer: Answer, notation: Notation, strict: Judgement) -> Judgement:
        """Return the judgement on an answer in the lenient reading, given the strict one."""
        text = answer.text
        if text is None or strict.verdict is not Verdict.INVALID:
            return strict
        found = sole_answer(text, notation.mark)
        return strict if found is None else self.written(found, notation)


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What became of the answers in one file, row by row."""

    verdicts: npt.NDArray[np.uint8]
    """Places in VERDICTS."""
    lenient_verdicts: npt.NDArray[np.uint8]
    """The same in the lenient reading."""
    is_foreign: npt.NDArray[np.bool_]
    """Whether the answer uses symbols that the input does not have."""
    right_samples: npt.NDArray[np.float64] | None
    """The share of each row's samples that are right; None where all rows have one at most."""
    max_samples: int
    """The largest number of samples of a row."""
    distances: npt.NDArray[np.int64] | None
    """Edits from each answer to its target, for tasks whose answers are strings to repeat."""
    rows: RowTable | None
    """The row table of the result, where it was asked for."""
    proofs: Mapping[str, int] | None
    """How many rows have each verdict on proofs, for tasks that have any."""
    alpha_covariance: AlphaCovariance
    """The problems' renamings with their predictions."""

    @property
    def is_exact(self) -> npt.NDArray[np.bool_]:
        """Whether each answer equals the target."""
        return np.equal(self.verdicts, _CODES[Verdict.EXACT])

    @property
    def is_right(self) -> npt.NDArray[np.bool_]:
        """Whether each answer is right."""
        return np.isin(self.verdicts, _RIGHT)

    @property
    def is_right_leniently(self) -> npt.NDArray[np.bool_]:
        """Whether each answer is right in the lenient reading."""
        return np.isin(self.lenient_verdicts, _RIGHT)

    def counts(self) -> dict[str, int]:
        """Return how many rows have each verdict; they add up to the number of rows."""
        counted = np.bincount(self.verdicts, minlength=len(VERDICTS)).tolist()
        return {verdict.value: n for verdict, n in zip(VERDICTS, counted, strict=True)}


class OutcomeCollector:
    """Gathers the outcomes of one file of predictions."""

    def __init__(self, notation: Notation, *, keep_rows: bool) -> None:
        self._notation = notation
        self._verdicts = array("B")
        self._lenient = array("B")
        self._foreign = array("B")
        self._shares = array("d")
        self._distances = array("q")
        self._max_samples = 1
        self._proofs: Counter[Proof] = Counter()
        self._rows = RowTable() if keep_rows else None
        self._alpha = AlphaCovariance()

    def add(self, judge: Judge, answer: Answer) -> None:
        """Take in the answer to the next row."""
        judgement, row = judge.answer(answer, self._notation), judge.row
        lenient = judge.lenient(answer, self._notation, judgement)
        if len(answer.samples) > 1:
            self._require_shares()
            self._shares.append(self._share(judge, answer))
        elif self._max_samples > 1:
            self._shares.append(float(judgement.is_right))
        self._verdicts.append(_CODES[judgement.verdict])
        self._lenient.append(_CODES[lenient.verdict])
        self._foreign.append(judgement.foreign)
        distance = judge.distance(answer)
        if distance is not None:
            self._distances.append(distance)
        if row.get("renaming") is not None:
            has_text = judgement.verdict not in (Verdict.MISSING, Verdict.TIMEOUT)
            text = answer.samples[0] if has_text and answer.samples else None
            shown = None if text is None else self._notation.tokens_text(text)
            self._alpha.add(row, shown, judgement.verdict)
        proof = self._proof(judge, judgement)
        if self._rows is not None:
            verdict = judgement.verdict.value
            kept = (row["id"], row.get("base_id"), verdict, judgement.reason, lenient.verdict.value)
            self._rows.add((*kept, *proof))

    def _share(self, judge: Judge, answer: Answer) -> float:
        samples = answer.samples
        self._max_samples = max(self._max_samples, len(samples))
        texts = (text for text in samples if text is not None)
        return sum(judge.written(t, self._notation).is_right for t in texts) / len(samples)

    def _require_shares(self) -> None:
        """Make up the shares of the rows before the first one with several samples."""
        if self._max_samples == 1:
            self._shares.extend(float(code in _RIGHT) for code in self._verdicts)

    def _proof(self, judge: Judge, judgement: Judgement) -> tuple[str | None, str | None]:
        """Count the verdict on a proof; an answer that is none has an absent one."""
        if not judge.has_proof:
            return None, None
        proof = judgement.proof or Proof.ABSENT
        self._proofs[proof] += 1
        return proof.value, judgement.proof_reason

    def outcomes(self) -> Outcomes:
        """Return everything that was gathered."""
        if self._rows is not None:
            self._rows.finish()
        return Outcomes(
            verdicts=np.frombuffer(self._verdicts, dtype=np.uint8),
            lenient_verdicts=np.frombuffer(self._lenient, dtype=np.uint8),
            is_foreign=np.frombuffer(self._foreign, dtype=np.bool_),
            right_samples=np.frombuffer(self._shares) if self._shares else None,
            max_samples=self._max_samples,
            distances=np.frombuffer(self._distances, dtype=np.int64) if self._distances else None,
            rows=self._rows,
            proofs={p.value: self._proofs[p] for p in Proof} if self._proofs else None,
            alpha_covariance=self._alpha,
        )
