"""Boolean formulas: exact questions about formulas without temporal operators.

Most labels are cubes (conjunctions of literals) and need nothing but a dictionary. The others are
taken to an algebra of functions. Where that has to be decision diagrams, work is bounded by a
budget of steps: the answer is exact, or `budget.BudgetExceeded` is raised.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from symshift.data.formula import ARITY, Formula, end_of_operand, symbols_of
from symshift.solvers.algebra import Algebra, algebra_over, cube, evaluate
from symshift.solvers.budget import Budget


@dataclass(frozen=True, slots=True)
class Label:
    """A satisfiable Boolean formula, taken apart: the conjunction of two parts."""

    literals: Mapping[str, bool]
    """Every literal that it implies."""
    rest: tuple[Formula, ...]
    """Formulas that say what the literals do not; empty for a cube."""


def implied_literals(formula: Formula, budget: Budget | None = None) -> Mapping[str, bool] | None:
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
