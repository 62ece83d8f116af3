"""Scoring: rows and predictions in, a result with verdicts, estimates and their intervals out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from tqdm import tqdm

import symshift
from symshift.data.errata import VERDICTS, errata_of
from symshift.data.errors import DataError
from symshift.data.files import require_outputs, whole_file, write_text
from symshift.data.task import Task
from symshift.data.verdict import Estimate
from symshift.metrics.accuracy import (
    FactCollector,
    RowFacts,
    accuracy_estimates,
    cells_of,
    regime_estimates,
)
from symshift.metrics.baselines import BaselineCollector, best_constant, trial_of
from symshift.metrics.edit_distance import mean_distance
from symshift.metrics.joining import Joined, join
from symshift.metrics.judging import Judge, OutcomeCollector, Outcomes
from symshift.metrics.keys import Keys, has_repeats
from symshift.metrics.leniency import LENIENT
from symshift.metrics.margins import margins_of
from symshift.metrics.notations import notation_for
from symshift.metrics.predictions import Predictions
from symshift.metrics.ranges import require_ranges
from symshift.metrics.record import BY_ID, Reading
from symshift.metrics.region import TrainedRegion, region_estimates, trained_region
from symshift.metrics.repeats import repeats_of
from symshift.metrics.result import DatasetInfo, Result, System
from symshift.metrics.row_table import RowTable
from symshift.metrics.rows import keys_of_ids, keys_of_inputs

# Few objects live at a time, so the garbage collector seldom looks through all that there are.
BATCH_ROWS = 256
NUM_EXAMPLES = 200
MIN_EXAMPLE = 8
MAX_EXAMPLE = 60


@dataclass(frozen=True, slots=True)
class Scored:
    """A result, and what became of every row."""

    result: Result
    """The figures; of the first file of predictions where there are several."""
    row_table: RowTable
    """What became of every row."""

    @property
    def rows(self) -> pa.Table:
        """Its columns id, base_id, verdict, reason, lenient, and for some tasks of proofs."""
        return self.row_table.read()


@dataclass(frozen=True, slots=True)
class _Pass:
    facts: RowFacts
    outcomes: Sequence[Outcomes]
    trivial: Mapping[str, Estimate]


def score(
    rows: Iterable[Mapping[str, Any]],
    predictions: Iterable[Predictions],
    task: Task,
    *,
    dataset: DatasetInfo,
    systems: Sequence[System],
    reading: Reading | None = None,
    versions: Mapping[str, Any] | None = None,
) -> Scored:
    """Score a system's predictions.

    Args:
        rows: Mappings with `id`, `input` and `target`, and the data set's other columns where
            there are any. They are looped over several times, so an iterator will not do.
        predictions: One or more files of one system; the figures are the first one's, the others
            give mean and range. A generator keeps only what joining leaves of them in memory.
        task: The task, which checks each distinct text of a row once.
        dataset: What the rows are; its number of rows, constant and regime are filled in.
        systems: Who made each of the files.
        reading: How the files were read, to be recorded.
        versions: What else decides verdicts, such as the checker's version and budget.

    Raises:
        DataError: If ids are repeated or unknown, or a row's own target is not right.
        ValueError: If `rows` can only be looped over once, or nothing is to be scored.
    """
    if iter(rows) is rows:
        raise ValueError(f"rows={rows!r} can only be looped over once: give a list")
    keys = _row_keys(rows)
    num_rows = len(keys)
    joined = [_joined(p, rows, keys, task) for p in predictions]
    if not joined or len(joined) != len(systems):
        raise ValueError(f"{len(joined)} files of predictions, {len(systems)} systems")
    del keys
    trial = trial_of(task, rows)
    constant = best_constant(rows, trial)
    found = _judge_all(rows, joined, task, constant, trial)
    del joined  # texts and keys of ten million rows would be most of the memory
    described = replace(
        dataset,
        rows=num_rows,
        description=dataset.description or task.summary,
        example=_example(rows),
        constant=constant,
        regime=dataset.regime or found.facts.only_regime,
        errata=tuple(erratum.id for erratum in errata_of(dataset.fingerprint)),
    )
    filled = {**_versions(task), **(versions or {})}
    first = found.outcomes[0]
    assert first.rows is not None
    result = _result(found, described, systems, filled)
    return Scored(replace(result, reading=reading or Reading()), first.rows)


def _result(
    found: _Pass, dataset: DatasetInfo, systems: Sequence[System], versions: Mapping[str, Any]
) -> Result:
    regions = [trained_region(system.trained_on) for system in systems]
    figures = [
        _estimates(found.facts, outcomes, region)
        for outcomes, region in zip(found.outcomes, regions, strict=True)
    ]
    first = found.outcomes[0]
    result = Result(
        system=systems[0],
        dataset=dataset,
        counts=first.counts(),
        num_foreign=int(first.is_foreign.sum()),
        estimates={**figures[0], **found.trivial},
        cells=cells_of(found.facts, first),
        margins=margins_of(found.facts, first),
        alpha_covariance=first.alpha_covariance.summary(),
        proofs=first.proofs,
        max_samples=first.max_samples,
        repeats=repeats_of(systems, figures) if len(systems) > 1 else None,
        versions=versions,
    )
    require_ranges(result)
    return result


def _row_keys(rows: Iterable[Mapping[str, Any]]) -> Keys:
    keys = keys_of_ids(rows)
    if len(keys) == 0:
        raise DataError("the data set has no rows to score")
    if has_repeats(keys):
        raise DataError("the data set has rows with the same id: no prediction can be joined")
    return keys


def _joined(
    predictions: Predictions, rows: Iterable[Mapping[str, Any]], keys: Keys, task: Task
) -> Joined:
    notation_for(predictions.notation, task)
    return join(predictions, keys if predictions.joined_by == BY_ID else keys_of_inputs(rows))


def _example(rows: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return input and target of the first row that is short, not trivial and not tiny."""
    first = list(islice(rows, NUM_EXAMPLES))
    fit = (r for r in first if not r.get("shortcuts") and r.get("num_symbols") != 0)
    lengths = range(MIN_EXAMPLE, MAX_EXAMPLE + 1)
    chosen = next((row for row in fit if len(row["input"]) in lengths), first[0])
    return chosen["input"][:MAX_EXAMPLE], chosen["target"][:MAX_EXAMPLE]


def _judge_all(
    rows: Iterable[Mapping[str, Any]],
    files: Sequence[Joined],
    task: Task,
    constant: str | None,
    trial: Sequence[Judge],
) -> _Pass:
    facts, trivial = FactCollector(), BaselineCollector(task, constant)
    notations = [notation_for(file.notation, task) for file in files]
    collectors = [OutcomeCollector(n, keep_rows=at == 0) for at, n in enumerate(notations)]
    waiting, start = iter(tqdm(rows, unit="row", desc="score", disable=None)), 0
    while batch := list(islice(waiting, BATCH_ROWS)):
        answers = [file.answers(start, start + len(batch)) for file in files]
        for at, row in enumerate(batch):
            judge = trial[start + at] if start + at < len(trial) else Judge(task, row)
            _require_right_target(judge)
            facts.add(row, is_hard=trivial.add(judge))
            for collector, given in zip(collectors, answers, strict=True):
                collector.add(judge, given[at])
        start += len(batch)
    gathered = facts.facts()
    return _Pass(gathered, [c.outcomes() for c in collectors], trivial.estimates(gathered))


def _require_right_target(judge: Judge) -> None:
    row, own = judge.row, judge.text(judge.row["target"])
    if not own.is_right:
        raise DataError(
            f"row {row['id']}: its own target {row['target']!r:.80} is {own.verdict} "
            f"({own.reason}); run `symshift verify` on the data set"
        )


def _estimates(
    facts: RowFacts, outcomes: Outcomes, region: TrainedRegion | None
) -> dict[str, Estimate]:
    estimates = {
        **accuracy_estimates(facts, outcomes),
        **regime_estimates(facts, outcomes),
        **region_estimates(facts, outcomes, region),
    }
    if outcomes.distances is not None:
        estimates["edit_distance"] = mean_distance(outcomes.distances, facts.size, facts.problems)
    summary = outcomes.alpha_covariance.summary()
    if summary is not None and summary.overall.n:
        estimates["alpha_covariance"] = summary.overall
    return estimates


def _versions(task: Task) -> dict[str, Any]:
    return {
        "symshift": symshift.__version__,
        "task": f"{task.name} {task.version}",
        "checker": task.checker,
        "verdicts": VERDICTS,
        "lenient": LENIENT,
        # Bootstrap draws may change with NumPy's version.
        "numpy": np.__version__,
    }


def rows_path(result_path: Path) -> Path:
    """Return where the row table of a result file lies: RESULT.rows.parquet."""
    return result_path.parent / f"{result_path.name.removesuffix('.json')}.rows.parquet"


def write_result(scored: Scored, path: Path) -> None:
    """Write RESULT.json, and RESULT.rows.parquet beside it; each is whole or absent."""
    require_outputs([path, rows_path(path)])
    with whole_file(rows_path(path)) as hidden:
        scored.row_table.copy_to(hidden)
    write_text(path, scored.result.to_json())
