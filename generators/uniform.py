"""Formulas drawn exactly uniformly, without replacement, by counting and unranking.

The objects are the classes of formulas that renaming makes equal: each is a sequence of Polish
tokens whose symbols are numbered in order of first occurrence. Such a sequence is read from left to
right by a small machine that knows how many tokens are left, how many places are open, and how many
symbols occurred. The number of ways to go on from each of its states follows from the states one
token later (docs/uniform-sampling.md), so that a number below the total can be turned into a
formula token by token, and back.
"""

from collections.abc import Sequence
from functools import lru_cache

from symshift.data.errors import UsageError
from symshift.data.formula import Formula
from symshift.data.options import Range
from symshift.data.seeds import Part
from symshift.generators.grammar import Grammar
from symshift.generators.interleaving import Interleaving
from symshift.generators.permutations import Permutation
from symshift.generators.sizes import size_weights


class FormulaClasses:
    """The classes of formulas with a number of distinct symbols that is in a range, by size."""

    def __init__(self, grammar: Grammar, max_size: int, num_symbols: Range) -> None:
        """Count them.

        Args:
            grammar: What formulas are made of; it has as many symbols as a formula may have.
            max_size: Nodes of the largest formula.
            num_symbols: Distinct symbols of a formula.
        """
        self._grammar = grammar
        self._max_used = min(num_symbols.max, len(grammar.symbols))
        ends = [int(used in num_symbols) for used in range(self._max_used + 1)]
        # [left][places][used]: ways to complete a formula. A column of zeros for one place too
        # many on either side, and for one symbol too many, spares asking.
        nothing = [0] * (self._max_used + 2)
        self._ways: list[list[list[int]]] = [[[*ends, 0], nothing, nothing]]
        for left in range(1, max_size + 1):
            before = self._ways[-1]
            rows = [self._row(before, places) for places in range(1, left + 1)]
            self._ways.append([nothing, *rows, nothing, nothing])
