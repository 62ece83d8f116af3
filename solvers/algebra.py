"""Algebras of Boolean functions, whose elements are integers.

Functions of few symbols are truth tables; those of many are decision diagrams with a budget of
steps. Either way equal functions are equal integers, and false is 0.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol

from symshift.data.formula import BINARY, TEMPORAL, Formula
from symshift.solvers.bdd import DecisionDiagrams
from symshift.solvers.budget import Budget

MAX_TABLE_SYMBOLS = 12
DEFAULT_MAX_STEPS = 1_000_000


class Algebra(Protocol):
    """Boolean functions as integers: equal functions are equal integers, and false is 0."""

    zero: int
    """The function that is false everywhere."""
    one: int
    """The function that is true everywhere."""

    def symbol(self, symbol: str) -> int:
        """Return the function that is true where the symbol is."""

    def negate(self, f: int) -> int:
        """Return the complement of a function."""

    def conj(self, f: int, g: int) -> int:
        """Return the conjunction of two functions."""

    def disj(self, f: int, g: int) -> int:
        """Return the disjunction of two functions."""

    def xor(self, f: int, g: int) -> int:
        """Return the function that is true where exactly one of two is."""

    def model(self, f: int) -> dict[str, bool]:
        """Return a partial assignment that makes a function true (it must not be false)."""

    def implied(self, f: int) -> dict[str, bool]:
        """Return the literals that hold wherever a function does (it must not be false)."""


class TruthTables:
    """Functions of few symbols: bit i of an element is the value under assignment i.

    Args:
        symbols: The symbols; symbol number j is true in assignment i if bit j of i is set.
    """

    __slots__ = ("_tables", "one")

    zero = 0

    def __init__(self, symbols: Iterable[str]) -> None:
        names = tuple(symbols)
        self.one = (1 << (1 << len(names))) - 1
        # one // (2^w + 1) has w ones, w zeros and so on: the assignments with bit j clear.
        widths = ((name, 1 << place) for place, name in enumerate(names))
        self._tables = {name: self.one // ((1 << w) + 1) << w for name, w in widths}

    def symbol(self, symbol: str) -> int:
        """Return the function that is true where the symbol is."""
        return self._tables[symbol]

    def negate(self, f: int) -> int:
        """Return the complement of a function."""
        return self.one ^ f

    def conj(self, f: int, g: int) -> int:
        """Return the conjunction of two functions."""
        return f & g

    def disj(self, f: int, g: int) -> int:
        """Return the disjunction of two functions."""
        return f | g

    def xor(self, f: int, g: int) -> int:
        """Return the function that is true where exactly one of two is."""
        return f ^ g

    def model(self, f: int) -> dict[str, bool]:
        """Return the first assignment that makes a function true (it must not be `zero`)."""
        assignment = (f & -f).bit_length() - 1
        return {name: bool(assignment >> j & 1) for j, name in enumerate(self._tables)}

    def implied(self, f: int) -> dict[str, bool]:
        """Return the literals that hold wherever a function does (it must not be `zero`)."""
        return {
            name: bool(f & table)
            for name, table in self._tables.items()
            if not f & table or not f & ~table
        }


def algebra_over(symbols: Iterable[str], budget: Budget | None = None) -> Algebra:
    """Return an algebra of the functions of some symbols.

    Args:
        symbols: The symbols.
        budget: Pays for decision diagrams; DEFAULT_MAX_STEPS of its own if there is none.
    """
    names = tuple(symbols)
    if len(names) <= MAX_TABLE_SYMBOLS:
        return TruthTables(names)
    # Parsed chains (a | b) | c grow at their end: test the last symbols first.
    return DecisionDiagrams(reversed(names), budget or Budget(DEFAULT_MAX_STEPS))


def evaluate(formula: Formula, algebra: Algebra, known: Mapping[str, int] | None = None) -> int:
    """Return the element of an algebra that a Boolean formula stands for.

    Args:
        formula: A formula without temporal operators.
        algebra: Has all of its symbols that `known` lacks.
        known: Elements to put for symbols.

    Raises:
        ValueError: If the formula has a temporal operator.
        BudgetExceeded: If the budget of the algebra is spent.
    """
    values = {"0": algebra.zero, "1": algebra.one, **(known or {})}
    stack: list[int] = []
    for token in reversed(formula):
        if token in values:
            stack.append(values[token])
        elif token == "!":
            stack[-1] = algebra.negate(stack[-1])
        elif token in TEMPORAL:
            raise ValueError(f"{token!r} is a temporal operator: this is no Boolean formula")
        elif token in BINARY:
            left = stack.pop()
            stack[-1] = apply(token, left, stack[-1], algebra)
        else:
            values[token] = algebra.symbol(token)
            stack.append(values[token])
    return stack[0]


def apply(operator: str, left: int, right: int, algebra: Algebra) -> int:
    """Return the element that a Boolean operator makes of two.

    Args:
        operator: One of `& | xor -> <->`.
        left: Element of the left operand.
        right: Element of the right operand.
        algebra: Where the elements are from.
    """
    if operator == "&":
        return algebra.conj(left, right)
    if operator == "|":
        return algebra.disj(left, right)
    if operator == "->":
        return algebra.disj(algebra.negate(left), right)
    exclusive = algebra.xor(left, right)
    return exclusive if operator == "xor" else algebra.negate(exclusive)


def cube(literals: Mapping[str, bool], algebra: Algebra) -> int:
    """Return the element of a conjunction of literals.

    Args:
        literals: Symbols with their values; quickest in the reverse of the algebra's order.
        algebra: Has these symbols.
    """
    function = algebra.one
    # A diagram grows at its top in constant time.
    for name in reversed(tuple(literals)):
        symbol = algebra.symbol(name)
        function = algebra.conj(symbol if literals[name] else algebra.negate(symbol), function)
    return function
