"""Random formulas as Spot's `randltl` draws them, then shortened, then with equalised sizes.

A tree of size 1 is a symbol or a constant, each symbol as likely as each constant. A larger tree
takes an operator, each as likely as the next (of the unary ones alone at size 2), and a binary
operator splits what is left at a uniform place. The size of the tree is uniform. Spot's trivial
identities (generators.identities) then shorten the formula. Among those of one size with a number
of symbols that is asked for, the law is that of the trees; sizes follow generators.sizes.

No tree is drawn to be thrown away. A formula of m nodes is drawn as the identities without the
equality rules leave it (generators.shapes, generators.leaves); then the equality rules (`f & f`)
shorten some to n < m nodes. Let w(m) be how often trees come to m nodes without those rules, and
g(n) how much a formula of n nodes is wanted relative to how often trees come to it. Sizes m are
drawn in proportion to w(m) G(m), G(m) the largest g(n) with n <= m, and a formula is accepted with
probability g(n) / G(m): it then comes up g(n) times as often as from trees, whatever m it had. g
needs the sizes that the equality rules lead to, which cannot be counted: they are estimated once,
from a fixed sample. So the law at each size is exact, and sizes have their shares within a few
per cent.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate, islice

from symshift.data.formula import Formula, canonical, symbols_of
from symshift.data.options import Range
from symshift.data.seeds import Draws, Part
from symshift.generators.grammar import Grammar, no_formula
from symshift.generators.identities import flatten, reduce
from symshift.generators.leaves import leaves_for
from symshift.generators.shortening import add_up
from symshift.generators.sizes import size_weights

MAX_ATTEMPTS = 20_000
MAX_COST = 8.0
SAMPLE = 200


class RandltlStream:
    """An endless stream of formulas whose sizes and numbers of symbols lie in two ranges."""

    length: int | None = None

    def __init__(
        self, grammar: Grammar, size: Range, num_symbols: Range, path: Sequence[Part] = ()
    ) -> None:
        """Make the tables.

        Where some numbers of symbols are rare, formulas that lost many nodes to equality rules are
        left out, as far as that is needed to draw one in about MAX_COST attempts.

        Args:
            grammar: What formulas are made of.
            size: Nodes of a formula; the largest is also that of the largest tree.
            num_symbols: Distinct symbols of a formula. Where equality rules make constants (of
                `f xor f`, `f <-> f`, `f -> f`), it has no more before them either.
            path: What the formulas are a function of, besides seed and index.

        Raises:
            UsageError: If there is no such formula.
        """
        sizes = grammar.possible_sizes(size, num_symbols)
        self.cells = dict.fromkeys(grammar.cells(size, num_symbols))
        self._num_symbols = num_symbols
        self._path = tuple(path)
        self._leaves = leaves_for(grammar, size.max, num_symbols)
        weights = self._leaves.weights
        self._sizes = [n for n in range(sizes[0], size.max + 1) if weights[n]]
        self._max_loss = _affordable_loss(_demand(sizes, weights), self._sizes)
        self._demand = _demand(sizes, weights if len(sizes) == 1 else self._frequencies())
        if not self._demand:
            raise no_formula(size, num_symbols)
        self._peaks = _peaks(self._demand, self._sizes, self._max_loss)
        sums = list(accumulate(weights[n] * self._peaks[n] for n in self._sizes))
        self._cumulative = [part / sums[-1] for part in sums]

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
        for _ in range(MAX_ATTEMPTS):
            size = size or self._sizes[bisect_right(self._cumulative, next(fractions))]
            tokens = self._leaves.draw(size, draws, fractions)
            if tokens is None:
                continue
            formula = self._shortened(tokens)
            acceptance = self._demand.get(len(formula), 0.0) / self._peaks[size]
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

    def _frequencies(self) -> list[float]:
        """Estimate how often trees come to each size with all identities, in the weights' unit."""
        draws = Draws("sizes after the equality rules")
        fractions = draws.fractions()
        found = [0.0] * len(self._leaves.weights)
        for size in self._sizes:
            attempts = (self._leaves.draw(size, draws, fractions) for _ in range(MAX_ATTEMPTS))
            drawn = list(islice(filter(None, attempts), SAMPLE))
            for tokens in drawn:
                found[len(self._shortened(tokens))] += self._leaves.weights[size] / len(drawn)
        return found


def _demand(sizes: Sequence[int], frequencies: Sequence[float]) -> dict[int, float]:
    """Return how much each size is wanted relative to how often it comes up, if it does."""
    law = size_weights(n for n in sizes if frequencies[n])
    return {n: weight / frequencies[n] for n, weight in law.items()}


def _peaks(demand: Mapping[int, float], sizes: Sequence[int], max_loss: int) -> dict[int, float]:
    """Return the largest demand for a size that each size can come to."""
    return {m: max(demand.get(n, 0.0) for n in range(m - max_loss, m + 1)) for m in sizes}


def _affordable_loss(demand: Mapping[int, float], sizes: Sequence[int]) -> int:
    """Return how many nodes the equality rules may take for few enough attempts."""
    law = size_weights(demand)
    for max_loss in range(max(sizes, default=0), 0, -1):
        peaks = _peaks(demand, sizes, max_loss)
        attempts = add_up(law[n] * peaks[n] / demand[n] for n in demand)
        if attempts <= MAX_COST * sum(law.values()):
            return max_loss
    return 0
