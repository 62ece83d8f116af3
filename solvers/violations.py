"""The exact search for a word of a trace that violates a formula."""

from collections.abc import Mapping

from symshift.data.formula import Formula, symbols_of
from symshift.data.trace import Trace
from symshift.solvers.algebra import Algebra, algebra_over, cube
from symshift.solvers.boolean import Label, rest_of
from symshift.solvers.budget import Budget
from symshift.solvers.closure import FALSE, TRUE, UNTIL, Closure, add
from symshift.solvers.emptiness import Reading, Search
from symshift.solvers.steps import Steps, conjunction
from symshift.solvers.tableau import Expansion


class Violations:
    """The words of a trace that violate a formula.

    Args:
        formula: A formula of LTL.
        steps: The trace.
        max_states: How many states the search may make.
        budget: Pays for everything else.

    Raises:
        BudgetExceeded: If the budget is spent.
    """

    def __init__(self, formula: Formula, steps: Steps, max_states: int, budget: Budget) -> None:
        self._steps = steps
        self._symbols = symbols_of(formula)
        constants = _constants(steps)
        varying = [name for name in self._symbols if name not in constants]
        names = dict.fromkeys([*varying, *_names_of_rests(steps)])
        places = {name: place for place, name in enumerate(names)}
        self._algebra = algebra = algebra_over(names, budget)
        self._functions = [_function(label, places, algebra) for label in steps.labels]
        closure = Closure(steps.positions, algebra, self._functions, budget)
        leaves = {name: closure.leaf(algebra.symbol(name)) for name in varying}
        self._negation = add(formula, closure, constants | leaves) ^ 1
        untils = sum(1 << e for e, kind in enumerate(closure.kind) if kind is UNTIL)
        expansion = Expansion(closure, steps.positions, algebra, self._functions, budget)
        self._search = Search(expansion, untils, max_states, budget)

    @property
    def num_states(self) -> int:
        """How many states were made so far."""
        return self._search.num_states

    def exist(self) -> bool:
        """Tell whether there are any.

        Raises:
            BudgetExceeded: If that takes more states or steps than allowed.
        """
        if self._negation == FALSE:
            return False
        return self._search.run((0, 0 if self._negation == TRUE else 1 << self._negation))

    def example(self) -> Trace:
        """Return the ones that `exist` found: what they may vary in is left open.

        Raises:
            BudgetExceeded: If they are too long to be put together.
        """
        run = self._search.found()
        prefix, cycle = list(run.prefix), list(run.cycle)
        positions = self._steps.positions
        if not cycle:
            at = positions.successor(prefix[-1][0])
            rest = [(i, self._functions[i]) for i in range(positions.num)]
            prefix += rest[at : positions.num_prefix]
            at = max(at, positions.num_prefix)
            cycle = rest[at:] + rest[positions.num_prefix : at]
        return Trace(tuple(map(self._cube, prefix)), tuple(map(self._cube, cycle)))

    def _cube(self, reading: Reading) -> Formula:
        position, function = reading
        values = {**self._algebra.model(function), **self._steps.labels[position].literals}
        return conjunction({n: values[n] for n in [*self._symbols, *values] if n in values})


def _constants(steps: Steps) -> dict[str, int]:
    """Return the elements of the symbols that have one value at all positions."""
    ends = {steps.positions.all: TRUE, 0: FALSE}
    return {name: ends[low] for name, (low, up) in steps.known.items() if low == up and low in ends}


def _names_of_rests(steps: Steps) -> list[str]:
    """Return the symbols that some label constrains without fixing them."""
    names: list[str] = []
    for label in steps.labels:
        found = symbols_of(token for part in label.rest for token in part)
        names += (name for name in found if name not in label.literals)
    return names


def _function(label: Label, places: Mapping[str, int], algebra: Algebra) -> int:
    """Return the function that a label allows, over the symbols of an algebra."""
    names = sorted(places.keys() & label.literals, key=places.__getitem__, reverse=True)
    literals = cube({name: label.literals[name] for name in names}, algebra)
    return algebra.conj(literals, rest_of(label, algebra))
