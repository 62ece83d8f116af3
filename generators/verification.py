"""Checks a data set on disk: files, schema, identities, and every label."""

import hashlib
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tqdm import tqdm

from symshift.data.dataset import AS_PUBLISHED, Dataset, Fingerprint, broken_shard
from symshift.data.errors import DataError
from symshift.data.example import Example, canonical_id_of, row_id_of, split_of
from symshift.data.files import sha256_of
from symshift.data.plugins import load_task
from symshift.data.schema import arrow_schema
from symshift.data.task import Problem, Solution, Task
from symshift.data.text import rename_text
from symshift.data.verdict import Proof
from symshift.generators.seen import KEY_BYTES, SeenIds


def file_problems(dataset: Dataset) -> Iterator[str]:
    """Yield a line for each file that is missing, changed, or of another schema."""
    schema = arrow_schema(dict(dataset.manifest["columns"]))
    for entry in dataset.manifest["files"]:
        path = dataset.path / entry["path"]
        if not path.is_file():
            yield f"{path}: missing; generate the data set again with --overwrite"
        elif sha256_of(path) != entry["sha256"]:
            yield f"{path}: its SHA-256 is not the manifest's; the file was changed or cut short"
        else:
            yield from _footer_problems(path, schema, entry["rows"])
    named = {dataset.path / entry["path"] for entry in dataset.manifest["files"]}
    for path in sorted((dataset.path / "data").glob("*.parquet")):
        if path not in named:
            yield f"{path}: not in the manifest; remove it, other readers would load it"


def _footer_problems(path: Path, schema: pa.Schema, rows: int) -> Iterator[str]:
    try:
        with pq.ParquetFile(path) as file:
            if file.schema_arrow != schema:
                yield f"{path}: its schema is not the data set's"
            if file.metadata.num_rows != rows:
                yield f"{path}: {file.metadata.num_rows} rows, the manifest says {rows}"
    except (pa.ArrowInvalid, OSError) as error:
        yield str(broken_shard(path, error))


def row_problems(
    row: Example, task: Task, *, renamed: bool, by_content: bool = True
) -> Iterator[str]:
    """Yield what is wrong with a row: its label, its identity, or what is said of it.

    Args:
        row: The row.
        task: Its task.
        renamed: Whether it is of a renamed data set.
        by_content: Whether its content decides its split.
    """
    try:
        problem = task.read(row.input)
    except DataError as error:
        yield str(error)
        return
    judgement = task.check(row, row.target)
    if not judgement.is_right:
        yield f"its target is {judgement.verdict.value}: {judgement.reason or row.target}"
    if judgement.proof is Proof.BROKEN:
        yield f"the proof in its target is broken: {judgement.proof_reason}"
    stated = {
        "symbols": problem.symbols,
        "num_symbols": len(problem.symbols),
        "size": problem.size,
        "canonical_id": canonical_id_of(task.name, problem.canonical_text),
        "shortcuts": _shortcuts(row, task),
        **_own_columns(task, problem),
    }
    if not renamed:
        if by_content:
            stated["split"] = split_of(task.name, problem.decides_split)
        stated["id"] = row_id_of(task.name, row.input)
    else:
        stated["id"] = row_id_of(task.name, row["base_id"], row.input)
        back = {pair["renamed"]: pair["name"] for pair in row["renaming"]}
        if row_id_of(task.name, rename_text(row.input, back)) != row["base_id"]:
            yield "its renaming, undone, does not give the row it says it renames"
    for column, value in stated.items():
        if row[column] != value:
            yield f"{column} is {row[column]!r}, the input gives {value!r}"


def _shortcuts(row: Example, task: Task) -> tuple[str, ...]:
    names = task.shortcut_names
    return tuple(name for name in names if task.check(row, task.shortcut(name, row)).is_right)


def _own_columns(task: Task, problem: Problem) -> Mapping[str, Any]:
    """Return what the task's own columns must be: a solution is checked by two methods."""
    if not task.extra_columns:
        return {}
    solution = task.solve(problem)
    return solution.extra if isinstance(solution, Solution) else {}


def verify(dataset: Dataset) -> Iterator[str]:
    """Yield a line for everything that is wrong with a data set; none means it is sound.

    Labels are judged by the task's checker, which is not what made them. Checks of rows are
    left out when a file is broken.
    """
    broken = list(file_problems(dataset))
    yield from broken
    if broken:
        return
    task = load_task(dataset.task_name)
    renamed = "renamed_from" in dataset.manifest
    by_content = dataset.split_rule != AS_PUBLISHED
    fingerprint = Fingerprint()
    seen, ids = SeenIds(), SeenIds()
    total = sum(dataset.num_rows(split) for split in dataset.splits)
    bar = tqdm(total=total, unit="row", disable=None, desc=f"verify {dataset.name}")
    for split in dataset.splits:
        for number, row in enumerate(dataset.rows(split)):
            where = f"{dataset.path}: {split} row {number} ({row.id})"
            fingerprint.update(row)
            found = row_problems(row, task, renamed=renamed, by_content=by_content)
            yield from (f"{where}: {problem}" for problem in found)
            if row.split != split:
                yield f"{where}: lies in {split}, says {row.split}"
            if not ids.add(_key(row.id)):
                yield f"{where}: its id stands twice"
            if not renamed and not seen.add(_key(row.canonical_id)):
                yield f"{where}: equivalent to an earlier row"
            bar.update()
    bar.close()
    if fingerprint.hexdigest() != dataset.fingerprint:
        yield f"{dataset.path}: the rows do not give the manifest's fingerprint"


def _key(stated: str) -> bytes:
    """Return a key for what a file states as an id, which may be any text."""
    return hashlib.sha256(stated.encode()).digest()[:KEY_BYTES]


def first_problems(dataset: Dataset, max_problems: int = 20) -> list[str]:
    """Return what is wrong with a data set, at most so many lines."""
    return list(itertools.islice(verify(dataset), max_problems))
