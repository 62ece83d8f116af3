"""From a record of somebody's file to a row: no answer is believed before it is checked."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from symshift.data import polish
from symshift.data.assignment import AssignmentError
from symshift.data.errors import DataError
from symshift.data.example import Example, canonical_id_of, row_id_of, split_of
from symshift.data.formula import FormulaError
from symshift.data.plugins import load_task
from symshift.data.records import Record
from symshift.data.task import Problem, Solution, Task
from symshift.data.trace import TraceError
from symshift.data.verdict import Verdict
from symshift.data.vocabulary import position_of
from symshift.generators.pool import Chunk

PERTURBATION = "as published"
"""What a row says of how its symbols got their names, where that is not known."""
UNSATISFIABLE = "unsatisfiable"
NO_TARGET = "without a target"
UNREADABLE = "unreadable"
WRONG = "wrong label"
UNDECIDED = "undecided label"
FOREIGN = "names outside the vocabulary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How the records of a file are to be read."""

    task: str
    """The task."""
    format: str
    """jsonl or deepltl."""
    split: str | None
    """The split that the file says, or None to split by content."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A record that says of an answer that it is right."""

    number: int
    """Which record of its split it is, from 0."""
    where: str
    """Its file and line, to show."""
    record: Record
    """The record."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A claim that gives no row."""

    reason: str
    """What the manifest counts it under."""
    fault: str = ""
    """Where and what is wrong; empty where nothing is."""


Outcome = Example | Refused


class Engine(Protocol):
    """Judges records in other processes, or in this one."""

    def map(
        self,
        function: Callable[[Terms, Claim], Outcome],
        chunks: Iterator[Chunk[Terms, Claim]],
    ) -> Iterator[list[Outcome]]:
        """Yield the outcomes of each chunk, in the order of the chunks."""


class InProcess:
    """Judges records in this process."""

    def map(
        self,
        function: Callable[[Terms, Claim], Outcome],
        chunks: Iterator[Chunk[Terms, Claim]],
    ) -> Iterator[list[Outcome]]:
        """Yield the outcomes of each chunk, in the order of the chunks."""
        for chunk in chunks:
            yield [function(chunk.context, item) for item in chunk.items]


def judge(terms: Terms, claim: Claim) -> Outcome:
    """Return the row that a claim gives, or why it gives none.

    Args:
        terms: How to read it.
        claim: The claim.
    """
    record = claim.record
    if record.problem:
        return Refused(UNREADABLE, f"{claim.where}: {record.problem}")
    task = load_task(terms.task)
    try:
        target = _target(terms, record)
        if isinstance(target, Refused):
            return target
        problem = task.read(record.input)
    except (DataError, FormulaError, TraceError, AssignmentError) as error:
        return Refused(UNREADABLE, f"{claim.where}: {error}")
    if foreign := [name for name in problem.symbols if position_of(name) is None]:
        return Refused(FOREIGN, f"{claim.where}: {foreign[0]!r} is not one of a..z, p26, p27, ...")
    judgement = task.check({"input": problem.input, "target": target}, target)
    if judgement.verdict is Verdict.TIMEOUT:
        return Refused(UNDECIDED, f"{claim.where}: {judgement.reason}")
    if not judgement.is_right:
        why = judgement.reason or "it does not solve the problem"
        what = f"target {target[:60]!r} is {judgement.verdict.value}"
        return Refused(WRONG, f"{claim.where}: {what}: {why}")
    return _example(task, terms, problem, target, claim)


def _target(terms: Terms, record: Record) -> str | Refused:
    if record.target is None or (terms.format, record.target) == ("deepltl", polish.NO_TRACE):
        return Refused(NO_TARGET)
    if terms.format != "deepltl":
        return record.target
    if terms.task == "ltl" and record.target == polish.UNSATISFIABLE:
        return Refused(UNSATISFIABLE)
    return polish.target_from_polish(terms.task, record.target)


def _example(task: Task, terms: Terms, problem: Problem, target: str, claim: Claim) -> Example:
    row = {"input": problem.input, "target": target}
    return Example(
        id=row_id_of(task.name, problem.input),
        task=task.name,
        input=problem.input,
        target=target,
        symbols=problem.symbols,
        num_symbols=len(problem.symbols),
        size=problem.size,
        canonical_id=canonical_id_of(task.name, problem.canonical_text),
        split=terms.split or split_of(task.name, problem.decides_split),
        perturbation=PERTURBATION,
        shortcuts=tuple(
            name
            for name in task.shortcut_names
            if task.check(row, task.shortcut(name, row)).is_right
        ),
        index=claim.number,
        solver=f"as published ({terms.format})",
        extra=_own_columns(task, problem),
    )


def _own_columns(task: Task, problem: Problem) -> Mapping[str, Any]:
    """Return the columns that only this task has, as a solver gives them."""
    solution = task.solve(problem) if task.extra_columns else None
    return solution.extra if isinstance(solution, Solution) else {}
