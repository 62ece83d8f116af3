"""The checker of partial assignments: does every completion satisfy a propositional formula?

It shares nothing with the solver in propositional.py. What is known is put into the formula, which
shrinks to what is left of it; where that is no constant, its first symbol is split into its two
cases (Shannon's expansion). A formula that needs too many cases is handed to decision diagrams. All
limits are counted steps, never seconds.
"""

from collections.abc import Mapping

from symshift.data.formula import ARITY, BINARY, Formula, is_boolean, symbols_of
from symshift.solvers.algebra import evaluate
from symshift.solvers.bdd import DecisionDiagrams
from symshift.solvers.budget import Budget, BudgetExceeded

MAX_CASE_NODES = 200_000
"""Formula nodes that the splitting into cases may visit, in all."""
MAX_STEPS = 200_000
"""Steps that the decision diagrams may take."""

_ZERO = Formula(("0",))
_ONE = Formula(("1",))


def counterexample(
    formula: Formula,
    assignment: Mapping[str, bool],
    *,
    max_case_nodes: int = MAX_CASE_NODES,
    max_steps: int = MAX_STEPS,
) -> dict[str, bool] | None:
    """Return an extension of an assignment that makes a formula false, or None.

    Args:
        formula: A formula without temporal operators.
        assignment: Values of symbols; those that the formula does not have are left aside.
        max_case_nodes: How many nodes the cases may have before the diagrams take over.
        max_steps: How many steps these may take.

    Returns:
        None if every completion satisfies the formula. Otherwise values of the formula's symbols,
        first those of the assignment; with them it is false, whatever the others are.

    Raises:
        ValueError: If the formula has a temporal operator.
        BudgetExceeded: If the diagrams' budget is spent.
    """
    if not is_boolean(formula):
        raise ValueError(f"{formula!r} has a temporal operator")
    given = {name: assignment[name] for name in symbols_of(formula) if name in assignment}
    rest = _restrict(formula, given)
    try:
        added = _by_cases(rest, Budget(max_case_nodes))
    except BudgetExceeded:
        added = _by_diagram(rest, Budget(max_steps))
    return None if added is None else {**given, **added}


def _by_cases(formula: Formula, budget: Budget) -> dict[str, bool] | None:
    """Return values that make a formula false, by splitting one symbol after the other."""
    cases: list[tuple[Formula, dict[str, bool]]] = [(formula, {})]
    while cases:
        rest, chosen = cases.pop()
        if rest is _ZERO:
            return chosen
        if rest is _ONE:
            continue
        budget.spend(len(rest))
        name = next(token for token in rest if token not in ARITY)
        for value in (True, False):
            cases.append((_restrict(rest, {name: value}), {**chosen, name: value}))
    return None


def _by_diagram(formula: Formula, budget: Budget) -> dict[str, bool] | None:
    """Return values that make a formula false, from the decision diagram of its negation."""
    diagrams = DecisionDiagrams(symbols_of(formula), budget)
    negation = diagrams.negate(evaluate(formula, diagrams))
    return None if negation == diagrams.zero else diagrams.model(negation)


def _restrict(formula: Formula, values: Mapping[str, bool]) -> Formula:
    """Put values into a formula: what is left is a constant, or has no constant in it.

    Of the operators only `! & | xor` are left.
    """
    leaves = {name: _ONE if value else _ZERO for name, value in values.items()}
    leaves |= {"0": _ZERO, "1": _ONE}
    stack: list[Formula] = []
    for token in reversed(formula):
        if token == "!":
            stack[-1] = _negated(stack[-1])
        elif token in BINARY:
            left = stack.pop()
            stack[-1] = _applied(token, left, stack[-1])
        else:
            stack.append(leaves.get(token) or Formula((token,)))
    return stack[0]


def _negated(f: Formula) -> Formula:
    if f is _ZERO:
        return _ONE
    if f is _ONE:
        return _ZERO
    return Formula(f[1:]) if f[0] == "!" else Formula(("!", *f))


def _applied(operator: str, left: Formula, right: Formula) -> Formula:
    if operator == "->":
        operator, left = "|", _negated(left)
    elif operator == "<->":
        operator, left = "xor", _negated(left)
    if right is _ZERO or right is _ONE:
        left, right = right, left
    if left is _ZERO:
        return _ZERO if operator == "&" else right
    if left is _ONE:
        if operator == "xor":
            return _negated(right)
        return right if operator == "&" else _ONE
    return Formula((operator, *left, *right))
