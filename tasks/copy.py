"""Copying: the answer is the input string, symbol by symbol.

```
input    c a b a
target   c a b a
```

The control among the tasks: nothing to reason about, so a failure on new names is a failure to
handle names. Strings as in "Interchangeable Token Embeddings" (ICML 2025, copy task): lengths
uniform, characters independent and uniform; optionally every name of the vocabulary occurs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from symshift.data.errors import DataError, UsageError
from symshift.data.formula import MAX_TEXT
from symshift.data.grammar import SYMBOL, Grammar, Move
from symshift.data.options import Range, option
from symshift.data.seeds import Draws
from symshift.data.task import Cell, Even, Problem, Rejected, Solution, Task
from symshift.data.text import is_name, tokens_of
from symshift.data.verdict import Judgement, Verdict
from symshift.data.vocabulary import Window, name_at
from symshift.generators.strings import count_strings, unrank_string

# Random draws find most strings; then the stream lists all of them, so that a space that is
# smaller than what was asked for is written whole.
_RANDOM_PASSES = 4
MAX_LENGTH = 1_000
GRAMMAR = Grammar(
    start="first",
    final=("next",),
    moves=(Move("first", SYMBOL, "next"), Move("next", SYMBOL, "next")),
)
INSTRUCTIONS = (
    "The problem is a string of symbols separated by spaces.\n"
    "The answer is the same string. It is right when it is the same, symbol by symbol."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What shapes the distribution of strings."""

    size: Range = option(Range(5, 10), "length of a string, A-B")
    num_symbols: Range | None = option(None, "distinct symbols in a string, A-B")
    contain_all: bool = option(False, "every name of the vocabulary occurs")
    balance: bool = option(False, "all cells (num_symbols, size) evenly")


class Copy:
    """The task `copy`."""

    name = "copy"
    summary = "repeat a string of symbols"
    instructions = INSTRUCTIONS
    version = 1
    options = Options
    extra_columns: Mapping[str, str] = {}
    names_matter = True
    fixed_tokens: tuple[str, ...] = ()
    answer_mark = r"\S.*"
    grammar: Grammar | None = GRAMMAR
    shortcut_names: tuple[str, ...] = ()
    checker = "equality 1"

    def stream(self, options: Options, window: Window) -> "StringStream":
        """Return strings: random ones, then all of them."""
        return _stream(options, window)

    def read(self, text: str) -> Problem:
        """Return the string that a text holds."""
        symbols = tokens_of(text)
        if not symbols or not all(map(is_name, symbols)):
            raise DataError(f"copy input {text[:60]!r} is no string of symbols, such as `c a b a`")
        return _problem(symbols)

    def solve(self, problem: Problem) -> Solution | Rejected:
        """Return the string itself."""
        return Solution(problem.input, "identity 1")

    def check(self, row: Mapping[str, Any], text: str | None) -> Judgement:
        """Compare an answer with the input; white space only separates."""
        if text is None:
            return Judgement(Verdict.INVALID, "null is no answer")
        if text == row["input"] and len(text) <= MAX_TEXT:
            return Judgement(Verdict.EXACT)
        (given, known), (answer, names) = _read(row["input"]), _read(text[: MAX_TEXT + 1])
        foreign = not names <= known
        if len(text) > MAX_TEXT:
            reason = f"text of {len(text)} characters: at most {MAX_TEXT} are read"
            return Judgement(Verdict.INVALID, reason, foreign)
        if answer == given:
            return Judgement(Verdict.EXACT)
        if not names.issuperset(answer):
            at, token = next((at, t) for at, t in enumerate(answer) if t not in names)
            return Judgement(Verdict.INVALID, f"token {at} ({token!r}) is no symbol", foreign)
        return Judgement(Verdict.INCORRECT, _difference(given, answer), foreign)

    def explain(self, row: Mapping[str, Any], text: str) -> str:
        """Name the first place where an answer differs."""
        return self.check(row, text).reason or "every symbol is the same"

    def shortcut(self, name: str, row: Mapping[str, Any]) -> str:
        """Raise: no trivial answer but the input itself solves a string."""
        raise ValueError(f"shortcut={name!r}: copy has none")

    def encode_input(self, text: str) -> list[str]:
        """Return the symbols."""
        return list(tokens_of(text))

    def encode_target(self, text: str) -> list[str]:
        """Return the symbols."""
        return list(tokens_of(text))

    def decode(self, tokens: Sequence[str]) -> str:
        """Join the symbols by spaces."""
        return " ".join(tokens)

    def tree_paths(self, tokens: Sequence[str]) -> None:
        """Return None: strings are no trees."""


class StringStream:
    """Random strings, then every string once: a data.task.ProblemStream."""

    def __init__(self, options: Options, window: Window) -> None:
        """Count the strings.

        Raises:
            UsageError: If there is none.
        """
        self._window = window
        self._is_balanced = options.balance
        num_symbols = _num_symbols(options, window)
        self._counts = _counts(options.size, num_symbols, len(window))
        # Random strings are of each part as often: of each cell or, without balance, each length.
        parts: dict[Cell | int, dict[Cell, int]] = {}
        for cell, count in self._counts.items():
            parts.setdefault(cell if options.balance else cell[1], {})[cell] = count
        self._parts = tuple(parts.values())
        self.space: int = sum(self._counts.values())
        """How many strings there are."""
        self.length: int = (_RANDOM_PASSES + 1) * self.space
        """Where candidates end."""
        self.cells: Mapping[Cell, int | None] = dict.fromkeys(self._counts)
        """The cells that strings lie in."""
        self.even: Sequence[Even] = ()
        """Nothing: strings have no columns of their own."""
        self.bundle = 1
        """Strings come singly."""
        law = "cells" if options.balance else "lengths"
        self._shape = (law, str(len(window)), str(options.size), str(num_symbols))

    def place(self, seed: int, index: int) -> Cell | None:
        """Return the cell of a candidate where all cells are drawn evenly."""
        return self._drawn(seed, index)[0] if self._is_balanced else None

    def problem(self, seed: int, index: int) -> Problem:
        """Draw a string, with names of the window."""
        (num_symbols, length), rank = self._drawn(seed, index)
        places = unrank_string(length, len(self._window), Range(num_symbols, num_symbols), rank)
        return _problem(tuple(name_at(self._window.start + place) for place in places))

    def _drawn(self, seed: int, index: int) -> tuple[Cell, int]:
        """Return the cell of a candidate, and its rank among the strings there."""
        at = index - _RANDOM_PASSES * self.space
        if at >= 0:
            return _listed(self._counts, at)
        draws = Draws(Copy.name, Copy.version, seed, self._shape, index)
        part = draws.choice(self._parts)
        return _listed(part, draws.below(sum(part.values())))


@lru_cache(maxsize=64)
def _stream(options: Options, window: Window) -> StringStream:
    return StringStream(options, window)


def _num_symbols(options: Options, window: Window) -> Range:
    if options.size.max > MAX_LENGTH:
        raise UsageError(f"size {options.size}: strings of up to {MAX_LENGTH} symbols are drawn")
    asked = options.num_symbols or Range(1, len(window))
    if options.contain_all:
        asked = Range(len(window), len(window))
    if asked.min > len(window):
        raise UsageError(f"num_symbols {asked}: the vocabulary has only {len(window)} names")
    return asked


@lru_cache(maxsize=16)
def _counts(lengths: Range, num_symbols: Range, num_names: int) -> Mapping[Cell, int]:
    """Return the number of strings in each cell that has any."""
    counts = count_strings(lengths, num_names, num_symbols)
    if not counts:
        raise UsageError(
            f"size {lengths}: no string of these lengths has {num_symbols} distinct symbols"
        )
    return counts


def _listed(counts: Mapping[Cell, int], at: int) -> tuple[Cell, int]:
    """Return cell and rank of the string at a place in the list of all strings."""
    for cell, count in counts.items():
        if at < count:
            return cell, at
        at -= count
    raise ValueError(f"place={at}: the stream of candidates ends before it")


def _problem(symbols: tuple[str, ...]) -> Problem:
    text = " ".join(symbols)
    return Problem(text, tuple(dict.fromkeys(symbols)), len(symbols), text)


@lru_cache(maxsize=64)
def _read(text: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the tokens of a text, and the names among them."""
    tokens = tokens_of(text)
    return tokens, frozenset(filter(is_name, set(tokens)))


def _difference(given: tuple[str, ...], answer: tuple[str, ...]) -> str:
    for at, (right, wrong) in enumerate(zip(given, answer, strict=False)):
        if right != wrong:
            return f"symbol {at} is {wrong!r}, not {right!r}"
    counts = f"{len(answer)} symbols, not {len(given)}"
    if len(answer) < len(given):
        return f"symbol {len(answer)} ({given[len(answer)]!r}) is missing: {counts}"
    return f"symbol {len(given)} ({answer[len(given)]!r}) is behind the end: {counts}"


TASK: Task = Copy()
