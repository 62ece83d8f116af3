"""The steps of a trace, read for evaluation: what each of them fixes, position by position."""

from collections.abc import Mapping
from dataclasses import dataclass

from symshift.data.formula import Formula
from symshift.data.trace import Trace
from symshift.solvers.boolean import Label, read_label
from symshift.solvers.budget import Budget
from symshift.solvers.positions import Bounds, Positions


@dataclass(frozen=True, slots=True)
class Steps:
    """A trace that describes a word."""

    labels: tuple[Label, ...]
    """What each step says."""
    positions: Positions
    """The shape of the lasso."""
    known: Mapping[str, Bounds]
    """Where the symbols that literals fix are true; the others may be anything everywhere."""

    @property
    def are_cubes(self) -> bool:
        """Whether literals are all that the steps say: the other symbols are free."""
        return not any(label.rest for label in self.labels)


def read_steps(trace: Trace, budget: Budget) -> Steps | int:
    """Read a trace; if a step is unsatisfiable, return the number of the first.

    Raises:
        BudgetExceeded: If the budget is spent.
    """
    labels = []
    for number, step in enumerate(trace.steps):
        label = read_label(step, budget)
        if label is None:
            return number
        labels.append(label)
    positions = Positions(len(trace.prefix), len(trace.cycle))
    true: dict[str, int] = {}
    false: dict[str, int] = {}
    bit = positions.start
    for label in labels:
        for name, value in label.literals.items():
            fixed = true if value else false
            fixed[name] = fixed.get(name, 0) | bit
        bit >>= 1
    known = {n: (true.get(n, 0), positions.all ^ false.get(n, 0)) for n in true | false}
    return Steps(tuple(labels), positions, known)


def conjunction(values: Mapping[str, bool]) -> Formula:
    """Return the cube of some literals, in their order."""
    tokens = ["&"] * (len(values) - 1)
    for name, value in values.items():
        tokens += [name] if value else ["!", name]
    return Formula(tuple(tokens) or ("1",))
