"""Which operators, constants and symbols random formulas are made of."""

from dataclasses import dataclass

from symshift.data.errors import UsageError
from symshift.data.formula import ARITY, CONSTANTS, OPERATORS
from symshift.data.options import Range
from symshift.data.task import Cell
from symshift.data.vocabulary import name_at

MAX_SIZE = 200
"""The largest formula that is drawn: the tables of the samplers grow with its square."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """What can stand at the leaves and the inner nodes of a tree."""

    symbols: tuple[str, ...]
    constants: tuple[str, ...]
    unary: tuple[str, ...]
    binary: tuple[str, ...]

    @classmethod
    def of(cls, operators: str, num_symbols: int) -> "Grammar":
        """Sort operators, given as text such as "0 1 ! X U &", by their arity.

        Raises:
            UsageError: For an unknown operator, or one given twice.
        """
        given = operators.split()
        if not set(given) & OPERATORS:
            raise UsageError(f"operators {operators!r}: give at least one, such as '! X U &'")
        for operator in given:
            if operator not in ARITY:
                known = " ".join(sorted(ARITY))
                raise UsageError(f"operator {operator!r} is not one of: {known}")
        if len(set(given)) < len(given):
            raise UsageError(f"operators {operators!r}: each can be given once")
        return cls(
            tuple(map(name_at, range(num_symbols))),
            tuple(o for o in given if o in CONSTANTS),
            tuple(o for o in given if o in OPERATORS and ARITY[o] == 1),
            tuple(o for o in given if o in OPERATORS and ARITY[o] == 2),
        )

    @property
    def operators(self) -> tuple[str, ...]:
        """Constants and operators, in the order given within each arity."""
        return (*self.constants, *self.unary, *self.binary)

    def tree_sizes(self, max_size: int) -> list[int]:
        """Return the sizes up to `max_size` that a tree can have."""
        if self.unary:
            return list(range(1, max_size + 1))
        return list(range(1, max_size + 1, 2)) if self.binary else [1]

    def num_inner(self, size: int) -> int:
        """Return how many operators the top of a tree of more than one node can be."""
        return len(self.unary) + (len(self.binary) if size > 2 else 0)

    def max_leaves(self, size: int) -> int:
        """Return how many leaves a tree can have."""
        return (size + 1) // 2 if self.binary else 1

    def splits(self, size: int) -> range:
        """Return the sizes that the left operand of a binary operator can have in a tree."""
        return range(1, size - 1, 1 if self.unary else 2) if self.binary else range(0)

    def symbol_counts(self, num_symbols: Range) -> range:
        """Return the numbers of distinct symbols in a range that there are enough symbols for."""
        return range(num_symbols.min, min(num_symbols.max, len(self.symbols)) + 1)

    def possible_sizes(self, size: Range, num_symbols: Range) -> list[int]:
        """Return the sizes in a range that trees with so many distinct symbols can have.

        Raises:
            UsageError: If there is none.
        """
        if size.max > MAX_SIZE:
            raise UsageError(f"size {size}: formulas of up to {MAX_SIZE} nodes are drawn")
        if num_symbols.min > len(self.symbols):
            raise UsageError(
                f"num_symbols {num_symbols}: the vocabulary has only {len(self.symbols)} names"
            )
        if num_symbols.min > 1 and not self.binary:
            raise UsageError(
                f"num_symbols {num_symbols}: without a binary operator there is only 1"
            )
        least = max(1, 2 * num_symbols.min - 1)
        sizes = [s for s in self.tree_sizes(size.max) if s >= max(size.min, least)]
        if not sizes:
            raise UsageError(
                f"size {size}: formulas with {num_symbols.min} or more symbols over these "
                f"operators have size {least} or more"
            )
        return sizes

    def cells(self, size: Range, num_symbols: Range) -> list[Cell]:
        """Return the pairs of a number of distinct symbols and a size that trees can have.

        Raises:
            UsageError: If there is none.
        """
        return [
            (k, n)
            for k in self.symbol_counts(num_symbols)
            for n in self.possible_sizes(size, num_symbols)
            if k <= self.max_leaves(n) and (k or self.constants)
        ]


def no_formula(size: Range, num_symbols: Range) -> UsageError:
    """Return the error for ranges that no formula over the operators meets."""
    return UsageError(
        f"size {size}, num_symbols {num_symbols}: no formula over these operators has both"
    )
