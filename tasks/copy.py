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
from symshift.data.options import Range, option
from symshift.data.seeds import Draws
from symshift.data.task import Cell, Problem, Rejected, Solution
from symshift.data.text import is_name, tokens_of
from symshift.data.verdict import Judgement, Verdict
from symshift.data.vocabulary import Window, name_at
from symshift.generators.strings import count_strings, unrank_string

# Random draws find most strings; then the stream lists all of them, so that a space that is
# smaller than what was asked for is written whole.
_RANDOM_PASSES = 4
MAX_LENGTH = 1_000


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
    version = 1
    options = Options
    extra_columns: Mapping[str, str] = {}
    names_matter = True
    fixed_tokens: tuple[str, ...] = ()
    shortcut_names: tuple[str, ...] = ()
    checker = "equality 1"

    def num_candidates(self, options: Options, window: Window) -> int | None:
        """Return the end of the stream: some random passes, then every string once."""
        return (_RANDOM_PASSES + 1) * self.space(options, window)

    def space(self, options: Options, window: Window) -> int:
        """Return how many strings there are."""
        return sum(_counts(options, window).values())

    def cells(self, options: Options, window: Window) -> Mapping[Cell, int | None]:
        """Return the pairs of a number of distinct symbols and a length that strings have."""
        return dict.fromkeys(_counts(options, window))

    def place(self, options: Options, window: Window, seed: int, index: int) -> Cell | None:
        """Return the cell of a candidate where all cells are drawn evenly."""
        return _drawn(options, window, seed, index)[0] if options.balance else None

    def candidate(
        self, options: Options, window: Window, seed: int, index: int
    ) -> Problem | Rejected:
        """Draw a string: its length uniform, then uniform among those of that length."""
        (num_symbols, length), rank = _drawn(options, window, seed, index)
        places = unrank_string(length, len(window), Range(num_symbols, num_symbols), rank)
        return self.read(" ".join(name_at(window.start + place) for place in places))

    def read(self, text: str) -> Problem:
        """Return the string that a text holds."""
        symbols = tokens_of(text)
        if not symbols or not all(map(is_name, symbols)):
            raise DataError(f"copy input {text[:60]!r} is no string of symbols, such as `c a b a`")
        text = " ".join(symbols)
        return Problem(text, tuple(dict.fromkeys(symbols)), len(symbols), text)

    def solve(self, problem: Problem) -> Solution | Rejected:
        """Return the string itself."""
        return Solution(problem.input, "identity 1")

    def check(self, row: Mapping[str, Any], text: str | None) -> Judgement:
        """Compare an answer with the input; white space only separates."""
        if text is None:
            return Judgement(Verdict.INVALID, "null is no answer")
        given, answer = tokens_of(row["input"]), tokens_of(text[: MAX_TEXT + 1])
        foreign = not set(filter(is_name, answer)) <= set(given)
        if len(text) > MAX_TEXT:
            reason = f"text of {len(text)} characters: at most {MAX_TEXT} are read"
            return Judgement(Verdict.INVALID, reason, foreign)
        if answer == given:
            return Judgement(Verdict.EXACT)
        for at, token in enumerate(answer):
            if not is_name(token):
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


def _num_symbols(options: Options, window: Window) -> Range:
    if options.size.max > MAX_LENGTH:
        raise UsageError(f"size {options.size}: strings of up to {MAX_LENGTH} symbols are drawn")
    asked = options.num_symbols or Range(1, len(window))
    if options.contain_all:
        asked = Range(len(window), len(window))
    if asked.min > len(window):
        raise UsageError(f"num_symbols {asked}: the vocabulary has only {len(window)} names")
    return asked


@lru_cache(maxsize=64)
def _counts(options: Options, window: Window) -> Mapping[Cell, int]:
    """Return the number of strings in each cell that has any."""
    num_symbols = _num_symbols(options, window)
    counts = {
        (k, length): count
        for length in range(max(1, options.size.min), options.size.max + 1)
        for k in range(max(1, num_symbols.min), min(num_symbols.max, length) + 1)
        if (count := count_strings(length, len(window), Range(k, k)))
    }
    if not counts:
        raise UsageError(
            f"size {options.size}: no string of these lengths has {num_symbols} distinct symbols"
        )
    return counts


@lru_cache(maxsize=64)
def _by_length(options: Options, window: Window) -> Mapping[int, Mapping[Cell, int]]:
    lengths: dict[int, dict[Cell, int]] = {}
    for cell, count in _counts(options, window).items():
        lengths.setdefault(cell[1], {})[cell] = count
    return lengths


def _drawn(options: Options, window: Window, seed: int, index: int) -> tuple[Cell, int]:
    """Return the cell of a candidate, and its rank among the strings there."""
    counts = _counts(options, window)
    place = index - _RANDOM_PASSES * sum(counts.values())
    if place >= 0:
        return _listed(counts, place)
    draws = Draws(Copy.name, Copy.version, seed, _shape(options, window), index)
    if options.balance:
        cell = draws.choice(list(counts))
        return cell, draws.below(counts[cell])
    of_length = draws.choice(list(_by_length(options, window).values()))
    return _listed(of_length, draws.below(sum(of_length.values())))


def _listed(counts: Mapping[Cell, int], place: int) -> tuple[Cell, int]:
    """Return cell and rank of the string at a place in the list of all strings."""
    for cell, count in counts.items():
        if place < count:
            return cell, place
        place -= count
    raise ValueError(f"{place=}: the stream of candidates ends before it")


def _shape(options: Options, window: Window) -> tuple[str, ...]:
    law = "cells" if options.balance else "lengths"
    return (law, str(len(window)), str(options.size), str(_num_symbols(options, window)))


def _difference(given: tuple[str, ...], answer: tuple[str, ...]) -> str:
    for at, (right, wrong) in enumerate(zip(given, answer, strict=False)):
        if right != wrong:
            return f"symbol {at} is {wrong!r}, not {right!r}"
    return f"{len(answer)} symbols, not {len(given)}"


TASK = Copy()
