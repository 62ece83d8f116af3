"""Symbolic lassos: `a & !b; cycle{b; 1}`, in Spot's word syntax.

A trace is a finite prefix of steps and a cycle that repeats for ever. Each step is a Boolean
formula over the symbols. It fixes only what it mentions: whatever it does not mention may be
anything, anew at every visit. A trace thus describes a set of infinite words.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from symshift.data import formula as formulas
from symshift.data.formula import Formula, FormulaError


class TraceError(ValueError):
    """A text that is not a symbolic lasso; the message says why."""


@dataclass(frozen=True, slots=True)
class Trace:
    """The steps of a symbolic lasso; the cycle is never empty."""

    prefix: tuple[Formula, ...]
    cycle: tuple[Formula, ...]

    @property
    def steps(self) -> tuple[Formula, ...]:
        """All steps: the prefix, then one turn of the cycle."""
        return self.prefix + self.cycle

    def renamed(self, names: Mapping[str, str]) -> "Trace":
        """Return the trace with its symbols renamed; symbols that `names` lacks stay."""
        return Trace(
            tuple(formulas.rename(step, names) for step in self.prefix),
            tuple(formulas.rename(step, names) for step in self.cycle),
        )

    def symbols(self) -> tuple[str, ...]:
        """Return the distinct symbols in order of first occurrence."""
        return formulas.symbols_of(token for step in self.steps for token in step)


def _parse_step(text: str, number: int) -> Formula:
    try:
        step = formulas.parse(text)
    except FormulaError as error:
        raise TraceError(f"step {number}: {error}") from error
    if not formulas.is_boolean(step):
        raise TraceError(f"step {number} {text.strip()!r} has a temporal operator")
    return step


def parse(text: str) -> Trace:
    """Read a trace in Spot's word syntax.

    Raises:
        TraceError: If the text is no symbolic lasso, or longer than formula.MAX_TEXT.
    """
    if len(text) > formulas.MAX_TEXT:
        raise TraceError(f"text of {len(text)} characters: at most {formulas.MAX_TEXT} are read")
    head, brace, rest = text.partition("{")
    *prefix, keyword = head.split(";")
    if not brace or keyword.strip() != "cycle":
        raise TraceError(
            "no cycle{...} at the end: only infinite words (lassos) have a meaning here, no LTLf"
        )
    body, brace, after = rest.partition("}")
    if not brace:
        raise TraceError("cycle{ is never closed")
    if after.strip():
        raise TraceError(f"text after the cycle: {after.strip()[:40]!r}")
    steps = [_parse_step(step, at) for at, step in enumerate([*prefix, *body.split(";")])]
    return Trace(tuple(steps[: len(prefix)]), tuple(steps[len(prefix) :]))


def show(trace: Trace) -> str:
    """Print a trace in Spot's word syntax."""
    cycle = "; ".join(map(formulas.show, trace.cycle))
    return "; ".join([*map(formulas.show, trace.prefix), f"cycle{{{cycle}}}"])
