"""The exact checker of traces: does every word of a symbolic lasso satisfy a formula?

Two passes, both without Spot. The first evaluates the formula once over the positions of the
lasso, as sets of positions in integers: where it surely holds, and where it may. That decides most
questions. For the others a tableau of the negation searches for a word that the lasso describes
and the formula forbids. The budget is one of states and steps, never of seconds.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from symshift.data.formula import Formula, symbols_of
from symshift.data.trace import Trace
from symshift.solvers.boolean import Algebra, Label, algebra_over, cube, read_label, rest_of
from symshift.solvers.budget import Budget, BudgetExceeded
from symshift.solvers.closure import FALSE, TRUE, Closure, Kind, add
from symshift.solvers.emptiness import Reading, Search
from symshift.solvers.positions import Bounds, Positions, bounds_of
from symshift.solvers.tableau import Expansion

DEFAULT_MAX_STATES = 20_000
STEPS_PER_STATE = 50


class Status(StrEnum):
    """What is known about a formula and a trace."""

    SATISFIED = "satisfied"
    """The trace describes a word, and every word that it describes satisfies the formula."""
    VIOLATED = "violated"
    """The trace describes a word that does not satisfy the formula."""
    EMPTY = "empty"
    """The trace describes no word: one of its steps is unsatisfiable."""
    EXHAUSTED = "exhausted"
    """The budget ran out before a decision."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to one question."""

    status: Status
    """What is known."""
    step: int | None = None
    """The first unsatisfiable step, counted from 0 over prefix and cycle; only if EMPTY."""
    num_states: int = 0
    """States that the search made; 0 where the first pass decided."""


def check(formula: Formula, trace: Trace, max_states: int = DEFAULT_MAX_STATES) -> Outcome:
    """Decide whether every word that a trace describes satisfies a formula.

    Args:
        formula: A formula of LTL.
        trace: A symbolic lasso.
        max_states: How many states the search may make; all other work is bounded by
            STEPS_PER_STATE times as many steps.
    """
    budget = Budget(max_states * STEPS_PER_STATE)
    try:
        labels = _labels(trace, budget)
        if isinstance(labels, int):
            return Outcome(Status.EMPTY, step=labels)
        positions = Positions(len(trace.prefix), len(trace.cycle))
        known = _known(labels, positions)
        low, up = bounds_of(formula, positions, known)
        if low & positions.start:
            return Outcome(Status.SATISFIED)
        if not up & positions.start:
            return Outcome(Status.VIOLATED)
        if not any(label.rest for label in labels) and _fails_plainly(formula, positions, known):
            return Outcome(Status.VIOLATED)
        search = _Violations(formula, labels, positions, known, max_states, budget)
        status = Status.VIOLATED if search.exist() else Status.SATISFIED
        return Outcome(status, num_states=search.num_states)
    except BudgetExceeded:
        return Outcome(Status.EXHAUSTED)


def counterexample(
    formula: Formula, trace: Trace, max_states: int = DEFAULT_MAX_STATES
) -> Trace | None:
    """Return a trace all of whose words are described by a trace and violate a formula.

    Args:
        formula: A formula of LTL.
        trace: A symbolic lasso.
        max_states: As for `check`.

    Returns:
        A lasso of cubes, or None if there is no such word.

    Raises:
        BudgetExceeded: If the budget ran out before a decision.
    """
    budget = Budget(max_states * STEPS_PER_STATE)
    labels = _labels(trace, budget)
    if isinstance(labels, int):
        return None
    positions = Positions(len(trace.prefix), len(trace.cycle))
    known = _known(labels, positions)
    search = _Violations(formula, labels, positions, known, max_states, budget)
    return search.first() if search.exist() else None


def _labels(trace: Trace, budget: Budget) -> list[Label] | int:
    """Read the steps; the number of the first that is unsatisfiable, if there is one."""
    labels = []
    for number, step in enumerate(trace.steps):
        label = read_label(step, budget)
        if label is None:
            return number
        labels.append(label)
    return labels


def _known(labels: Sequence[Label], positions: Positions) -> dict[str, Bounds]:
    """Return the bounds of the symbols that the labels' literals fix somewhere."""
    true: dict[str, int] = {}
    false: dict[str, int] = {}
    bit = positions.start
    for label in labels:
        for name, value in label.literals.items():
            fixed = true if value else false
            fixed[name] = fixed.get(name, 0) | bit
        bit >>= 1
    return {
        name: (true.get(name, 0), positions.all ^ false.get(name, 0)) for name in (true | false)
    }


def _fails_plainly(formula: Formula, positions: Positions, known: Mapping[str, Bounds]) -> bool:
    """Try the words of a trace of cubes whose free symbols are all false, and all true."""
    free = 0, positions.all
    bounds = {name: known.get(name, free) for name in symbols_of(formula)}
    words = [{name: (pair[side], pair[side]) for name, pair in bounds.items()} for side in (0, 1)]
    return not all(bounds_of(formula, positions, word)[0] & positions.start for word in words)


class _Violations:
    """The words of a trace that violate a formula."""

    def __init__(
        self,
        formula: Formula,
        labels: Sequence[Label],
        positions: Positions,
        known: Mapping[str, Bounds],
        max_states: int,
        budget: Budget,
    ) -> None:
        self._labels = labels
        self._positions = positions
        constants = _constants(known, positions)
        self._names = dict.fromkeys(symbols_of(formula))
        names = dict.fromkeys(name for name in self._names if name not in constants)
        for label in labels:
            rest = (token for part in label.rest for token in part)
            names |= dict.fromkeys(n for n in symbols_of(rest) if n not in label.literals)
        self._algebra = algebra_over(names, budget)
        self._functions = [_function(label, names, self._algebra) for label in labels]
        closure = Closure(positions, self._algebra, self._functions, budget)
        leaves = {n: closure.leaf(self._algebra.symbol(n)) for n in names if n in self._names}
        self._start = 0, add(formula, closure, constants | leaves) ^ 1
        expansion = Expansion(closure, positions, self._algebra, self._functions, budget)
        untils = sum(1 << e for e, kind in enumerate(closure.kind) if kind is Kind.UNTIL)
        self._search = Search(expansion, untils, max_states, budget)

    @property
    def num_states(self) -> int:
        """How many states were made so far."""
        return self._search.num_states

    def exist(self) -> bool:
        """Tell whether there are any."""
        position, element = self._start
        if element == FALSE:
            return False
        return self._search.run((position, 0 if element == TRUE else 1 << element))

    def first(self) -> Trace:
        """Return the one that `exist` found, with everything that may vary in it left open."""
        run = self._search.reading()
        prefix, cycle = list(run.prefix), list(run.cycle)
        if not cycle:
            at = self._positions.successor(prefix[-1][0])
            while at < self._positions.num_prefix:
                prefix.append((at, self._functions[at]))
                at += 1
            for _ in range(self._positions.num - self._positions.num_prefix):
                cycle.append((at, self._functions[at]))
                at = self._positions.successor(at)
        return Trace(tuple(map(self._cube, prefix)), tuple(map(self._cube, cycle)))

    def _cube(self, reading: Reading) -> Formula:
        position, function = reading
        values = {**self._algebra.model(function), **self._labels[position].literals}
        names = [n for n in self._names if n in values]
        names += (n for n in values if n not in self._names)
        tokens: list[str] = ["&"] * (len(values) - 1)
        for name in names:
            tokens += (name,) if values[name] else ("!", name)
        return Formula(tuple(tokens) or ("1",))


def _constants(known: Mapping[str, Bounds], positions: Positions) -> dict[str, int]:
    """Return the elements of the symbols that have one value at all positions."""
    ends = {positions.all: TRUE, 0: FALSE}
    return {name: ends[low] for name, (low, up) in known.items() if low == up and low in ends}


def _function(label: Label, names: Container[str], algebra: Algebra) -> int:
    """Return the function that a label allows, over the symbols of an algebra."""
    literals = {name: value for name, value in label.literals.items() if name in names}
    return algebra.conj(cube(literals, algebra), rest_of(label, algebra))
