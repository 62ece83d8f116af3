"""The streams of formulas that a task can ask for, by the sampler's name."""

from functools import lru_cache
from typing import Protocol

from symshift.data.formula import Formula
from symshift.data.options import Range
from symshift.generators.grammar import Grammar
from symshift.generators.randltl import RandltlStream
from symshift.generators.uniform import UniformStream

SAMPLERS = ("randltl", "uniform")


class FormulaStream(Protocol):
    """Formulas in canonical form, each a pure function of seed and index."""

    length: int | None
    """How many formulas there are, each one once; None if the stream does not end."""

    def formula(self, seed: int, index: int) -> Formula | None:
        """Return the formula at an index, or None if none was found there."""


@lru_cache(maxsize=16)
def formula_stream(
    sampler: str,
    task: str,
    version: int,
    operators: str,
    num_names: int,
    size: Range,
    num_symbols: Range | None,
) -> FormulaStream:
    """Return the stream that a task's options describe.

    Args:
        sampler: One of SAMPLERS.
        task: The task's name.
        version: Its stream version.
        operators: Operators and constants, such as "0 1 ! X U &".
        num_names: How many names there are for symbols.
        size: Nodes of a formula.
        num_symbols: Distinct symbols of a formula; any if it is None.

    Raises:
        UsageError: For an unknown operator, or if there is no such formula.
    """
    num_symbols = num_symbols or Range(0, num_names)
    grammar = Grammar.of(operators, num_names)
    shape = (str(num_names), str(size), str(num_symbols), operators)
    path = (task, version, sampler, shape)
    stream = {"randltl": RandltlStream, "uniform": UniformStream}[sampler]
    return stream(grammar, size, num_symbols, path)
