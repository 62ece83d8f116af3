"""Random formulas as Spot's `randltl` draws them, then shortened, then with equalised sizes.

A tree of size 1 is a symbol or a constant, each symbol as likely as each constant. A larger tree
takes an operator, each as likely as the next (of the unary ones alone at size 2), and a binary
operator splits what is left at a uniform place. The size of the tree is uniform. Spot's trivial
identities (generators.identities) then shorten the formula. Of those with a number of distinct
symbols that is asked for, sizes follow the published LTLRandom35 (methods of DeepLTL, ICLR 2021:
sizes from 10 up equally frequent, 11.2 % of the rows below); among formulas of one size, the law is
that of the trees.

No tree is drawn to be thrown away. A formula of m nodes is drawn as the identities without the
equality rules leave it (generators.shapes); then the equality rules (`f & f`) shorten some to n < m
nodes. Let w(m) be how often trees come to m nodes without those rules, and g(n) how much a formula
of n nodes is wanted relative to how often trees come to it. Sizes m are drawn in proportion to
w(m) G(m), G(m) the largest g(n) with n <= m, and a formula is accepted with probability g(n) / G(m):
it then comes up g(n) times as often as from trees, whatever m it came from. g needs the law of sizes
after the equality rules, for which there is no formula; it is estimated once from a fixed sample, so
the sizes are equalised to within a few per cent, while the law at each size is exact.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, islice

from symshift.data.errors import UsageError
from symshift.data.formula import Formula, canonical, symbols_of
from symshift.data.options import Range
from symshift.data.seeds import Draws
from symshift.generators.grammar import Grammar
from symshift.generators.identities import flatten, reduce
from symshift.generators.leaves import leaves_for

FIRST_EQUAL_SIZE = 10
SMALL_SHARE = 0.112
MAX_ATTEMPTS = 20_000
MAX_COST = 8.0
SAMPLE = 200


def size_law(sizes: Sequence[int]) -> dict[int, float]:
    """Return the share of each size: equal from FIRST_EQUAL_SIZE up, SMALL_SHARE below it in all.

    Where all sizes lie on one side, they are equally likely.
    """
    small = [size for size in sizes if size < FIRST_EQUAL_SIZE]
    large = [size for size in sizes if size >= FIRST_EQUAL_SIZE]
    share = SMALL_SHARE if small and large else float(bool(small))
    return {size: share / len(small) for size in small} | {
        size: (1 - share) / len(large) for size in large
    }


class RandltlSampler:
    """Draws formulas whose sizes and numbers of symbols lie in two ranges."""

    def __init__(self, grammar: Grammar, size: Range, num_symbols: Range) -> None:
        """Make the tables.

        Args:
            grammar: What formulas are made of.
            size: Nodes of a formula; the largest is also that of the largest tree.
            num_symbols: Distinct symbols of a formula. Where equality rules make constants (of
                `f xor f`, `f <-> f`, `f -> f`), it has no more before them either.

        Raises:
            UsageError: If there is no such formula.
        """
        self._num_symbols = num_symbols
        self._leaves = leaves_for(grammar, size.max, num_symbols)
        sizes = grammar.possible_sizes(size, num_symbols)
        weights = self._leaves.weights
        reached = [n for n in range(sizes[0], size.max + 1) if weights[n]]
        self._max_loss = _affordable_loss(_wanted(sizes, weights), reached)
        frequencies = weights if len(sizes) == 1 else self._frequencies(reached)
        self._wanted = _wanted(sizes, frequencies)
        if not self._wanted:
            raise UsageError(
                f"size {size}, num_symbols {num_symbols}: no formula over these operators has both"
            )
        self._peaks = _peaks(self._wanted, reached, self._max_loss)
        sums = list(accumulate(weights[n] * self._peaks[n] for n in reached))
        self._cumulative = [part / sums[-1] for part in sums]
        self._sizes = reached

    def draw(self, draws: Draws) -> Formula | None:
        """Draw a formula in canonical form.

        Returns:
            None if MAX_ATTEMPTS attempts gave none.
        """
        fractions = draws.fractions()
        size = 0
        for _ in range(MAX_ATTEMPTS):
            size = size or self._sizes[bisect_right(self._cumulative, next(fractions))]
            tokens = self._leaves.draw(size, draws, fractions)
            if tokens is None:
                continue
            formula = self._shortened(tokens)
            acceptance = self._wanted.get(len(formula), 0.0) / self._peaks[size]
            if acceptance >= 1 or next(fractions) < acceptance:
                return formula
            size = 0
        return None

    def _shortened(self, tokens: Sequence[str]) -> Formula:
        """Apply the equality rules; a formula that is not wanted then comes out empty."""
        flat = flatten(tokens)
        if flat is not None:
            return Formula(tuple(flat))
        formula = canonical(reduce(tokens))
        wanted = len(symbols_of(formula)) in self._num_symbols
        return formula if wanted and len(tokens) - len(formula) <= self._max_loss else Formula(())

    def _frequencies(self, reached: Sequence[int]) -> list[float]:
        """Estimate how often trees come to each size with all identities, as weights are meant."""
        draws = Draws("sizes after the equality rules")
        fractions = draws.fractions()
        found = [0.0] * len(self._leaves.weights)
        for size in reached:
            attempts = (self._leaves.draw(size, draws, fractions) for _ in range(MAX_ATTEMPTS))
            drawn = list(islice(filter(None, attempts), SAMPLE))
            for tokens in drawn:
                found[len(self._shortened(tokens))] += self._leaves.weights[size] / len(drawn)
        return found


def _wanted(sizes: Sequence[int], frequencies: Sequence[float]) -> dict[int, float]:
    """Return how much each size is wanted relative to how often it comes up, if it does."""
    law = size_law([n for n in sizes if frequencies[n]])
    return {n: share / frequencies[n] for n, share in law.items()}


def _peaks(
    wanted: Mapping[int, float], reached: Sequence[int], max_loss: int
) -> dict[int, float]:
    """Return how much the most wanted size is wanted that each size can come to."""
    return {
        m: max((wanted.get(n, 0.0) for n in range(m - max_loss, m + 1))) for m in reached
    }


def _affordable_loss(wanted: Mapping[int, float], reached: Sequence[int]) -> int:
    """Return how many nodes the equality rules may take for few enough attempts."""
    law = size_law(list(wanted))
    for max_loss in range(reached[-1], 0, -1):
        peaks = _peaks(wanted, reached, max_loss)
        if sum(law[n] * peaks[n] / wanted[n] for n in wanted) <= MAX_COST:
            return max_loss
    return 0


@lru_cache(maxsize=16)
def _sampler(grammar: Grammar, size: Range, num_symbols: Range) -> RandltlSampler:
    return RandltlSampler(grammar, size, num_symbols)


def draw_formula(draws: Draws, grammar: Grammar, size: Range, num_symbols: Range) -> Formula | None:
    """Draw a formula in canonical form whose size and number of symbols lie in the ranges.

    Returns:
        None if MAX_ATTEMPTS attempts gave none.

    Raises:
        UsageError: If there is no such formula.
    """
    return _sampler(grammar, size, num_symbols).draw(draws)
