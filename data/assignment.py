"""Partial assignments: `a=1 c=0`, the answers to propositional formulas.

An assignment fixes the symbols that it names and leaves every other open. The empty text fixes
nothing, and is an answer like any other. Neither the order of the literals nor the white space
between them has a meaning, and a literal may stand twice; two that contradict are no assignment.
"""

import re
from collections.abc import Iterable, Mapping

from symshift.data.formula import MAX_TEXT, is_symbol

Literal = tuple[str, bool]
"""A symbol and its value."""

_LITERAL = re.compile(r"\s*([a-z][a-z0-9_]*)\s*=\s*([01])\s*")


class AssignmentError(ValueError):
    """A text that is no partial assignment; the message says why."""


def literals(text: str) -> list[Literal]:
    """Read the literals of a text, in order, whether or not they contradict each other.

    Raises:
        AssignmentError: If the text is anything but literals such as `a=1`, or longer than
            formula.MAX_TEXT characters.
    """
    if len(text) > MAX_TEXT:
        raise AssignmentError(f"text of {len(text)} characters: at most {MAX_TEXT} are read")
    found: list[Literal] = []
    end = len(text.rstrip())
    at = 0
    while at < end:
        literal = _LITERAL.match(text, at)
        if literal is None or not is_symbol(literal[1]):
            raise AssignmentError(
                f"{text[at : at + 20].strip()!r} at position {at} does not start with a literal "
                "such as a=1"
            )
        found.append((literal[1], literal[2] == "1"))
        at = literal.end()
    return found


def joined(literals: Iterable[Literal]) -> dict[str, bool]:
    """Return the assignment that literals make, its symbols in the order given.

    Raises:
        AssignmentError: If two of them contradict each other.
    """
    assignment: dict[str, bool] = {}
    for name, value in literals:
        if assignment.setdefault(name, value) is not value:
            raise AssignmentError(f"{name}=0 and {name}=1 contradict each other")
    return assignment


def parse(text: str) -> dict[str, bool]:
    """Read an assignment.

    Raises:
        AssignmentError: As `literals` and `joined`.
    """
    return joined(literals(text))


def show(assignment: Mapping[str, bool]) -> str:
    """Print an assignment, its symbols in the order of the mapping."""
    return " ".join(f"{name}={value:d}" for name, value in assignment.items())
