"""Spot, the library that finds the targets of LTL formulas, behind a small interface.

Two ways lead to it: the library file that the PyPI wheel `stormpy` carries (libspot.py, Linux), and
Spot's own Python module (spot_module.py, conda or a source build). Both give the same answers;
which words they give may differ, so a data set records the version and the source.

The PyPI package `spot` is an unrelated tool and is never taken for either.
"""

import functools
import os
import sys
from typing import Protocol

from symshift.data import formula as formulas
from symshift.data import trace as traces
from symshift.data.errors import MissingToolError, SymshiftError
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
LIBRARY_VARIABLE = "SYMSHIFT_LIBSPOT"
"""The environment variable that names a libspot file to use in place of the one that is found."""

_EVENTUAL = frozenset("FGURWM")
_CURES = {
    "linux": "pip install stormpy (it carries the library), or conda install -c conda-forge spot",
    "darwin": "conda install -c conda-forge spot",
}
_NO_CURE = "Spot has no build for this system; all but making LTL data works without it"


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


@functools.cache
def find_spot() -> Spot:
    """Return the Spot of this process, checked by 20 known answers before its first use.

    It is looked for in this order: the file that SYMSHIFT_LIBSPOT names, the library in the
    `stormpy` wheel, Spot's own Python module.

    Raises:
        MissingToolError: If there is none, or none of a version that was tested; the message says
            what was found and what to install.
    """
    from symshift.solvers import libspot, spot_module

    named = os.environ.get(LIBRARY_VARIABLE)
    if named:
        return _tested(libspot.load(named))
    reasons = []
    for find in (libspot.find, spot_module.find):
        try:
            return _tested(find())
        except MissingToolError as error:
            reasons.append(str(error))
    cure = _CURES.get(sys.platform, _NO_CURE)
    raise MissingToolError(f"no usable Spot ({'; '.join(reasons)}). {cure}")


def _tested(spot: Spot) -> Spot:
    wrong = self_test(spot)
    if wrong:
        raise MissingToolError(
            f"Spot {spot.version} ({spot.source}) fails the self-test: {wrong[0]}"
        )
    return spot


_HOLDS = (
    ("G F a", "cycle{a}", True),
    ("G F a", "a; cycle{!a}", False),
    ("a U b", "a; b; cycle{1}", True),
    ("a U b", "cycle{a}", False),
    ("X X a", "1; 1; a; cycle{1}", True),
    ("F a", "cycle{1}", False),
    ("a xor b", "a & !b; cycle{1}", True),
    ("1", "cycle{0}", False),
    ("F G (a -> b)", "a & !b; cycle{!a; b}", True),
    ("a W b", "cycle{a; a; !a & !b}", False),
)
_SATISFIABLE = (
    ("G F a & G F !a", True),
    ("G a & F !a", False),
    ("a M !a", False),
    ("F (a & X !a) & G (a | b)", True),
    ("0", False),
)
_EQUIVALENT = (
    ("a U b", "b | (a & X (a U b))", True),
    ("a R b", "!(!a U !b)", True),
    ("F G a", "G F a", False),
    ("a xor b -> c", "(a xor b) -> c", True),
    ("a W b", "a U b", False),
)


def self_test(spot: Spot) -> list[str]:
    """Ask 20 questions with known answers; return those that were answered wrongly."""
    wrong = []
    for text, word, expected in _HOLDS:
        if spot.holds(formulas.parse(text), traces.parse(word)) is not expected:
            wrong.append(f"{word!r} on {text!r}")
    for text, expected in _SATISFIABLE:
        formula = formulas.parse(text)
        found = spot.witness(formula)
        if (found is not None) is not expected or (found and not spot.holds(formula, found)):
            wrong.append(f"satisfiability of {text!r}")
    for first, second, expected in _EQUIVALENT:
        if spot.equivalent(formulas.parse(first), formulas.parse(second)) is not expected:
            wrong.append(f"equivalence of {first!r} and {second!r}")
    return wrong
