"""Formulas drawn exactly uniformly and without replacement, by counting and unranking.

What is counted are the classes of formulas that renaming makes equal. A class is a sequence of
Polish tokens whose symbols are numbered in order of first occurrence. Read from left to right, it
needs to be known only by how many tokens are left, how many places are open, and how many symbols
occurred: the number of ways to go on from there follows from those one token later. So a number
below the total stands for one formula, and is turned into it token by token
(docs/uniform-sampling.md).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from symshift.data.formula import Formula
from symshift.data.options import Range
from symshift.generators.formulas.grammar import Grammar, no_formula
from symshift.generators.formulas.interleaving import Interleaving
from symshift.generators.formulas.permutations import Path, permutation
from symshift.generators.formulas.sizes import size_weights

P = TypeVar("P")
_Option = tuple[Sequence[str], int, int, int]
"""Tokens that can come next, the ways to go on after each, and places and symbols then."""


class FormulaClasses:
    """The classes of formulas whose number of distinct symbols is in a range, by size."""

    def __init__(self, grammar: Grammar, max_size: int, num_symbols: Range) -> None:
        """Count them.

        Args:
            grammar: What formulas are made of.
            max_size: Nodes of the largest formula.
            num_symbols: Distinct symbols of a formula.
        """
        self._grammar = grammar
        max_used = min(num_symbols.max, len(grammar.symbols))
        ends = [int(used in num_symbols) for used in range(max_used + 1)]
        # Rows of zeros for no place and for too many, and a zero for one symbol too many, spare
        # asking.
        nothing = [0] * (max_used + 2)
        self._ways = [[[*ends, 0], nothing, nothing]]
        for left in range(1, max_size + 1):
            rows = [
                [sum(len(o[0]) * o[1] for o in self._options(left - 1, places, used))
                 for used in range(max_used + 1)]
                for places in range(1, left + 1)
            ]  # fmt: skip
            self._ways.append([nothing, *([*row, 0] for row in rows), nothing, nothing])

    def count(self, size: int) -> int:
        """Return the number of classes of a size up to `max_size`."""
        return self._ways[size][1][0]

    def unrank(self, size: int, rank: int) -> Formula:
        """Return the formula, in canonical form, that a number below the count stands for.

        Raises:
            ValueError: If the number is not below it.
        """
        if not 0 <= rank < self.count(size):
            raise ValueError(f"rank={rank} must be in range({self.count(size)})")
        formula: list[str] = []
        places, used = 1, 0
        for left in range(size - 1, -1, -1):
            for tokens, each, places_then, used_then in self._options(left, places, used):
                if rank < len(tokens) * each:
                    at, rank = divmod(rank, each)
                    formula.append(tokens[at])
                    places, used = places_then, used_then
                    break
                rank -= len(tokens) * each
        return Formula(tuple(formula))

    def rank(self, formula: Formula) -> int:
        """Return the number that stands for a formula in canonical form.

        Raises:
            ValueError: If the formula is not among those counted.
        """
        rank, places, used = 0, 1, 0
        if len(formula) >= len(self._ways):
            raise ValueError(f"formula of {len(formula)} nodes: {len(self._ways) - 1} are counted")
        for left, token in zip(range(len(formula) - 1, -1, -1), formula, strict=True):
            for tokens, each, places_then, used_then in self._options(left, places, used):
                if each and token in tokens:
                    rank += tokens.index(token) * each
                    places, used = places_then, used_then
                    break
                rank += len(tokens) * each
            else:
                raise ValueError(f"formula={' '.join(formula)!r} is not of these classes")
        return rank

    def _options(self, left: int, places: int, used: int) -> tuple[_Option, ...]:
        """Return what can come next if `left` tokens follow it."""
        rows, grammar = self._ways[left], self._grammar
        old = (*grammar.constants, *grammar.symbols[:used])
        new = grammar.symbols[used : used + 1]
        return (
            (grammar.unary, rows[places][used], places, used),
            (grammar.binary, rows[places + 1][used], places + 1, used),
            (old, rows[places - 1][used], places - 1, used),
            (new, rows[places - 1][used + 1], places - 1, used + 1),
        )


class InterleavedClasses(Generic[P]):
    """Every class of several parts once: the parts interleaved, each in a random order."""

    def __init__(
        self,
        parts: Mapping[P, tuple[FormulaClasses, int]],
        weigh: Callable[[Iterable[P]], Mapping[P, int]],
        path: Path,
        kind: str,
    ) -> None:
        """Count the classes of each part.

        Args:
            parts: Each part: the classes it is from, and the size of its formulas.
            weigh: Gives the weights (Interleaving) of the parts that are not empty.
            path: What the order is a function of, besides the seed.
            kind: What a part is, in a word.
        """
        self._parts = parts
        counts = {part: classes.count(size) for part, (classes, size) in parts.items()}
        self.counts = {part: count for part, count in counts.items() if count}
        """The number of classes of each part that is not empty."""
        self._interleaving = Interleaving(self.counts, weigh(self.counts))
        self._path = path
        self._kind = kind
        self.length = self._interleaving.length
        """The number of classes."""

    def part(self, seed: int, index: int) -> P:
        """Return the part that the class at an index is from."""
        return self._interleaving.locate(index, (*self._path, seed))[0]

    def formula(self, seed: int, index: int) -> Formula:
        """Return the formula at an index, in canonical form."""
        path = (*self._path, seed)
        part, element = self._interleaving.locate(index, path)
        rank = permutation(self.counts[part], (*path, self._kind, part))[element]
        classes, size = self._parts[part]
        return classes.unrank(size, rank)


class UniformStream:
    """Every class once: sizes as size_weights has them, and uniform among those of a size."""

    def __init__(self, grammar: Grammar, size: Range, num_symbols: Range, path: Path) -> None:
        """Count the classes.

        Args:
            grammar: What formulas are made of.
            size: Nodes of a formula.
            num_symbols: Distinct symbols of a formula.
            path: What the order is a function of, besides the seed.

        Raises:
            UsageError: If there is no such formula.
        """
        sizes = grammar.possible_sizes(size, num_symbols)
        classes = FormulaClasses(grammar, size.max, num_symbols)
        parts = {n: (classes, n) for n in sizes}
        self._classes = InterleavedClasses(parts, size_weights, path, "size")
        if not self._classes.length:
            raise no_formula(size, num_symbols)
        self.cells = dict.fromkeys(grammar.cells(size, num_symbols))
        self.length: int | None = self._classes.length
        """The number of classes."""

    def place(self, seed: int, index: int) -> None:
        """Return None: the cell of a formula is known when it is drawn."""

    def formula(self, seed: int, index: int) -> Formula:
        """Return the formula at an index, in canonical form."""
        return self._classes.formula(seed, index)
