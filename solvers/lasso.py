"""The exact checker of traces: does every word of a symbolic lasso satisfy a formula?

Three passes, none with Spot, each for what the one before leaves open. The first evaluates the
formula at all positions of the lasso at once, in three values: the formula surely holds, surely
fails, or neither. The second evaluates it on two words of the trace, the free symbols all false
and all true. The last searches a tableau of the negation for a word that the trace describes and
the formula forbids. The budget is one of states and steps, never of seconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from symshift.data.formula import Formula, symbols_of
from symshift.data.trace import Trace
from symshift.solvers.budget import Budget, BudgetExceeded
from symshift.solvers.positions import Bounds, bounds_of
from symshift.solvers.steps import Steps, conjunction, read_steps
from symshift.solvers.violations import Violations

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
    """States that the search made; 0 where none was needed."""


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
        steps = read_steps(trace, budget)
        if isinstance(steps, int):
            return Outcome(Status.EMPTY, step=steps)
        holds = _holds(formula, steps)
        if holds is None and _failing_word(formula, steps) is None:
            violations = Violations(formula, steps, max_states, budget)
            status = Status.VIOLATED if violations.exist() else Status.SATISFIED
            return Outcome(status, num_states=violations.num_states)
        return Outcome(Status.SATISFIED if holds else Status.VIOLATED)
    except BudgetExceeded:
        return Outcome(Status.EXHAUSTED)


def counterexample(
    formula: Formula, trace: Trace, max_states: int = DEFAULT_MAX_STATES
) -> Trace | None:
    """Return a trace whose words are all described by another one and violate a formula.

    Args:
        formula: A formula of LTL.
        trace: The other trace: a symbolic lasso.
        max_states: As for `check`.

    Returns:
        `trace` itself where all of its words violate the formula; else a lasso of cubes; None if
        there is no such word, or no word at all.

    Raises:
        BudgetExceeded: If the budget ran out before a decision.
    """
    budget = Budget(max_states * STEPS_PER_STATE)
    steps = read_steps(trace, budget)
    if isinstance(steps, int):
        return None
    holds = _holds(formula, steps)
    if holds is not None:
        return None if holds else trace
    word = _failing_word(formula, steps)
    if word is not None:
        return _spell(word, steps)
    violations = Violations(formula, steps, max_states, budget)
    return violations.example() if violations.exist() else None


def _holds(formula: Formula, steps: Steps) -> bool | None:
    """Tell whether a formula holds in all words of a trace, or in none, as far as is plain."""
    low, up = bounds_of(formula, steps.positions, steps.known)
    start = steps.positions.start
    return bool(low & start) if low & start or not up & start else None


def _failing_word(formula: Formula, steps: Steps) -> Mapping[str, Bounds] | None:
    """Return where the symbols are true in one of two words of a trace, if the formula fails.

    The two leave nothing open: the free symbols are all false, or all true.
    """
    if not steps.are_cubes:
        return None
    free = 0, steps.positions.all
    bounds = {name: steps.known.get(name, free) for name in symbols_of(formula)}
    for side in (0, 1):
        word = {name: (pair[side], pair[side]) for name, pair in bounds.items()}
        if not bounds_of(formula, steps.positions, word)[0] & steps.positions.start:
            return word
    return None


def _spell(word: Mapping[str, Bounds], steps: Steps) -> Trace:
    """Write a word as a trace, with what the steps fix beside its symbols."""
    cubes = []
    for position, label in enumerate(steps.labels):
        bit = steps.positions.bit(position)
        values = {name: bool(true & bit) for name, (true, _) in word.items()}
        cubes.append(conjunction({**values, **label.literals}))
    start = steps.positions.num_prefix
    return Trace(tuple(cubes[:start]), tuple(cubes[start:]))
