"""Finds equivalent rows within and between data sets: duplicates, and leaks between splits.

Equivalence is the task's own: rows with the same canonical form, which is made anew from each
row's text and never taken from a file. For copying, whose point is renamed strings, it is the
text, and the figures modulo renaming are given for information.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path

from tqdm import tqdm

from symshift.data.errors import DataError, UsageError
from symshift.data.example import canonical_id_of, row_id_of
from symshift.data.files import sha256_of
from symshift.data.formula import canonical_names
from symshift.data.plugins import load_task
from symshift.data.records import Columns, Record
from symshift.data.sources import Source, SourceFile, open_source
from symshift.data.task import Task
from symshift.data.text import rename_text
from symshift.generators.exchange.audit_result import (
    Audit,
    AuditedFile,
    AuditedPair,
    AuditedSet,
    AuditedSplit,
    Spot,
)
from symshift.generators.exchange.equivalence import (
    Identity,
    Ints,
    RowCollector,
    Rows,
    common_keys,
    num_common_texts,
    overlap,
)

MAX_EXAMPLES = 5


class _Split:
    """A split that was read, with what it takes to look its rows up again."""

    def __init__(self, source: Source, name: str, data_set: str) -> None:
        self.source = source
        self.name = name
        self.data_set = data_set
        self.files = source.of(name)
        self.role = self.files[0].role
        self.rows: Rows = RowCollector().rows()

    def spots(self, positions: Iterable[int]) -> dict[int, Spot]:
        """Read some rows again, to show them.

        Args:
            positions: Their positions in the split.
        """
        wanted = {self.rows.place(at): at for at in positions}
        found = {}
        for number, file in enumerate(self.files):
            places = {place for of, place in wanted if of == number}
            records = self.source.records(file) if places else ()
            for record in records:
                if record.place in places and not record.problem:
                    places.discard(record.place)
                    where = f"{_shown(self.data_set, file)} {_unit(file)} {record.place}"
                    spot = Spot(where, record.input, record.target)
                    found[wanted[number, record.place]] = spot
                if not places:
                    break
        return found


def audit(
    paths: Sequence[Path], *, task: str | None = None, columns: Columns | None = None
) -> Audit:
    """Look for equivalent rows within each split of some data sets and between any two splits.

    Args:
        paths: Data sets of symshift, folders of other files, or single files (data.sources).
        task: The task of the rows of other files.
        columns: Which columns of other files hold what.

    Returns:
        Everything that was found; rows that cannot be read are findings, too.

    Raises:
        UsageError: If no path is given or one twice, the task of a file is not known, or a column
            that was asked for does not exist.
        DataError: If a path holds nothing to read.
    """
    if not paths:
        raise UsageError("no data set to audit")
    if len({path.resolve() for path in paths}) < len(paths):
        raise UsageError("a data set is given twice: it would only leak into itself")
    sources = [open_source(path, task=task, columns=columns) for path in paths]
    found = Audit()
    splits: list[_Split] = []
    for source, name in zip(sources, _names(sources), strict=True):
        splits += _read_set(source, name, found)
    found.splits += map(_audited, splits)
    found.pairs += (_compared(one, two) for one, two in combinations(splits, 2))
    return found


def _names(sources: Sequence[Source]) -> list[str]:
    """Return names to show, told apart by a number where folders have the same."""
    seen: Counter[str] = Counter()
    names = []
    for source in sources:
        seen[source.name] += 1
        times = seen[source.name]
        names.append(source.name if times == 1 else f"{source.name} ({times})")
    return names


def _read_set(source: Source, name: str, found: Audit) -> list[_Split]:
    if not source.files:
        found.note(f"{name}: holds no rows")
    splits = [_Split(source, split, name) for split in source.splits]
    files = [file for split in splits for file in _read(split, found)]
    found.sets.append(
        AuditedSet(
            name=name,
            task=source.task,
            format=source.format,
            fingerprint=source.fingerprint,
            files=tuple(files),
        )
    )
    return splits


def _read(split: _Split, found: Audit) -> list[AuditedFile]:
    """Read the rows of a split, and return what its files are."""
    task = load_task(split.source.task)
    rows, files = RowCollector(), []
    description = f"audit {split.data_set} {split.name}"
    with tqdm(unit="row", disable=None, desc=description) as bar:
        for number, file in enumerate(split.files):
            seen = AuditedFile(name=file.name, split=split.name, sha256=_hashed(split, file, found))
            files.append(seen)
            for record in split.source.records(file) if seen.sha256 else ():
                bar.update()
                try:
                    rows.add(identity_of(task, record), number, record.place)
                    seen.rows += 1
                except DataError as error:
                    seen.unreadable += 1
                    place = f" {_unit(file)} {record.place}" if record.place else ""
                    found.note(f"{_shown(split.data_set, file)}{place}: {error}")
    split.rows = rows.rows()
    return files


def _hashed(split: _Split, file: SourceFile, found: Audit) -> str:
    if not file.path.is_file():
        found.note(f"{_shown(split.data_set, file)}: missing")
        return ""
    digest = sha256_of(file.path)
    if file.stated_sha256 not in (None, digest):
        found.note(f"{_shown(split.data_set, file)}: changed, its SHA-256 is not the manifest's")
    return digest


def identity_of(task: Task, record: Record) -> Identity:
    """Return what decides which rows a record is equivalent to.

    Raises:
        DataError: If the record cannot be read or is no problem of the task.
    """
    if record.problem:
        raise DataError(record.problem)
    problem = task.read(record.input)
    row_id = row_id_of(task.name, record.input)
    loose = None
    if task.names_matter:
        names = canonical_names(problem.symbols)
        text = rename_text(problem.canonical_text, names)
        loose = bytes.fromhex(canonical_id_of(task.name, text))
    return Identity(
        canonical=bytes.fromhex(canonical_id_of(task.name, problem.canonical_text)),
        family=_short(_base_of(task, record) or row_id),
        text=_short(row_id),
        loose=loose,
        cell=(len(problem.symbols), problem.size),
    )


def _short(row_id: str) -> bytes:
    return bytes.fromhex(row_id[-16:])


def _base_of(task: Task, record: Record) -> str | None:
    """Return the row that a record renames, if its renaming, undone, really gives that row."""
    base, pairs = record.extra.get("base_id"), record.extra.get("renaming")
    if not isinstance(base, str) or not isinstance(pairs, list):
        return None
    try:
        back = {pair["renamed"]: pair["name"] for pair in pairs}
        undone = rename_text(record.input, back)
    except (TypeError, KeyError):
        return None
    return base if row_id_of(task.name, undone) == base else None


def _shown(data_set: str, file: SourceFile) -> str:
    return data_set if data_set == file.name else f"{data_set}/{file.name}"


def _unit(file: SourceFile) -> str:
    return "row" if file.format == "parquet" else "line"


def _audited(split: _Split) -> AuditedSplit:
    rows = split.rows
    at = rows.order[rows.repeated()]
    firsts = rows.firsts()[rows.repeated()]
    shown = at.argsort()[:MAX_EXAMPLES]
    spots = split.spots({*at[shown].tolist(), *firsts[shown].tolist()})
    return AuditedSplit(
        data_set=split.data_set,
        split=split.name,
        rows=len(rows),
        problems=len(rows.starts),
        unique=len(rows) - len(at),
        texts=len(rows.texts),
        modulo_renaming=None if rows.loose is None else len(rows.loose),
        cells=rows.cells(),
        repeats=rows.cells(at),
        examples=tuple((spots[firsts[i]], spots[at[i]]) for i in shown),
    )


def _compared(one: _Split, two: _Split) -> AuditedPair:
    same_role = one.role is not None and one.role == two.role
    apart = same_role and (one.rows.has_renamings or two.rows.has_renamings)
    shared = overlap(one.rows, two.rows, families_apart=apart)
    loose = None
    if one.rows.loose is not None and two.rows.loose is not None:
        loose = len(common_keys(one.rows.loose, two.rows.loose)[0])
    return AuditedPair(
        first=(one.data_set, one.name),
        second=(two.data_set, two.name),
        is_leak=one.source is two.source or not same_role,
        problems=len(shared.first),
        rows_first=shared.num_first,
        rows_second=shared.num_second,
        renamings=shared.num_exempt,
        texts=num_common_texts(one.rows, two.rows),
        modulo_renaming=loose,
        cells=one.rows.cells(shared.first),
        examples=_pairs(one, two, shared.first, shared.second),
    )


def _pairs(one: _Split, two: _Split, first: Ints, second: Ints) -> tuple[tuple[Spot, Spot], ...]:
    shown = first.argsort()[:MAX_EXAMPLES]
    left, right = one.spots(first[shown].tolist()), two.spots(second[shown].tolist())
    return tuple((left[first[i]], right[second[i]]) for i in shown)
