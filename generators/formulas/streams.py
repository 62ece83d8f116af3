"""The streams of formulas that a task can ask for."""

from collections.abc import Callable, Mapping
from typing import Protocol

from symshift.data.formula import Formula
from symshift.data.options import Range
from symshift.data.seeds import Part
from symshift.data.task import Cell
from symshift.generators.formulas.cells import RandltlCells, UniformCells
from symshift.generators.formulas.grammar import Grammar
from symshift.generators.formulas.randltl import RandltlStream
from symshift.generators.formulas.uniform import UniformStream

SAMPLERS = ("randltl", "uniform")


class FormulaStream(Protocol):
    """Formulas in canonical form, each a pure function of seed and index."""

    @property
    def length(self) -> int | None:
        """How many formulas there are, each one once; None if the stream does not end."""

    @property
    def cells(self) -> Mapping[Cell, int | None]:
        """The cells that formulas can lie in, with their number of formulas where it is known."""

    def place(self, seed: int, index: int) -> Cell | None:
        """Return the cell of the formula at an index, where cells are drawn evenly."""

    def formula(self, seed: int, index: int) -> Formula | None:
        """Return the formula at an index, or None if none was found there."""


def formula_stream(
    grammar: Grammar,
    sampler: str,
    size: Range,
    num_symbols: Range | None,
    balance: bool,
    path: tuple[Part, ...],
) -> FormulaStream:
    """Return the stream that a task's options describe.

    Args:
        grammar: What formulas are made of.
        sampler: One of SAMPLERS.
        size: Nodes of a formula.
        num_symbols: Distinct symbols of a formula; any if it is None.
        balance: Whether all cells are drawn evenly.
        path: The task's name and stream version.

    Raises:
        UsageError: If there is no such formula.
    """
    kinds: dict[tuple[str, bool], Callable[..., FormulaStream]] = {
        ("randltl", False): RandltlStream,
        ("randltl", True): RandltlCells,
        ("uniform", False): UniformStream,
        ("uniform", True): UniformCells,
    }
    num_symbols = num_symbols or Range(0, len(grammar.symbols))
    law = sampler + ("-cells" if balance else "")
    shape = (len(grammar.symbols), str(size), str(num_symbols), grammar.operators)
    return kinds[sampler, balance](grammar, size, num_symbols, (*path, law, shape))
