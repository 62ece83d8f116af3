"""The notations in which answers are read: that of the rows, and Polish.

Polish notation is read as DeepLTL's files write it (`U&ab!c`, `&a!b;{1}`, `a1c0`), or with white
space between all tokens, as names of several characters need: `& p26 ! b ; { 1 }`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from symshift.data import polish
from symshift.data.assignment import AssignmentError
from symshift.data.errors import UsageError, unknown_name
from symshift.data.formula import FormulaError
from symshift.data.task import Task
from symshift.data.trace import TraceError
from symshift.metrics.record import NATIVE

POLISH = "polish"
NOTATIONS = (NATIVE, POLISH)
_POLISH_MARKS = {"ltl": r"\{", "prop": r"\S.*"}
_POLISH_TOKEN = re.compile(r"<->|->|xor|\S")


class NotationError(ValueError):
    """A text that is no answer in its notation; the message says why."""


def _same(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Notation:
    """How the answers to one task are written."""

    name: str
    """One of NOTATIONS."""
    mark: str
    """A regular expression that matches once in a line that holds one answer."""
    native: Callable[[str], str] = _same
    """Returns an answer as the rows' targets are written, or raises NotationError."""

    def tokens_text(self, text: str) -> str:
        """Return an answer, well-formed or not, so that its symbols can be told apart."""
        try:
            return self.native(text)
        except NotationError:
            return " ".join(_POLISH_TOKEN.findall(text))


def notation_for(name: str, task: Task) -> Notation:
    """Return a notation of a task's answers.

    Raises:
        UsageError: If there is none of this name.
    """
    if name not in NOTATIONS:
        raise unknown_name("notation", name, NOTATIONS)
    if name == NATIVE:
        return Notation(name=NATIVE, mark=task.answer_mark)
    if task.name not in _POLISH_MARKS:
        tasks = " and ".join(_POLISH_MARKS)
        raise UsageError(f"{task.name} has no Polish notation, only {tasks} have")

    def native(text: str) -> str:
        return _from_polish(task, text)

    return Notation(name=POLISH, mark=_POLISH_MARKS[task.name], native=native)


def _from_polish(task: Task, text: str) -> str:
    tokens = text.split()
    try:
        if len(tokens) < 2:
            return polish.target_from_polish(task.name, "".join(tokens))
    except (TraceError, AssignmentError, FormulaError) as error:
        raise NotationError(f"no Polish notation: {error}") from error
    # A task joins malformed tokens by spaces, which is no answer of its own notation.
    if (native := task.decode(tokens)) == " ".join(tokens):
        raise NotationError(f"no Polish notation: {native[:40]!r}")
    return native
