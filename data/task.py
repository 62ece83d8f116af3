"""What a task is: the one interface between problems, texts, tokens and verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from symshift.data.grammar import Grammar
from symshift.data.verdict import Judgement
from symshift.data.vocabulary import Window


@dataclass(frozen=True, slots=True)
class Rejected:
    """A candidate that gives no row, and why (one word or two, counted in the manifest)."""

    reason: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A candidate as text over the first names of the vocabulary, before it is given its own.

    For most tasks this is the canonical form.
    """

    input: str
    """The problem's text."""
    symbols: tuple[str, ...]
    """Its symbols, in canonical order."""
    size: int
    """Its size."""
    canonical_text: str
    """The frozen serialisation of its canonical form."""
    split_text: str | None = None
    """What decides its split, where that is less than the canonical form."""
    form: str = ""
    """Which form its target shall have, where the task has several."""

    @property
    def decides_split(self) -> str:
        """The text that decides its split."""
        return self.canonical_text if self.split_text is None else self.split_text


@dataclass(frozen=True, slots=True)
class Solution:
    """A right answer to a problem, solved and checked by independent means."""

    target: str
    """The answer's text, over the problem's own symbols."""
    solver: str
    """Name and version of the solver that found it."""
    shortcuts: tuple[str, ...] = ()
    """The trivial answers that are right as well."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """The columns that only this task has, over the problem's own symbols."""


Cell = tuple[int, int]
"""A number of distinct symbols, and a size."""


@dataclass(frozen=True, slots=True)
class Even:
    """A promise that each split holds some values of its columns equally often."""

    columns: tuple[str, ...]
    """The columns, which the task adds."""
    values: tuple[tuple[Any, ...], ...]
    """The values of these columns; a row with other values is not concerned."""
    is_exact: bool = False
    """Whether at every moment the counts differ by one row at most, or else by a few."""


class ProblemStream(Protocol):
    """The candidates of a task under one choice of options and names."""

    @property
    def length(self) -> int | None:
        """Where candidates end: indices are below it. None if they do not end."""

    @property
    def space(self) -> int | None:
        """How many problems there are, or None where they cannot be counted."""

    @property
    def cells(self) -> Mapping[Cell, int | None]:
        """The cells that problems can lie in, in order.

        Each has the number of candidates that come to it, where that is known, or None.
        """

    @property
    def even(self) -> Sequence[Even]:
        """What each split holds equally often."""

    @property
    def bundle(self) -> int:
        """How many candidates become rows all together or not at all.

        Those of bundle n have the indices from n * bundle on, and lie in one split and one cell.
        """

    def place(self, seed: int, index: int) -> Cell | None:
        """Return the cell of a candidate before it is drawn; None unless cells come evenly."""

    def problem(self, seed: int, index: int) -> Problem | Rejected:
        """Draw a candidate: a pure function of (options, names, seed, index)."""


class Task(Protocol):
    """A family of problems: how they are drawn, solved, checked and written for a network."""

    name: str
    """The name that users type; also the name of the file under tasks/."""
    summary: str
    """One line for `symshift list tasks`."""
    instructions: str
    """What a problem means and what its answer must be, for somebody who has met neither."""
    version: int
    """The stream version: it changes when the same seed and index give another candidate."""
    options: type[Any]
    """Frozen dataclass of the options that shape the distribution."""
    extra_columns: Mapping[str, str]
    """The columns this task adds: name to type (string, int64, list<string>, bool)."""
    names_matter: bool
    """Whether the canonical form keeps the names (only copying: renamed strings are its point)."""
    fixed_tokens: tuple[str, ...]
    """The network's tokens that are not symbols, in a fixed order."""
    answer_mark: str
    """A regular expression that matches once in a line that holds one answer, for the lenient
    reading: it rather finds too many than overlooks one."""
    grammar: Grammar | None
    """What well-formed answers look like, as tokens of encode_target; None if that is not stated.
    It lets every target pass, and nothing that `check` would call invalid for its form."""
    shortcut_names: tuple[str, ...]
    """The trivial answers that a row can be solved by, such as "all-true"."""
    checker: str
    """What decides verdicts, with its version and budget; recorded in every result."""

    def stream(self, options: Any, window: Window) -> ProblemStream:
        """Return the candidates that options and a window of names give.

        It is cheap to call again with the same arguments: the last streams are kept.

        Raises:
            UsageError: If no candidate can be what the options ask for.
        """

    def read(self, text: str) -> Problem:
        """Return the problem that an input text states.

        Raises:
            DataError: If the text is no problem of this task.
        """

    def solve(self, problem: Problem) -> Solution | Rejected:
        """Solve a problem and check the answer with a second, independent method.

        Raises:
            DisagreementError: If the two contradict each other.
        """

    def check(self, row: Mapping[str, Any], text: str | None) -> Judgement:
        """Judge an answer to a row; `row` is any mapping with `input` and `target`.

        Raises:
            DataError: If the row's own input or target cannot be read.
        """

    def explain(self, row: Mapping[str, Any], text: str) -> str:
        """Say in words why an answer got its verdict: the failing place or a counter-example."""

    def shortcut(self, name: str, row: Mapping[str, Any]) -> str:
        """Return the text of a trivial answer to a row (one of shortcut_names)."""

    def encode_input(self, text: str) -> list[str]:
        """Return the network's tokens of an input text: fixed tokens and symbols."""

    def encode_target(self, text: str) -> list[str]:
        """Return the network's tokens of a target text."""

    def decode(self, tokens: Sequence[str]) -> str:
        """Return the text of target tokens; of malformed ones, the tokens joined by spaces."""

    def tree_paths(self, tokens: Sequence[str]) -> list[tuple[int, ...]] | None:
        """Return, for input tokens, each node's branch choices, nearest to the node first.

        A choice is 0 (left or only child) or 1 (right). None where inputs are no trees.
        """
