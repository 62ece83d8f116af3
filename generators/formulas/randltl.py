"""Random formulas as Spot's `randltl` draws them, then shortened, then with equalised sizes.

A tree of size 1 is a symbol or a constant, each symbol as likely as each constant. A larger tree
takes an operator, each as likely as the next (of the unary ones alone at size 2), and a binary
operator splits what is left at a uniform place. The size of the tree is uniform. Spot's trivial
identities (identities) then shorten the formula. Among those of one size with a number
of symbols that is asked for, the law is that of the trees; sizes follow sizes.

No tree is drawn to be thrown away. A formula is drawn as the identities without the equality rules
leave it (shapes, leaves); then the equality rules (`f & f`) shorten some, and
sizes says which to take. That needs the sizes that the equality rules lead to, which
cannot be counted: they are estimated once, from a fixed sample. So the law at each size is exact,
and sizes have their shares within a few per cent.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import islice

from symshift.data.formula import Formula, canonical, symbols_of
from symshift.data.options import Range
from symshift.data.seeds import Draws, Part
from symshift.generators.formulas.grammar import Grammar, no_formula
from symshift.generators.formulas.identities import flatten, reduce
from symshift.generators.formulas.leaves import leaves_for
from symshift.generators.formulas.sizes import SizeLaw, affordable_loss, smoothed

MAX_ATTEMPTS = 20_000
SAMPLE = 120


class RandltlStream:
    """An endless stream of formulas whose sizes and numbers of symbols lie in two ranges."""

    length: int | None = None

    def __init__(
        self, grammar: Grammar, size: Range, num_symbols: Range, path: Sequence[Part] = ()
    ) -> None:
        """Make the tables.

        Where some numbers of symbols are rare, formulas that lost many nodes to equality rules are
        left out, as far as that is needed to draw one in a few attempts.

        Args:
            grammar: What formulas are made of.
            size: Nodes of a formula; the largest is also that of the largest tree.
            num_symbols: Distinct symbols of a formula. Where equality rules make constants (of
                `f xor f`, `f <-> f`, `f -> f`), it has no more before them either.
            path: What the formulas are a function of, besides seed and index.

        Raises:
            UsageError: If there is no such formula.
        """
        self._possible = grammar.possible_sizes(size, num_symbols)
        self.cells = dict.fromkeys(grammar.cells(size, num_symbols))
        self._num_symbols = num_symbols
        self._path = tuple(path)
        self._leaves = leaves_for(grammar, size.max, num_symbols)
        if not any(self._leaves.weights[n] for n in self._possible):
            raise no_formula(size, num_symbols)
        self._max_loss = affordable_loss(self._possible, self._leaves.weights)

    def place(self, seed: int, index: int) -> None:
        """Return None: the cell of a formula is known when it is drawn."""

    def formula(self, seed: int, index: int) -> Formula | None:
        """Return the formula at an index, in canonical form.

        Returns:
            None if MAX_ATTEMPTS attempts gave none.
        """
        draws = Draws(*self._path, seed, index)
        fractions = draws.fractions()
        size = 0
        for _ in range(MAX_ATTEMPTS if self._law else 0):
            size = size or self._law.size(next(fractions))
            tokens = self._leaves.draw(size, draws, fractions)
            if tokens is None:
                continue
            formula = self._shortened(tokens)
            acceptance = self._law.acceptance(size, len(formula))
            if acceptance >= 1 or next(fractions) < acceptance:
                return formula
            size = 0
        return None

    def _shortened(self, tokens: Sequence[str]) -> Formula:
        """Apply the equality rules; what cannot be taken then comes out empty."""
        flat = flatten(tokens)
        if flat is not None:
            return Formula(tuple(flat))
        formula = canonical(reduce(tokens))
        fits = len(symbols_of(formula)) in self._num_symbols
        return formula if fits and len(tokens) - len(formula) <= self._max_loss else Formula(())

    @cached_property
    def _law(self) -> SizeLaw:
        weights = self._leaves.weights
        frequencies = weights if len(self._possible) == 1 else self._frequencies()
        return SizeLaw(self._possible, weights, frequencies, self._max_loss)

    def _frequencies(self) -> list[float]:
        """Estimate how often trees come to each size with all identities, as weights are meant."""
        draws = Draws("sizes after the equality rules")
        fractions = draws.fractions()
        weights = self._leaves.weights
        found = [0.0] * len(weights)
        for size in range(self._possible[0], len(weights)):
            attempts = range(MAX_ATTEMPTS if weights[size] else 0)
            tried = (self._leaves.draw(size, draws, fractions) for _ in attempts)
            drawn = list(islice(filter(None, tried), SAMPLE))
            for tokens in drawn:
                found[len(self._shortened(tokens))] += weights[size] / len(drawn)
        return smoothed(found, weights)
