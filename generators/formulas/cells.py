"""Streams that draw all cells (num_symbols, size) evenly, each as if it were asked for alone."""

from collections.abc import Iterable

from symshift.data.formula import Formula
from symshift.data.options import Range
from symshift.data.seeds import Draws
from symshift.data.task import Cell
from symshift.generators.formulas.grammar import Grammar, no_formula
from symshift.generators.formulas.identities import flatten
from symshift.generators.formulas.leaves import RangedLeaves, TiltedShapes
from symshift.generators.formulas.permutations import Path, permutation
from symshift.generators.formulas.uniform import FormulaClasses, InterleavedClasses

MAX_ATTEMPTS = 64


class RandltlCells:
    """An endless stream of formulas from trees of their own size, which no identity shortens."""

    length: int | None = None

    def __init__(self, grammar: Grammar, size: Range, num_symbols: Range, path: Path) -> None:
        """Make the tables.

        Args:
            grammar: What formulas are made of.
            size: Nodes of a formula.
            num_symbols: Distinct symbols of a formula.
            path: What the formulas are a function of, besides seed and index.

        Raises:
            UsageError: If there is no such formula.
        """
        sizes = grammar.possible_sizes(size, num_symbols)
        shapes = TiltedShapes(grammar, size.max)
        counts = grammar.symbol_counts(num_symbols)
        self._path = path
        self._leaves = {k: RangedLeaves(shapes, Range(k, k), is_whole=True) for k in counts}
        self._turn = [(k, n) for k in counts for n in sizes if self._leaves[k].weights[n]]
        if not self._turn:
            raise no_formula(size, num_symbols)
        self.cells: dict[Cell, int | None] = dict.fromkeys(self._turn)

    def place(self, seed: int, index: int) -> Cell:
        """Return the cell of the formula at an index: each cell comes once in every round."""
        turn, slot = divmod(index, len(self._turn))
        return self._turn[permutation(len(self._turn), (*self._path, "round", seed, turn))[slot]]

    def formula(self, seed: int, index: int) -> Formula | None:
        """Return the formula at an index, in canonical form, or None if few come to its cell."""
        num_symbols, size = self.place(seed, index)
        draws = Draws(*self._path, seed, index)
        fractions = draws.fractions()
        for _ in range(MAX_ATTEMPTS):
            tokens = self._leaves[num_symbols].draw(size, draws, fractions)
            flat = None if tokens is None else flatten(tokens)
            if flat is not None:
                return Formula(tuple(flat))
        return None


class UniformCells:
    """Every class of formulas once, all cells evenly for as long as they last."""

    def __init__(self, grammar: Grammar, size: Range, num_symbols: Range, path: Path) -> None:
        """Count the classes of each cell; arguments and errors are UniformStream's."""
        sizes = grammar.possible_sizes(size, num_symbols)
        counts = grammar.symbol_counts(num_symbols)
        classes = {k: FormulaClasses(grammar, size.max, Range(k, k)) for k in counts}
        parts: dict[Cell, tuple[FormulaClasses, int]] = {
            (k, n): (classes[k], n) for k in counts for n in sizes
        }
        self._classes = InterleavedClasses(parts, _evenly, path, "cell")
        if not self._classes.length:
            raise no_formula(size, num_symbols)
        self.cells: dict[Cell, int | None] = dict(self._classes.counts)
        self.length: int | None = self._classes.length

    def place(self, seed: int, index: int) -> Cell:
        """Return the cell of the formula at an index."""
        return self._classes.part(seed, index)

    def formula(self, seed: int, index: int) -> Formula:
        """Return the formula at an index, in canonical form."""
        return self._classes.formula(seed, index)


def _evenly(cells: Iterable[Cell]) -> dict[Cell, int]:
    return dict.fromkeys(cells, 1)
