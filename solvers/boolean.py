"""Boolean functions: exact questions about formulas without temporal operators.

Most labels are cubes (conjunctions of literals) and need nothing but a dictionary. The others are
truth tables held as integers while their symbols are few, and decision diagrams beyond that, with
a budget of steps: the answer is exact, or `budget.BudgetExceeded` is raised.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from symshift.data.formula import (
    ARITY,
    BINARY,
    TEMPORAL,
    Formula,
    end_of_operand,
    symbols_of,
)
from symshift.solvers.bdd import DecisionDiagrams
from symshift.solvers.budget import Budget

MAX_TABLE_SYMBOLS = 12
DEFAULT_MAX_STEPS = 200_000


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


@dataclass(frozen=True, slots=True)
class Label:
    """A satisfiable Boolean formula, taken apart: the conjunction of two parts."""

    literals: Mapping[str, bool]
    """Every literal that it implies."""
    rest: tuple[Formula, ...]
    """Formulas that say what the literals do not; empty for a cube."""


def algebra_over(symbols: Iterable[str], budget: Budget | None = None) -> Algebra:
    """Return an algebra of the functions of these symbols.

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


def _take_apart(formula: Formula) -> tuple[dict[str, bool], list[Formula]] | None:
    """Split a conjunction into literals and the rest; None if two literals contradict."""
    literals: dict[str, bool] = {}
    rest = []
    at = 0
    while at < len(formula):
        token = formula[at]
        if token == "&" or token == "1":
            at += 1
            continue
        positive = token != "!"
        name = token if positive else formula[at + 1]
        if name in ARITY:
            end = end_of_operand(formula, at)
            rest.append(Formula(formula[at:end]))
            at = end
        elif literals.setdefault(name, positive) is positive:
            at += 1 if positive else 2
        else:
            return None
    return literals, rest


def read_label(formula: Formula, budget: Budget | None = None) -> Label | None:
    """Take a Boolean formula apart, or return None if it is unsatisfiable.

    Raises:
        ValueError: If the formula has a temporal operator.
        BudgetExceeded: If the budget is spent.
    """
    parts = _take_apart(formula)
    if parts is None:
        return None
    literals, rest = parts
    if not rest:
        return Label(literals, ())
    names = symbols_of(token for part in rest for token in part)
    algebra = algebra_over((name for name in names if name not in literals), budget)
    function = rest_of(Label(literals, tuple(rest)), algebra)
    if function == algebra.zero:
        return None
    implied = algebra.implied(function)
    is_cube = function == cube(implied, algebra)
    return Label(literals | implied, () if is_cube else tuple(rest))


def cube(literals: Mapping[str, bool], algebra: Algebra) -> int:
    """Return the element of a conjunction of literals."""
    function = algebra.one
    # The last symbols first: a diagram then grows at its top, in constant time.
    for name in reversed(literals):
        symbol = algebra.symbol(name)
        function = algebra.conj(symbol if literals[name] else algebra.negate(symbol), function)
    return function


def implied_literals(
    formula: Formula, budget: Budget | None = None
) -> Mapping[str, bool] | None:
    """Return every literal that a Boolean formula implies, or None if it is unsatisfiable.

    Raises:
        ValueError: If the formula has a temporal operator.
        BudgetExceeded: If the budget is spent.
    """
    label = read_label(formula, budget)
    return None if label is None else label.literals


def satisfiable(formula: Formula, budget: Budget | None = None) -> bool:
    """Tell whether some assignment satisfies a Boolean formula.

    Raises:
        ValueError: If the formula has a temporal operator.
        BudgetExceeded: If the budget is spent.
    """
    return read_label(formula, budget) is not None


def consistent(
    formula: Formula, literals: Mapping[str, bool], budget: Budget | None = None
) -> bool:
    """Tell whether a Boolean formula and a set of literals hold together somewhere.

    Raises:
        ValueError: If the formula has a temporal operator.
        BudgetExceeded: If the budget is spent.
    """
    tokens: list[str] = []
    for name, value in literals.items():
        tokens += ("&", name) if value else ("&", "!", name)
    return satisfiable(Formula((*tokens, *formula)), budget)


def equivalent(f: Formula, g: Formula, budget: Budget | None = None) -> bool:
    """Tell whether two Boolean formulas are the same function.

    Raises:
        ValueError: If one of them has a temporal operator.
        BudgetExceeded: If the budget is spent.
    """
    first, second = read_label(f, budget), read_label(g, budget)
    if first is None or second is None:
        return first is second
    if first.literals != second.literals:
        return False
    if not first.rest or not second.rest:
        return first.rest == second.rest
    # What the literals fix is equal: compare the rests where the literals hold.
    names = symbols_of(token for part in first.rest + second.rest for token in part)
    algebra = algebra_over((name for name in names if name not in first.literals), budget)
    return rest_of(first, algebra) == rest_of(second, algebra)


def rest_of(label: Label, algebra: Algebra) -> int:
    """Return the element of a label's rest, with its literals put in.

    Raises:
        BudgetExceeded: If the budget of the algebra is spent.
    """
    one, zero = algebra.one, algebra.zero
    known = {name: one if value else zero for name, value in label.literals.items()}
    function = one
    for part in label.rest:
        function = algebra.conj(function, evaluate(part, algebra, known))
    return function
