"""How often each size of a formula is wanted, and how formulas of those sizes are picked."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from symshift.generators.formulas.shortening import add_up

FIRST_EQUAL_SIZE = 10
SMALL_PARTS = 14
LARGE_PARTS = 111
MAX_COST = 8.0
_NEIGHBOURS = 3


def size_weights(sizes: Iterable[int]) -> dict[int, int]:
    """Return the weight of each size: equal from FIRST_EQUAL_SIZE up, and equal below it.

    If there are sizes of both kinds, the small ones have 14 parts in 125 (11.2 %, as in the
    published LTLRandom35: DeepLTL, ICLR 2021), else all are equally likely.

    Args:
        sizes: The sizes there are.
    """
    known = sorted(sizes)
    num_small = sum(size < FIRST_EQUAL_SIZE for size in known)
    num_large = len(known) - num_small
    if not num_small or not num_large:
        return dict.fromkeys(known, 1)
    small, large = SMALL_PARTS * num_large, LARGE_PARTS * num_small
    return {size: small if size < FIRST_EQUAL_SIZE else large for size in known}


class SizeLaw:
    """Picks formulas so that their sizes are as size_weights has them.

    Each formula was drawn with a size that it may have lost nodes from since. Let w(m) be how often
    the source has m nodes to begin with, and g(n) how much a formula of n nodes is wanted relative
    to how often it comes up. Sizes m are drawn in proportion to w(m) G(m), where G(m) is the
    largest g(n) that m can come to, and a formula is accepted with probability g(n) / G(m). It is
    then taken g(n) times as often as it comes up, whatever m it had.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        weights: Sequence[float],
        frequencies: Sequence[float],
        max_loss: int,
    ) -> None:
        """Make the tables.

        Args:
            sizes: The sizes that are wanted.
            weights: [m]: how often the source has m nodes.
            frequencies: [n]: how often a formula has n nodes in the end, in the same unit.
            max_loss: How many nodes a formula can have lost.
        """
        self._demand = _demand(sizes, frequencies)
        reached = [n for n in range(min(sizes), len(weights)) if weights[n]]
        self._peaks = _peaks(self._demand, reached, max_loss)
        sums = list(accumulate(weights[n] * self._peaks[n] for n in reached))
        self._sizes = reached
        self._cumulative = [part / sums[-1] for part in sums if sums[-1]]

    def __bool__(self) -> bool:
        return bool(self._demand)

    def size(self, fraction: float) -> int:
        """Return the size to draw that a fraction in [0, 1) stands for."""
        return self._sizes[bisect_right(self._cumulative, fraction)]

    def acceptance(self, drawn: int, size: int) -> float:
        """Return the probability of taking a formula that was drawn larger than it is now."""
        return self._demand.get(size, 0.0) / self._peaks[drawn]


def affordable_loss(sizes: Sequence[int], weights: Sequence[float]) -> int:
    """Return how many nodes formulas may lose if about one in MAX_COST shall be accepted.

    Args:
        sizes: The sizes that are wanted.
        weights: [m]: how often the source has m nodes.
    """
    demand = _demand(sizes, weights)
    law = size_weights(demand)
    reached = [n for n in range(min(sizes), len(weights)) if weights[n]]
    for max_loss in range(len(weights) - 1, 0, -1):
        peaks = _peaks(demand, reached, max_loss)
        attempts = add_up(law[n] * peaks[n] / demand[n] for n in demand)
        if attempts <= MAX_COST * sum(law.values()):
            return max_loss
    return 0


def smoothed(frequencies: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Return estimated frequencies with less noise from FIRST_EQUAL_SIZE up.

    The ratio to the weights changes slowly with the size, so each is replaced by the value of a
    line through it and its neighbours (least squares), unless that is half of it or double.
    """
    sizes = [n for n in range(FIRST_EQUAL_SIZE, len(weights)) if frequencies[n] and weights[n]]
    ratios = [frequencies[n] / weights[n] for n in sizes]
    result = list(frequencies)
    for at, size in enumerate(sizes):
        near = range(max(0, at - _NEIGHBOURS), min(len(sizes), at + _NEIGHBOURS + 1))
        middle = (near[0] + near[-1]) / 2
        mean = add_up(ratios[i] for i in near) / len(near)
        spread = add_up((i - middle) ** 2 for i in near)
        slope = add_up((i - middle) * (ratios[i] - mean) for i in near) / (spread or 1.0)
        ratio = mean + slope * (at - middle)
        if ratios[at] / 2 < ratio < ratios[at] * 2:
            result[size] = ratio * weights[size]
    return result


def _demand(sizes: Sequence[int], frequencies: Sequence[float]) -> dict[int, float]:
    """Return how much each size is wanted relative to how often it comes up, if it does."""
    law = size_weights(n for n in sizes if frequencies[n])
    return {n: weight / frequencies[n] for n, weight in law.items()}


def _peaks(demand: Mapping[int, float], sizes: Sequence[int], max_loss: int) -> dict[int, float]:
    """Return the largest demand for a size that each size can come to."""
    return {m: max(demand.get(n, 0.0) for n in range(m - max_loss, m + 1)) for m in sizes}
