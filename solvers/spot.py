"""What symshift asks Spot, which finds the targets of LTL formulas, and up to what size."""

from typing import Protocol

from symshift.data import formula as formulas
from symshift.data.errors import SymshiftError
from symshift.data.formula import Formula
from symshift.data.trace import Trace

MAX_STATES = 1 << 12
"""The default limit on the states of one translation."""
EDGES_PER_STATE = 16
"""A translation may have this many edges for each state that it may have."""
MAX_NODES = 2_000
"""Larger formulas are refused: Spot's recursion follows their nesting."""
MAX_PROMISES = 32
"""Spot's automata have 32 acceptance sets, and each eventuality may need one of its own."""

_EVENTUAL = frozenset("FGURWM")


class SolverLimit(SymshiftError):  # noqa: N818 - an answer ("too large"), known before it is asked
    """A formula over a fixed limit; the same formula is over it on every machine."""


class Spot(Protocol):
    """What symshift asks Spot. Every answer is a pure function of the arguments."""

    version: str
    """Spot's version, such as "2.16"."""
    source: str
    """The file of the library or module in use."""

    def witness(self, formula: Formula, max_states: int = MAX_STATES) -> Trace | None:
        """Return a lasso all of whose words satisfy the formula, or None if no word does.

        Raises:
            SolverLimit: If the formula is too large, or its automaton has more than `max_states`
                states.
        """

    def holds(self, formula: Formula, trace: Trace, max_states: int = MAX_STATES) -> bool:
        """Tell whether a trace describes some word, and all its words satisfy the formula.

        Raises:
            SolverLimit: As `witness`, for the negated formula.
        """

    def equivalent(self, first: Formula, second: Formula, max_states: int = MAX_STATES) -> bool:
        """Tell whether two formulas have the same words.

        Raises:
            SolverLimit: As `witness`, for the exclusive or of the two.
        """


def check_size(formula: Formula) -> None:
    """Refuse a formula that Spot could answer only by ending the process.

    Raises:
        SolverLimit: If the formula has more than MAX_NODES nodes, or could need more than
            MAX_PROMISES acceptance sets.
    """
    if len(formula) > MAX_NODES:
        raise SolverLimit(f"formula of {len(formula)} nodes: Spot is asked up to {MAX_NODES}")
    if sum(token in _EVENTUAL for token in formula) > MAX_PROMISES:
        num = _num_promises(formula)
        if num > MAX_PROMISES:
            raise SolverLimit(f"formula with {num} eventualities: Spot has {MAX_PROMISES} sets")


def _num_promises(formula: Formula) -> int:
    """Bound the distinct eventualities of the negation normal form, without building it."""
    # F, U and M promise something where they are used as they stand, and their duals G, R and W
    # where they are negated. Below `<->` and `xor` an operand is used both ways.
    promises: set[Formula] = set()
    waiting = [(True, False)]  # used as it stands, used negated
    for at, token in enumerate(formula):
        plain, negated = waiting.pop()
        if (plain and token in "FUM") or (negated and token in "GRW"):
            promises.add(Formula(formula[at : formulas.end_of_operand(formula, at)]))
        first = other = (plain, negated)
        if token in ("!", "->"):
            first = (negated, plain)
        elif token in ("<->", "xor"):
            first = other = (True, True)
        if token in formulas.BINARY:
            waiting.append(other)
        if token in formulas.OPERATORS:
            waiting.append(first)
    return len(promises)
