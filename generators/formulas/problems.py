"""Formulas as problems: what the tasks over formulas share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from symshift.data import formula as formulas
from symshift.data.formula import Formula
from symshift.data.options import Range, option
from symshift.data.task import Cell, Even, Problem, Rejected
from symshift.generators.formulas.grammar import Grammar
from symshift.generators.formulas.streams import SAMPLERS, FormulaStream, formula_stream


@dataclass(frozen=True, slots=True, kw_only=True)
class FormulaOptions:
    """What shapes the distribution of formulas; each task has its own default operators."""

    size: Range = option(Range(1, 35), "nodes of the formula tree, A-B")
    num_symbols: Range | None = option(None, "distinct symbols in a formula, A-B")
    sampler: str = option("randltl", "how formulas are drawn", SAMPLERS)
    operators: str
    balance: bool = option(False, "all cells (num_symbols, size) evenly")


class FormulaProblems:
    """The formulas of a stream as problems: a data.task.ProblemStream."""

    def __init__(self, stream: FormulaStream) -> None:
        self._stream = stream
        self.length: int | None = stream.length
        """Where candidates end: the uniform sampler's do."""
        self.space: int | None = stream.length
        """How many formulas there are up to renaming, where the sampler counts them."""
        self.cells: Mapping[Cell, int | None] = stream.cells
        """The cells that formulas can lie in."""
        self.even: Sequence[Even] = ()
        """Nothing: formulas have no columns of their own."""
        self.bundle = 1
        """Formulas come singly."""

    def place(self, seed: int, index: int) -> Cell | None:
        """Return the cell of a candidate where all cells are drawn evenly."""
        return self._stream.place(seed, index)

    def problem(self, seed: int, index: int) -> Problem | Rejected:
        """Draw a formula in canonical form."""
        formula = self._stream.formula(seed, index)
        if formula is None:
            return Rejected("no formula of the size")
        return _problem(formulas.show(formula), formula, formula)


@lru_cache(maxsize=16)
def formula_problems(
    options: FormulaOptions, num_names: int, task: str, version: int
) -> FormulaProblems:
    """Return the stream of a task over formulas; the last ones are kept.

    Args:
        options: The task's options.
        num_names: How many names formulas are drawn over.
        task: The task's name.
        version: Its stream version.

    Raises:
        UsageError: If there is no such formula.
    """
    return FormulaProblems(
        formula_stream(
            Grammar.of(options.operators, num_names),
            options.sampler,
            options.size,
            options.num_symbols,
            options.balance,
            (task, version),
        )
    )


def problem_of(text: str, formula: Formula) -> Problem:
    """Return the problem that a text states, given the formula that it stands for."""
    return _problem(text, formula, formulas.canonical(formula))


def _problem(text: str, formula: Formula, canonical: Formula) -> Problem:
    return Problem(text, formulas.symbols_of(formula), len(formula), " ".join(canonical))
