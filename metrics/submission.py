"""Files of predictions for a data set on disk: scored, and held against a stated result."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from symshift.data.dataset import Dataset, fingerprint_of
from symshift.data.errors import DataError, UsageError
from symshift.data.task import Task
from symshift.metrics.notations import notation_for
from symshift.metrics.predictions import read_predictions
from symshift.metrics.record import Reading
from symshift.metrics.result import DatasetInfo, Result, System
from symshift.metrics.row_faults import row_faults
from symshift.metrics.rows import SplitRows
from symshift.metrics.scoring import Scored, score
from symshift.metrics.systems import read_system

_TOLERANCE = 1e-9
_PROGRAMS = ("symshift", "numpy")
"""Versions that may differ where the figures do not."""
_FROM_FILES = ("predictions_sha256", "trained_on")
"""What a result says of a system that its files of predictions, with their meta files, show."""


def score_files(
    dataset: Dataset,
    paths: Sequence[Path],
    task: Task,
    *,
    split: str = "test",
    name: str | None = None,
    title: str | None = None,
    description: str = "",
    regime: str = "",
    reading: Reading | None = None,
    listing: Path | None = None,
    versions: Mapping[str, Any] | None = None,
) -> Scored:
    """Score one or more files of predictions of one system.

    Args:
        dataset: The data set.
        paths: The files; the first gives the figures, the others mean and range.
        task: The data set's task.
        split: The split that was answered.
        name: What to call the system, instead of what its meta file says.
        title: What to call the data set, instead of its folder's name.
        description: A sentence about the data set for the leaderboard's readers.
        regime: How the data set relates to training, where its rows do not say.
        reading: What the user says of the files.
        listing: Where to write all that is wrong with a file.
        versions: What else decides verdicts.

    Raises:
        DataError: If a file is broken or does not fit the data set.
        UsageError: If the files are of different systems, or not what the user says.
    """
    # First of all, since it names the data set's splits where this one is not among them.
    num_rows = dataset.num_rows(split)
    systems = [read_system(path, name) for path in paths]
    _require_one_system(paths, systems)
    was_trained_on = systems[0].trained_on.get("fingerprint") == dataset.fingerprint
    info = DatasetInfo(
        name=title or dataset.name,
        task=dataset.task_name,
        split=split,
        fingerprint=dataset.fingerprint,
        max_renamings=dataset.manifest.get("renamed_from", {}).get("max_renamings"),
        regime=regime or ("seen" if was_trained_on else ""),
        window=str(dataset.window),
        description=description,
    )
    reading = reading or Reading()
    notation_for(reading.notation, task)
    scored = score(
        SplitRows(dataset, split),
        (read_predictions(path, reading, listing=listing) for path in paths),
        task,
        dataset=info,
        systems=systems,
        reading=reading,
        versions=versions,
    )
    if scored.result.dataset.rows != num_rows:
        raise DataError(
            f"{dataset.path}: {scored.result.dataset.rows} {split} rows, the manifest says "
            f"{num_rows}; run `symshift verify` on the data set"
        )
    return scored


def _require_one_system(paths: Sequence[Path], systems: Sequence[System]) -> None:
    for path, system in zip(paths, systems, strict=True):
        for key in ("name", "method"):
            first, own = getattr(systems[0], key), getattr(system, key)
            if first != own:
                raise UsageError(
                    f"{paths[0]} is of {key} {first!r}, {path} of {own!r}: several files must be "
                    "of one system; --name NAME names them alike"
                )


def check_entry(
    stated: Result,
    dataset: Dataset,
    paths: Sequence[Path],
    task: Task,
    row_file: Path | None = None,
) -> list[str]:
    """Return why a stated result does not hold, a line each; none if it does.

    Args:
        stated: The result.
        dataset: The data set that it names; its fingerprint is computed anew from its rows.
        paths: The files of predictions, in the order that was scored.
        task: The data set's task.
        row_file: The row table beside the result, where there is one.

    Raises:
        DataError: If a file is broken or does not fit the data set.
    """
    rows = (row for split in dataset.splits for row in dataset.rows(split))
    found = fingerprint_of(rows)
    if found != dataset.fingerprint:
        return [f"{dataset.path}: the rows' fingerprint is {found}, not {dataset.fingerprint}"]
    split, name = stated.dataset.split, stated.system.name
    again = score_files(dataset, paths, task, split=split, name=name, reading=stated.reading)
    faults = disagreements(stated, again.result)
    return faults if row_file is None else [*faults, *row_faults(row_file, again.rows)]


def disagreements(stated: Result, rescored: Result) -> list[str]:
    """Return where a stated result differs from its rescoring, a line each; none if it holds.

    What nobody can compute (names, commands, the data set's title and description) may differ, and
    so may the versions of programs. What was measured, on which rows, and what follows from rows
    and files (the example, versions of the verdicts, what was trained on) may not; nor the regime,
    where rows or files tell it.
    """
    left, right = _measured(stated), _measured(rescored)
    if not rescored.dataset.regime:
        left.pop("dataset.regime", None)
        right.pop("dataset.regime", None)
    lines = [
        f"{place}: stated {left.get(place, 'nothing')!r:.80}, found "
        f"{right.get(place, 'nothing')!r:.80}"
        for place in sorted(left.keys() | right.keys())
        if not _agree(left.get(place), right.get(place))
    ]
    if lines and stated.versions != rescored.versions:
        lines.append(f"versions: stated {stated.versions}, here {rescored.versions}")
    return lines


def _agree(left: Any, right: Any) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        return abs(left - right) <= _TOLERANCE
    return bool(left == right)


def _measured(result: Result) -> dict[str, Any]:
    """Return every measured value by its place in the JSON form."""
    plain = json.loads(result.to_json())
    del plain["schema_version"]
    for program in _PROGRAMS:
        plain["versions"].pop(program, None)
    plain["system"] = {name: plain["system"][name] for name in _FROM_FILES}
    for described in ("name", "description"):
        del plain["dataset"][described]
    return dict(_leaves(plain, ""))


def _leaves(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, f"{place}.{key}" if place else key)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _leaves(item, f"{place}[{at}]")
    else:
        yield place, value
