"""Numbers with their error: Wilson intervals, bootstraps, and the exact paired test.

All intervals are 95 %. The bootstrap's draws come from a fixed seed, so equal inputs give equal
intervals, to the bit.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from symshift.data.seeds import numpy_rng
from symshift.data.verdict import Estimate

LEVEL = 0.95
Z_95 = 1.959963984540054
NUM_RESAMPLES = 2_000
WILSON_BOUND = "wilson-bound"
"""The method where all units are equal, so that resampling would show no spread."""
_DIGITS = 10
_CHUNK_DRAWS = 1 << 22
Floats = npt.NDArray[np.float64]


def rounded(value: float) -> float:
    """Round to ten decimals, so that results do not differ in digits that mean nothing."""
    return round(float(value), _DIGITS) + 0.0


def nothing(method: str) -> Estimate:
    """Return the estimate from no observations at all."""
    return Estimate(None, None, None, 0, method)


def wilson(successes: int, n: int) -> Estimate:
    """Return a share with its Wilson score interval (Wilson, JASA 1927).

    The interval has positive width even for 0 or n successes.

    Args:
        successes: How many of the observations are successes.
        n: The number of observations; with 0 the estimate is None.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"successes={successes} must be between 0 and n={n}")
    if n == 0:
        return nothing("wilson")
    share, z2 = successes / n, Z_95**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z_95 / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == n else centre + half
    return Estimate(rounded(share), rounded(low), rounded(high), n, "wilson")


def bootstrap_mean(
    sums: Floats,
    counts: npt.NDArray[np.int64] | None = None,
    *,
    min_value: float = 0.0,
    max_value: float = 1.0,
    num_resamples: int = NUM_RESAMPLES,
) -> Estimate:
    """Return a mean with its percentile bootstrap interval over independent units.

    A unit is an observation, or a cluster of observations (the renamings of one problem) that is
    drawn as a whole; `n` of the estimate is the number of units. Where all units have the same
    mean v, resampling shows no spread at all; the interval is then the Wilson bound, and named so:
    a share of up to z^2/(n + z^2) of all units may differ from v, by as much as the bounds allow.

    Args:
        sums: The sum of the observations of each unit.
        counts: The number of observations of each unit; 1 where it is None.
        min_value: The least value that an observation can have.
        max_value: The greatest.
        num_resamples: How many resamples to draw.
    """
    method = (
        f"bootstrap-{num_resamples}" if counts is None else f"cluster-bootstrap-{num_resamples}"
    )
    n = len(sums)
    if n == 0:
        return nothing(method)
    weights = np.ones(n, dtype=np.int64) if counts is None else counts
    mean = float(sums.sum() / weights.sum())
    if np.ptp(sums / weights) == 0:
        method = WILSON_BOUND
        differ = Z_95**2 / (n + Z_95**2)
        low, high = mean - differ * (mean - min_value), mean + differ * (max_value - mean)
    else:
        means = _resampled_means(sums, weights, num_resamples)
        low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(rounded(mean), rounded(low), rounded(high), n, method)


def _resampled_means(sums: Floats, weights: npt.NDArray[np.int64], num_resamples: int) -> Floats:
    # To draw n units with replacement is to draw how often each distinct unit comes up, from a
    # multinomial: there are few distinct ones, however many units.
    kinds, frequency = _distinct(sums, weights)
    rng = numpy_rng("bootstrap", num_resamples)
    step = max(1, _CHUNK_DRAWS // len(frequency))
    means = []
    for start in range(0, num_resamples, step):
        size = min(step, num_resamples - start)
        drawn = rng.multinomial(len(sums), frequency / len(sums), size=size)
        totals = drawn @ kinds.T
        means.append(totals[:, 0] / totals[:, 1])
    return np.concatenate(means)


def _distinct(sums: Floats, weights: npt.NDArray[np.int64]) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return the distinct pairs as two rows, and how often each comes."""
    if (weights == 1).all():  # many times faster than distinct columns, and equal to them
        values, frequency = np.unique(sums, return_counts=True)
        kinds: Floats = np.stack([values, np.ones_like(values)])
    else:
        kinds, frequency = np.unique(np.stack([sums, weights]), axis=1, return_counts=True)
    return kinds, frequency.astype(np.int64)


def share(
    is_success: npt.NDArray[np.bool_], clusters: npt.NDArray[np.int64] | None = None
) -> Estimate:
    """Return a share: Wilson for independent observations, else bootstrapped over clusters.

    Args:
        is_success: One value for each observation.
        clusters: The cluster of each observation, as numbers from 0, or None.
    """
    if clusters is None:
        return wilson(int(is_success.sum()), len(is_success))
    return bootstrap_mean(*per_cluster(is_success.astype(np.float64), clusters))


def per_cluster(
    values: Floats, clusters: npt.NDArray[np.int64]
) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return the sum and the number of the values of each cluster that has any."""
    counts: npt.NDArray[np.int64] = np.bincount(clusters).astype(np.int64)
    sums: Floats = np.bincount(clusters, weights=values).astype(np.float64)
    return sums[counts > 0], counts[counts > 0]


def mcnemar(only_a: int, only_b: int) -> float:
    """Return the two-sided p-value of the exact McNemar test (McNemar, Psychometrika 1947).

    Args:
        only_a: Pairs that only the first system solves.
        only_b: Pairs that only the second solves.
    """
    if min(only_a, only_b) < 0:
        raise ValueError(f"only_a={only_a} and only_b={only_b} must not be negative")
    if only_a + only_b == 0:
        return 1.0
    from scipy.stats import binomtest

    return float(binomtest(only_a, only_a + only_b, 0.5).pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for their number, in the order given (Holm, Scand. J. Stat. 1979).

    Whichever true null hypotheses there are, the chance that any of them is rejected at level x is
    at most x. Unlike Bonferroni's, the i-th smallest is multiplied by what is left from it on.
    """
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    adjusted, floor = [0.0] * len(p_values), 0.0
    for rank, at in enumerate(order):
        if not 0 <= p_values[at] <= 1:
            raise ValueError(f"p_values[{at}]={p_values[at]} is no probability")
        floor = max(floor, min(1.0, (len(order) - rank) * p_values[at]))
        adjusted[at] = floor
    return adjusted


def spread(values: Sequence[float]) -> tuple[float, float, float]:
    """Return mean, least and greatest of at least one value."""
    return rounded(sum(values) / len(values)), rounded(min(values)), rounded(max(values))
