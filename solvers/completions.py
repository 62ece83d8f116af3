"""The checker of partial assignments: does every completion satisfy a propositional formula?

It shares nothing with the solver of propositional.py. A formula is evaluated in three values under
what is known; where that does not decide, the first open symbol is split into its two cases
(Shannon's expansion). A formula that needs too many cases is handed to decision diagrams, and those
have a budget of steps, never of seconds.
"""

from collections.abc import Mapping

from symshift.data.formula import Formula, symbols_of
from symshift.solvers.bdd import DecisionDiagrams
from symshift.solvers.boolean import evaluate
from symshift.solvers.budget import Budget, BudgetExceeded
from symshift.solvers.positions import Bounds, Positions, bounds_of

MAX_SPLIT_NODES = 200_000
"""Formula nodes that the splitting into cases may visit."""
MAX_STEPS = 200_000
"""Steps that the decision diagrams may take."""

_POINT = Positions(0, 1)
_VALUES: tuple[Bounds, Bounds] = ((0, 0), (1, 1))


def counterexample(
    formula: Formula,
    assignment: Mapping[str, bool],
    *,
    max_split_nodes: int = MAX_SPLIT_NODES,
    max_steps: int = MAX_STEPS,
) -> dict[str, bool] | None:
    """Return an extension of an assignment under which a formula is false, or None.

    Args:
        formula: A formula without temporal operators.
        assignment: Values of symbols; those that the formula does not have are left aside.
        max_split_nodes: How many nodes the splitting may visit before the diagrams take over.
        max_steps: How many steps these may take.

    Returns:
        None if every completion satisfies the formula. Otherwise values of some of the formula's
        symbols, those of the assignment among them, that no completion can make it true under.

    Raises:
        BudgetExceeded: If the diagrams' budget is spent.
    """
    symbols = symbols_of(formula)
    given = {name: assignment[name] for name in symbols if name in assignment}
    try:
        return _by_cases(formula, symbols, given, Budget(max_split_nodes))
    except BudgetExceeded:
        return _by_diagram(formula, symbols, given, Budget(max_steps))


def _by_cases(
    formula: Formula, symbols: tuple[str, ...], given: dict[str, bool], budget: Budget
) -> dict[str, bool] | None:
    cases = [{name: _VALUES[value] for name, value in given.items()}]
    while cases:
        budget.spend(len(formula))
        case = cases.pop()
        low, up = bounds_of(formula, _POINT, case)
        if not up:
            return {name: bool(value) for name, (value, _) in case.items()}
        if not low:
            name = next(name for name in symbols if name not in case)
            cases += ({**case, name: value} for value in _VALUES)
    return None


def _by_diagram(
    formula: Formula, symbols: tuple[str, ...], given: dict[str, bool], budget: Budget
) -> dict[str, bool] | None:
    diagrams = DecisionDiagrams((name for name in symbols if name not in given), budget)
    known = {name: int(value) for name, value in given.items()}
    function = evaluate(formula, diagrams, known)
    if function == diagrams.one:
        return None
    return {**given, **diagrams.model(diagrams.negate(function))}
