"""Imports other people's data sets: every label checked, every record that gives no row counted.

The splits stay as the files say, which the manifest records (`split_rule`); only where no file
says one, or on request, content decides. A data set holds no two equivalent rows, so of several
one stays: rather a test row than one for validation, and that rather than one for training. What
a published set leaks is therefore not imported; `symshift audit` on the published files shows it.
"""

import itertools
import platform
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa
from tqdm import tqdm

import symshift
from symshift.data.dataset import AS_PUBLISHED, open_dataset
from symshift.data.errors import DataError, UsageError, unknown_name
from symshift.data.example import SPLIT_VERSION, SPLITS
from symshift.data.files import locked_folder, sha256_of
from symshift.data.manifest import MANIFEST_VERSION
from symshift.data.plugins import load_task
from symshift.data.records import DEFAULT_TARGET, Columns
from symshift.data.schema import arrow_schema, column_types
from symshift.data.sources import Source, SourceFile, open_source
from symshift.generators.blocks import FOLDER
from symshift.generators.exchange.claims import (
    PERTURBATION,
    Claim,
    Engine,
    InProcess,
    Refused,
    Terms,
    judge,
)
from symshift.generators.exchange.import_report import ImportReport, Tally, listed
from symshift.generators.exchange.staging import Staging
from symshift.generators.pool import Chunk, WorkerPool, num_usable_cpus
from symshift.generators.shards import ShardWriter
from symshift.generators.writer import (
    ALREADY_COMPLETE,
    clear_own_files,
    publish,
    require_own_folder,
)

FORMATS = ("deepltl", "jsonl")
_CHUNK_RECORDS = 256
_TIMEOUT_S = 60.0
_MEMORY_MB = 8192


def import_dataset(
    format: str,
    source: Path,
    out: Path,
    *,
    task: str = "ltl",
    columns: Columns | None = None,
    by_content: bool = False,
    num_workers: int | None = None,
    overwrite: bool = False,
) -> ImportReport:
    """Write a data set of symshift from files of another format.

    Args:
        format: "deepltl" (two lines an example, in Polish notation) or "jsonl".
        source: A file, or a folder of files named for their splits.
        out: The folder to write.
        task: The task.
        columns: Which columns of JSON lines hold what.
        by_content: Split as every set that symshift makes, whatever the files say.
        num_workers: Processes; one a CPU if not given, and with 1 this one.
        overwrite: Replace a data set that is in the folder.

    Raises:
        UsageError: For an unknown format, task or column, or if some files say a split and
            others do not.
        DataError: If there is no row to import, or the folder holds anything else.
    """
    if format not in FORMATS:
        raise unknown_name("format", format, FORMATS)
    columns = columns or Columns()
    columns = Columns(input=columns.input, target=columns.target or DEFAULT_TARGET)
    opened = open_source(source, task=task, columns=columns, formats=frozenset((format,)))
    with ExitStack() as stack:
        stack.enter_context(locked_folder(out))
        require_own_folder(out)
        by_content = by_content or _says_no_split(opened)
        origin = _origin(opened, format, by_content)
        if overwrite:
            clear_own_files(out)
        elif (out / "manifest.json").is_file():
            return _finished(out, origin)
        elif (out / FOLDER / "config.json").is_file():
            raise DataError(f"{out}: holds an unfinished data set; give --overwrite to replace it")
        workers = num_workers or num_usable_cpus()
        engine: Engine = InProcess()
        if workers > 1:
            engine = stack.enter_context(WorkerPool(workers, _TIMEOUT_S, _MEMORY_MB))
        return _write(opened, out, origin, engine)


def _says_no_split(source: Source) -> bool:
    silent = [file for file in source.files if file.role is None]
    if silent and len(silent) < len(source.files):
        raise UsageError(
            f"{silent[0].path}: its name says no split (train, val, test), others of the folder "
            "do; rename it, or give --split-by-content"
        )
    return bool(silent)


def _origin(source: Source, format: str, by_content: bool) -> dict[str, Any]:
    """Return what decides the rows of an import, as its manifest says it."""
    files = [
        {"path": file.name, "split": file.role, "sha256": sha256_of(file.path)}
        for file in source.files
    ]
    columns = {"input": source.columns.input, "target": source.columns.target}
    return {
        "task": source.task,
        "split_rule": SPLIT_VERSION if by_content else AS_PUBLISHED,
        "imported_from": {
            "format": format,
            "files": files,
            "columns": None if format == "deepltl" else columns,
        },
    }


def _finished(out: Path, origin: dict[str, Any]) -> ImportReport:
    """Return the report of a data set that is there already, or refuse one of another source."""
    there = open_dataset(out)
    if {key: there.manifest.get(key) for key in origin} != origin:
        raise DataError(f"{out}: holds another data set; choose another folder or give --overwrite")
    rows = {split: there.num_rows(split) for split in there.splits}
    left_out = there.manifest["rejects"]
    return ImportReport(path=out, rows=rows, left_out=left_out, message=ALREADY_COMPLETE)


def _write(source: Source, out: Path, origin: dict[str, Any], engine: Engine) -> ImportReport:
    columns = column_types(load_task(source.task).extra_columns, renamed=False)
    shutil.rmtree(out / FOLDER, ignore_errors=True)
    with Staging(out / FOLDER / "staging", arrow_schema(columns)) as staging:
        tally = _judge_all(source, origin, engine, staging)
        staging.finish()
        if not tally.rows:
            shutil.rmtree(out / FOLDER)
            why = "; ".join([listed(tally.left_out), *tally.faults[:1]])
            raise DataError(f"{source.path}: no row to import ({why})")
        shards = ShardWriter(out / FOLDER / "final", arrow_schema(columns))
        for split in SPLITS:
            shards.write_split(split, staging.tables(split))
    manifest = {
        **origin,
        **shards.summary(),
        **_provenance(tally),
        "vocabulary": {"window": [tally.window.start, tally.window.stop]},
        "columns": list(columns.items()),
    }
    publish(out, out / FOLDER / "final", manifest)
    shutil.rmtree(out / FOLDER)
    return ImportReport(
        path=out,
        rows=dict(tally.rows),
        left_out=dict(tally.left_out),
        faults=tuple(tally.faults),
        num_faults=tally.num_faults,
    )


def _provenance(tally: Tally) -> dict[str, Any]:
    return {
        "schema_version": MANIFEST_VERSION,
        "options": {},
        "perturbation": PERTURBATION,
        "seed": None,
        "asked": {},
        "candidates": tally.num_records,
        "rejects": dict(sorted(tally.left_out.items())),
        "missing": {},
        "stopped": None,
        "message": "",
        "versions": {
            "symshift": symshift.__version__,
            "pyarrow": pa.__version__,
            "python": platform.python_version(),
        },
    }


def _judge_all(source: Source, origin: dict[str, Any], engine: Engine, staging: Staging) -> Tally:
    tally = Tally()
    by_content = origin["split_rule"] != AS_PUBLISHED
    for split in (None,) if by_content else reversed(SPLITS):
        files = [file for file in source.files if by_content or file.role == split]
        terms = Terms(task=source.task, format=origin["imported_from"]["format"], split=split)
        with tqdm(unit="row", disable=None, desc=f"import {split or source.name}") as bar:
            for outcomes in engine.map(judge, _chunks(terms, _claims(source, files))):
                for outcome in outcomes:
                    if isinstance(outcome, Refused):
                        tally.refuse(outcome)
                    elif tally.take(outcome):
                        staging.add(outcome)
                bar.update(len(outcomes))
    return tally


def _claims(source: Source, files: list[SourceFile]) -> Iterator[Claim]:
    number = itertools.count()
    for file in files:
        for record in source.records(file):
            where = f"{file.name} line {record.place}" if record.place else file.name
            yield Claim(next(number), where, record)


def _chunks(terms: Terms, claims: Iterator[Claim]) -> Iterator[Chunk[Terms, Claim]]:
    while items := list(itertools.islice(claims, _CHUNK_RECORDS)):
        yield Chunk(context=terms, items=items)
