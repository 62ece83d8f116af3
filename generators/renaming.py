"""Renamed variants of a data set: for alpha-covariance, and into held-out names."""

import itertools
import math
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from tqdm import tqdm

import symshift
from symshift.data.dataset import Dataset, open_dataset
from symshift.data.errors import DataError, UsageError
from symshift.data.example import Example, canonical_id_of, row_id_of
from symshift.data.files import locked_folder
from symshift.data.manifest import MANIFEST_VERSION
from symshift.data.plugins import load_task
from symshift.data.schema import arrow_schema, column_types, to_table
from symshift.data.seeds import Draws
from symshift.data.text import rename_text, rename_values
from symshift.data.vocabulary import Window
from symshift.generators.blocks import FOLDER
from symshift.generators.shards import GROUP_ROWS, ShardWriter
from symshift.generators.strings import unrank_injection
from symshift.generators.writer import (
    ALREADY_COMPLETE,
    Report,
    clear_own_files,
    publish,
    require_own_folder,
)

_ORIGIN = ("imported_from", "split_rule")


@lru_cache(maxsize=4)
def _names(window: Window) -> Sequence[str]:
    return window.names()


def renamings(
    symbols: Sequence[str],
    window: Window,
    max_renamings: int,
    draws: Draws,
    taken: Sequence[str] = (),
) -> list[dict[str, str]]:
    """Return injective renamings of symbols into a window: all, or a sample without repetition.

    Args:
        symbols: The symbols to rename.
        window: The names to use.
        max_renamings: How many to return at most.
        draws: The randomness of the sample.
        taken: Names that are not free, because other symbols keep them.

    Returns:
        The identity first where it is a renaming into the window, then the others.
    """
    names = _names(window)
    if any(name in window for name in taken):
        names = [name for name in names if name not in taken]
    num_names, num_symbols = len(names), len(symbols)
    total = math.perm(num_names, num_symbols)
    identity = dict(zip(symbols, symbols, strict=True))
    has_identity = all(symbol in window for symbol in symbols)
    ranks: Sequence[int] = range(total)
    if total > max_renamings:
        # One more than needed, in case the identity is among them.
        ranks = draws.sample(total, min(total, max_renamings + 1))
    found = (
        dict(zip(symbols, (names[at] for at in places), strict=True))
        for places in (unrank_injection(num_symbols, num_names, rank) for rank in ranks)
    )
    others = (renaming for renaming in found if renaming != identity)
    return list(itertools.islice(itertools.chain([identity] * has_identity, others), max_renamings))


def _regime(row: Example, renaming: Mapping[str, str], home: Window) -> str:
    outside = {symbol for symbol, name in renaming.items() if name not in home}
    if not outside:
        return "seen"
    if len(outside) == len(renaming):
        return "all-unseen"
    return "unseen-query" if outside == {row.extra.get("query")} else "some-unseen"


def renamed(row: Example, renaming: Mapping[str, str], home: Window) -> Example:
    """Return a row with its symbols renamed, as a row of a renamed data set.

    Args:
        row: The row.
        renaming: A new name for each of its symbols, all different.
        home: The names that the row's data set may use; others are unseen.
    """
    task = load_task(row.task)
    text = rename_text(row.input, renaming)
    pairs = [{"name": symbol, "renamed": renaming[symbol]} for symbol in row.symbols]
    own = {name: row.extra[name] for name in task.extra_columns}
    values = {
        **row,
        **rename_values(own, renaming),
        "id": row_id_of(row.task, row.id, text),
        "input": text,
        "target": rename_text(row.target, renaming),
        "symbols": tuple(renaming[symbol] for symbol in row.symbols),
        "base_id": row.id,
        "renaming": pairs,
        "regime": _regime(row, renaming, home),
    }
    if task.names_matter:
        values["canonical_id"] = canonical_id_of(row.task, task.read(text).canonical_text)
    return Example.from_columns(values)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wish:
    """Which renamings are asked for."""

    into: Window | None
    """The names to rename into; None for the data set's own."""
    only: str | None
    """The column whose symbol is renamed alone."""
    max_renamings: int
    """The most variants of a row."""


def _variants(dataset: Dataset, split: str, wish: _Wish) -> Iterator[Example]:
    window = wish.into or dataset.window
    for row in dataset.rows(split):
        symbols = row.symbols if wish.only is None else (row[wish.only],)
        kept = [symbol for symbol in row.symbols if symbol not in symbols]
        num_free = len(window) - sum(symbol in window for symbol in kept)
        if len(symbols) > num_free:
            raise UsageError(
                f"row {row.id} has {len(symbols)} symbols to rename, and of the names {window} "
                f"only {num_free} are free: give a larger window"
            )
        draws = Draws("renaming", row.id, str(window))
        for renaming in renamings(symbols, window, wish.max_renamings, draws, kept):
            yield renamed(row, {**dict(zip(kept, kept, strict=True)), **renaming}, dataset.window)


def _batches(rows: Iterator[Example], schema: Any) -> Iterator[Any]:
    while batch := list(itertools.islice(rows, GROUP_ROWS)):
        yield to_table(batch, schema)


def write_renamed(
    dataset: Dataset,
    out: Path,
    *,
    into: Window | None = None,
    max_renamings: int | None = None,
    only: str | None = None,
    overwrite: bool = False,
) -> Report:
    """Write the renamed variants of every row of a data set.

    Args:
        dataset: What to rename.
        out: The folder to write.
        into: The names to rename into; the data set's own if not given.
        max_renamings: The most variants of a row: by default 120 into the data set's own names
            (all of them, where there are fewer), and 1 into other names.
        only: Rename one symbol alone: "query", for horn.
        overwrite: Replace a data set that is in the folder.

    Raises:
        UsageError: If a row has more symbols than there are names, or `only` does not apply.
        DataError: If the folder is not empty, or the data set is a renamed one.
    """
    task = load_task(dataset.task_name)
    if only is not None and task.extra_columns.get(only) != "string":
        raise UsageError(f"--only {only}: task {task.name} has no such part (horn has query)")
    if "renamed_from" in dataset.manifest:
        raise DataError(f"{dataset.path}: renamed already; rename the data set it came from")
    if out.resolve() == dataset.path.resolve():
        raise UsageError(f"{out}: a data set cannot be renamed into its own folder")
    cap = max_renamings if max_renamings is not None else (120 if into is None else 1)
    if cap < 1:
        raise UsageError(f"max_renamings={cap} must be 1 or more")
    wish = _Wish(into=into, only=only, max_renamings=cap)
    columns = column_types(task.extra_columns, renamed=True)
    source = {
        "fingerprint": dataset.fingerprint,
        "window": [dataset.window.start, dataset.window.stop],
        "into": str(into) if into else None,
        "only": only,
        "max_renamings": cap,
    }
    with locked_folder(out):
        require_own_folder(out)
        if overwrite:
            clear_own_files(out)
        elif (out / "manifest.json").is_file():
            return _finished(out, source)
        rows, shards = _write_shards(dataset, out, wish, columns)
        manifest = {
            **{key: dataset.manifest[key] for key in ("task", "options", "perturbation", "seed")},
            **shards.summary(),
            **{key: dataset.manifest[key] for key in _ORIGIN if key in dataset.manifest},
            "versions": {**dataset.manifest["versions"], "symshift": symshift.__version__},
            "schema_version": MANIFEST_VERSION,
            "vocabulary": _vocabulary(into or dataset.window),
            "renamed_from": source,
            "columns": list(columns.items()),
            "asked": {},
            "candidates": sum(dataset.num_rows(split) for split in dataset.splits),
            "rejects": {},
            "missing": {},
            "stopped": None,
            "message": "",
        }
        publish(out, out / FOLDER / "final", manifest)
        shutil.rmtree(out / FOLDER)
    return Report(path=out, rows=rows, missing={}, message="")


def _finished(out: Path, source: Mapping[str, Any]) -> Report:
    """Return the report of a set that is there already, or refuse one of another source."""
    there = open_dataset(out)
    if there.manifest.get("renamed_from") != source:
        raise DataError(f"{out}: holds another data set; choose another folder or give --overwrite")
    rows = {split: there.num_rows(split) for split in there.splits}
    return Report(path=out, rows=rows, missing={}, message=ALREADY_COMPLETE)


def _write_shards(
    dataset: Dataset, out: Path, wish: _Wish, columns: Mapping[str, str]
) -> tuple[dict[str, int], ShardWriter]:
    schema = arrow_schema(columns)
    final = out / FOLDER / "final"
    shutil.rmtree(final, ignore_errors=True)
    shards = ShardWriter(final, schema)
    rows: dict[str, int] = {}
    for split in dataset.splits:
        variants = _variants(dataset, split, wish)
        with tqdm(variants, unit="row", disable=None, desc=f"{out.name} {split}") as bar:
            rows[split] = shards.write_split(split, _batches(iter(bar), schema))
    return rows, shards


def _vocabulary(window: Window) -> dict[str, list[int]]:
    return {"window": [window.start, window.stop]}
