"""How likely a random tree shortens to a formula of each size, exactly, by dynamic programming.

A tree of t nodes, drawn as randltl says, becomes by the identities without the equality
rules a constant, or a formula of some kind (effects) with m <= t nodes. The table of
these probabilities follows from those of smaller trees, operator by operator.
"""

import operator
from collections.abc import Iterable
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from symshift.generators.formulas.effects import (
    NEGATION,
    NUM_KINDS,
    PLAIN,
    BinaryEffects,
    UnaryEffect,
)
from symshift.generators.formulas.grammar import Grammar

Table = NDArray[np.float64]


def add_up(numbers: Iterable[float]) -> float:
    """Return the sum from left to right: since Python 3.12, `sum` rounds in another way."""
    return reduce(operator.add, numbers, 0.0)


class Shortening:
    """The probabilities for one law of trees, up to a largest tree.

    Only elementwise sums and products in a fixed order make them, so they are the same to the bit
    on every machine.
    """

    def __init__(self, grammar: Grammar, max_size: int, *, by_leaves: bool = False) -> None:
        """Fill the table.

        Args:
            grammar: What trees are made of.
            max_size: Nodes of the largest tree.
            by_leaves: Whether to tell formulas apart by how many leaves are symbols, too.
        """
        self.grammar = grammar
        self.max_size = max_size
        self.unary = tuple(map(UnaryEffect.of, grammar.unary))
        self.binary = BinaryEffects.of(grammar.binary)
        self.constants: list[tuple[float, float]] = [(0.0, 0.0)] * (max_size + 1)
        """[t]: the probabilities that a tree of t nodes becomes 0, and 1."""
        max_leaves = (max_size + 1) // 2 if by_leaves else 0
        self.formulas: Table = np.zeros((max_size + 1, NUM_KINDS, max_size + 2, max_leaves + 1))
        """[t, kind, m, j]: the probability of a formula of a kind with m nodes of which j are
        symbols (without `by_leaves`, j is 0)."""
        self._totals: Table = np.zeros((max_size + 1, max_size + 2, max_leaves + 1))
        for size in grammar.tree_sizes(max_size):
            self._fill(size)
            for kind in range(NUM_KINDS):
                self._totals[size] += self.formulas[size, kind]

    def tilted(self, tilt: float) -> Table:
        """Return [t, kind, m]: the sum over j of the probability times tilt**j."""
        powers, total = 1.0, np.zeros_like(self.formulas[..., 0])
        for j in range(self.formulas.shape[-1]):
            total += powers * self.formulas[..., j]
            powers *= tilt
        return total

    def _fill(self, size: int) -> None:
        if size == 1:
            self._fill_leaf()
            return
        self.constants[size] = self._constants(size)
        each = 1 / self.grammar.num_inner(size)
        for effect in self.unary:
            self._apply(effect, each, size, size - 1)
        if splits := self.grammar.splits(size):
            self._fill_binary(size, each / len(splits))

    def _fill_leaf(self) -> None:
        symbols, constants = self.grammar.symbols, self.grammar.constants
        each = 1 / (len(symbols) + len(constants))
        self.constants[1] = (each * ("0" in constants), each * ("1" in constants))
        num_symbols = min(1, self.formulas.shape[-1] - 1)
        self.formulas[1, PLAIN, 1, num_symbols] = each * len(symbols)

    def _fill_binary(self, size: int, each: float) -> None:
        """Add what becomes of binary operators, each with this weight for a split of the tree."""
        ways = self.binary
        standing = [sum(c == d for _, d, _ in ways.standing) for c in (0, 1)]
        into = self.formulas[size]
        into[PLAIN] += (each * len(self.grammar.binary)) * self._joined(size)
        for operand in self.grammar.splits(size):
            zero, one = self.constants[size - 1 - operand]
            if zero or one:
                kept = each * (ways.kept[0] * zero + ways.kept[1] * one)
                negated = each * (ways.negated[0] * zero + ways.negated[1] * one)
                stood = each * (standing[0] * zero + standing[1] * one)
                into += kept * self.formulas[operand]
                self._apply(NEGATION, negated, size, operand)
                into[PLAIN, 2:] += stood * self._totals[operand, :-2]

    def _apply(self, effect: UnaryEffect, weight: float, size: int, child: int) -> None:
        """Add what becomes of a child's formulas under a unary operator."""
        into, operand = self.formulas[size], self.formulas[child]
        for kind in range(NUM_KINDS):
            if effect.node[kind] >= 0:
                into[effect.node[kind], 1:] += weight * operand[kind, :-1]
            elif effect.kept >> kind & 1:
                into[kind] += weight * operand[kind]
            else:
                into[kind - NUM_KINDS // 2, :-1] += weight * operand[kind, 1:]

    def _joined(self, size: int) -> Table:
        """Return, by m and j, the probabilities of two operands summed over all splits."""
        joined: Table = np.zeros_like(self._totals[0])
        for left in self.grammar.splits(size):
            right = size - 1 - left
            if left > right:
                break
            one, other = self._totals[left], self._totals[right, : right + 1]
            if left < right:
                other = 2.0 * other
            num_leaves = min(joined.shape[1], (right + 1) // 2 + 1)
            for m, j in zip(*np.nonzero(one), strict=True):
                width = min(num_leaves, joined.shape[1] - j)
                part = joined[m + 1 : m + 2 + right, j : j + width]
                part += one[m, j] * other[:, :width]
        return joined

    def _constants(self, size: int) -> tuple[float, float]:
        found = [0.0, 0.0]
        each = 1 / self.grammar.num_inner(size)
        for effect in self.unary:
            for c in (0, 1):
                found[effect.on_constant[c]] += each * self.constants[size - 1][c]
        splits = self.grammar.splits(size)
        for left in splits:
            one, other = self.constants[left], self.constants[size - 1 - left]
            weight = each / len(splits)
            for c, d, out in self.binary.joined:
                found[out] += weight * one[c] * other[d]
            for c in (0, 1):
                for out in (0, 1):
                    ways = weight * self.binary.absorbed[c][out]
                    found[out] += ways * one[c] * (1 - other[0] - other[1])
        return found[0], found[1]
