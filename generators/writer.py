"""Writes a data set: candidates in, shards and manifest out, the same bytes whatever happens.

Workers make rows from indices; the parent judges them in order of index (quota), keeps them in
blocks from which a killed run resumes (blocks), and at the end puts the blocks together (shards).
"""

import platform
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from tqdm import tqdm

import symshift
from symshift.data.dataset import open_dataset
from symshift.data.errors import DataError
from symshift.data.example import SPLIT_VERSION, SPLITS, Example
from symshift.data.files import LOCK_NAME, locked_folder, write_json, write_text
from symshift.data.manifest import MANIFEST_VERSION
from symshift.data.options import to_plain
from symshift.data.plugins import load_task
from symshift.data.schema import arrow_schema, column_types
from symshift.generators.blocks import BLOCK_CANDIDATES, FOLDER, Blocks
from symshift.generators.candidates import Full, Recipe, Skipped, realise
from symshift.generators.card import card_text
from symshift.generators.demand import Demand
from symshift.generators.pool import Chunk
from symshift.generators.quota import Quota
from symshift.generators.shards import ShardWriter

CHUNK_CANDIDATES = 256
STALL_CANDIDATES = 100_000
ALREADY_COMPLETE = "already complete: nothing to do"
OWN_NAMES = ("data", "manifest.json", "README.md", FOLDER)

Context = tuple[Recipe, Full]
Outcome = Example | Skipped


class Engine(Protocol):
    """Runs a function over chunks of indices in other processes, in order."""

    def map(
        self,
        function: Callable[[Context, int], Outcome],
        chunks: Iterator[Chunk[Context, int]],
    ) -> Iterator[list[Outcome]]:
        """Yield the results of each chunk, in the order of the chunks, which are taken lazily."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """How a run ended."""

    path: Path
    """The data set's folder."""
    rows: Mapping[str, int]
    """Rows written, by split."""
    missing: Mapping[str, int]
    """Rows that were asked for and do not exist, by split."""
    message: str
    """What a user should know: why rows are missing, or that nothing was left to do."""

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain values."""
        return {
            "path": str(self.path),
            "rows": dict(self.rows),
            "missing": dict(self.missing),
            "message": self.message,
        }

    def to_text(self) -> str:
        """Return the report as a line to read."""
        rows = ", ".join(f"{self.rows[s]} {s}" for s in SPLITS if self.rows.get(s)) or "no"
        return f"{self.path}: {rows} rows" + (f" ({self.message})" if self.message else "")


def write_dataset(
    recipe: Recipe,
    demand: Demand,
    out: Path,
    engine: Engine,
    *,
    overwrite: bool = False,
) -> Report:
    """Write a data set, or go on with one that was interrupted.

    Args:
        recipe: What decides the rows.
        demand: How many rows, and of which kinds.
        out: The folder to write.
        engine: Where candidates are made.
        overwrite: Delete another data set that is in the folder.

    Raises:
        DataError: If the folder holds anything else.
    """
    with locked_folder(out):
        config = config_of(recipe, demand)
        require_own_folder(out)
        if overwrite:
            clear_own_files(out)
        elif (done := _finished(out, config)) is not None:
            return done
        task = load_task(recipe.task)
        schema = arrow_schema(column_types(task.extra_columns, renamed=False))
        blocks = Blocks(out, schema)
        blocks.open(config)
        stream = task.stream(recipe.options, recipe.window)
        cells = stream.cells if demand.per_cell else {}
        quota = Quota(demand, cells, stream.even, stream.bundle)
        blocks.restore(quota)
        with tqdm(
            total=sum(demand.splits.values()) or None, unit="row", disable=None, desc=out.name
        ) as bar:
            bar.update(sum(quota.taken.values()))
            stopped = _fill(recipe, quota, blocks, engine, stream.length, bar)
        message = _message(stream.space, demand, quota, stopped)
        _assemble(out, config, quota, blocks, schema, stopped, message)
    # With cells, what there is is what was asked for.
    missing = {} if demand.per_cell is not None else quota.missing
    return Report(path=out, rows=dict(quota.taken), missing=missing, message=message)


def config_of(recipe: Recipe, demand: Demand) -> dict[str, Any]:
    """Return everything that decides the bytes of a data set, as plain values."""
    task = load_task(recipe.task)
    return {
        "task": recipe.task,
        "options": to_plain(recipe.options),
        "vocabulary": {"window": [recipe.window.start, recipe.window.stop]},
        "perturbation": recipe.perturbation,
        "seed": recipe.seed,
        "asked": demand.to_plain(),
        "versions": {
            "symshift": symshift.__version__,
            "stream": task.version,
            "split": SPLIT_VERSION,
            "pyarrow": pa.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }


def require_own_folder(out: Path) -> None:
    """Refuse a folder that holds anything but a data set of symshift, finished or not.

    Raises:
        DataError: If it does; nothing in it is touched.
    """
    names = {path.name for path in out.iterdir()} - {LOCK_NAME}
    is_ours = not names or bool(names & {"manifest.json", FOLDER})
    strangers = sorted(name for name in names if not (is_ours and name in OWN_NAMES))
    if strangers:
        raise DataError(f"{out}: holds other files ({strangers[0]!r}); choose an empty folder")


def clear_own_files(out: Path) -> None:
    """Delete the data set that is in a folder, finished or not, and nothing else."""
    shutil.rmtree(out / FOLDER, ignore_errors=True)
    for name in ("manifest.json", "README.md"):
        (out / name).unlink(missing_ok=True)
    for shard in (out / "data").glob("*.parquet"):
        shard.unlink()
    if (out / "data").is_dir():
        (out / "data").rmdir()


def _finished(out: Path, config: Mapping[str, Any]) -> Report | None:
    """Return the report of a data set that is already there, or None to write it."""
    if not (out / "manifest.json").is_file():
        return None
    dataset = open_dataset(out)
    manifest = dataset.manifest
    if {key: manifest.get(key) for key in config} != config:
        raise DataError(
            f"{out}: holds a data set of another configuration; choose another folder or give "
            "--overwrite"
        )
    for split in dataset.splits:
        dataset.files(split)  # Refuses a damaged one.
    shutil.rmtree(out / FOLDER, ignore_errors=True)
    rows = {split: dataset.num_rows(split) for split in dataset.splits}
    return Report(
        path=out,
        rows=rows,
        missing={} if "per_cell" in manifest["asked"] else manifest["missing"],
        message=manifest["message"] or ALREADY_COMPLETE,
    )


def _fill(
    recipe: Recipe, quota: Quota, blocks: Blocks, engine: Engine, end: int | None, bar: Any
) -> str | None:
    """Judge candidates until the quota is satisfied; return why it stopped short, if it did."""

    def chunks() -> Iterator[Chunk[Context, int]]:
        start = quota.candidates
        while end is None or start < end:
            # Chunks end where blocks end, so that each block is one range of candidates.
            stop = min(start + CHUNK_CANDIDATES, (start // BLOCK_CANDIDATES + 1) * BLOCK_CANDIDATES)
            stop = stop if end is None else min(stop, end)
            yield Chunk(context=(recipe, quota.full), items=range(start, stop))
            start = stop

    held: list[Example] = []
    stopped = _stopped(quota, end)
    if quota.is_satisfied or stopped:
        return stopped
    for outcomes in engine.map(realise, chunks()):
        for rows in quota.judge(outcomes):
            held += rows
            bar.update(len(rows))
            stopped = _stopped(quota, end)
            if quota.is_satisfied or stopped or quota.candidates % BLOCK_CANDIDATES == 0:
                blocks.append(held, quota)
                held = []
                bar.set_postfix(dict(quota.rejects), refresh=False)
            if quota.is_satisfied or stopped:
                return stopped
    return stopped


def _stopped(quota: Quota, end: int | None) -> str | None:
    if quota.is_satisfied:
        return None
    if end is not None:
        return "exhausted" if quota.candidates >= end else None
    return "stopped" if not quota.has_cells and has_stalled(quota) else None


def has_stalled(quota: Quota) -> bool:
    """Tell whether so many candidates brought no new row that more are not to be waited for."""
    return quota.candidates - quota.last_taken >= STALL_CANDIDATES


def _message(space: int | None, demand: Demand, quota: Quota, stopped: str | None) -> str:
    if demand.per_cell is not None:
        short = len(quota.whole_cells(is_exhausted=stopped == "exhausted"))
        return f"{short} cells have fewer rows than asked for, all there are" if short else ""
    if stopped is None:
        return ""
    missing = ", ".join(f"{count} {split} rows" for split, count in quota.missing.items())
    if stopped == "exhausted":
        return f"there are only {space} problems of this kind, all splits together: {missing} short"
    return (
        f"stopped after {STALL_CANDIDATES} candidates without a new row: {missing} short; "
        "ask for fewer rows, larger sizes or more symbols"
        + (", or a smaller hard share" if demand.hard_share is not None else "")
    )


def _assemble(
    out: Path,
    config: dict[str, Any],
    quota: Quota,
    blocks: Blocks,
    schema: pa.Schema,
    stopped: str | None,
    message: str,
) -> None:
    """Put the blocks together; the data set appears under its final names at the very end."""
    final = blocks.folder / "final"
    shutil.rmtree(final, ignore_errors=True)
    shards = ShardWriter(final, schema)
    for split in SPLITS:
        rows = shards.write_split(split, blocks.tables(split))
        assert rows == quota.taken[split], f"{split}: {rows} rows, not {quota.taken[split]}"
    manifest = {
        **config,
        **shards.summary(),
        "schema_version": MANIFEST_VERSION,
        "columns": list(
            column_types(load_task(config["task"]).extra_columns, renamed=False).items()
        ),
        "candidates": quota.candidates,
        "whole_cells": [
            {"num_symbols": num_symbols, "size": size}
            for num_symbols, size in quota.whole_cells(is_exhausted=stopped == "exhausted")
        ],
        "rejects": dict(quota.rejects),
        "missing": quota.missing,
        "stopped": stopped,
        "message": message,
    }
    publish(out, final, manifest)
    blocks.remove()


def publish(out: Path, final: Path, manifest: dict[str, Any]) -> None:
    """Move finished files to where readers look, the manifest last.

    They are written where an interrupted run's own files lie, so nothing half written is left in
    the data set's folder.
    """
    write_text(final / "README.md", card_text(manifest))
    write_json(final / "manifest.json", manifest)
    if (out / "data").is_dir():  # of a run that was cut just here
        shutil.rmtree(out / "data")
    if (final / "data").is_dir():
        (final / "data").rename(out / "data")
    for name in ("README.md", "manifest.json"):
        (final / name).replace(out / name)
