import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from symshift.metrics.intervals import (
    bootstrap_mean,
    holm,
    mcnemar,
    per_cluster,
    share,
    wilson,
)


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_agrees_with_scipy(case: tuple[int, int]) -> None:
    successes, n = case
    expected = binomtest(successes, n).proportion_ci(0.95, "wilson")

    found = wilson(successes, n)
    assert found.low == pytest.approx(expected.low, abs=1e-9)
    assert found.high == pytest.approx(expected.high, abs=1e-9)


def test_no_successes_and_only_successes_have_intervals_of_positive_width() -> None:
    none, all_ = wilson(0, 20), wilson(20, 20)

    assert (none.value, none.low) == (0, 0)
    assert none.high == pytest.approx(0.1611, abs=1e-4)
    assert (all_.value, all_.high) == (1, 1)
    assert all_.low == pytest.approx(0.8389, abs=1e-4)


def test_nothing_observed_estimates_nothing() -> None:
    for found in (wilson(0, 0), bootstrap_mean(np.array([])), share(np.array([], dtype=bool))):
        assert (found.value, found.low, found.high, found.n) == (None, None, None, 0)


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="successes=3"):
        wilson(3, 2)
    with pytest.raises(ValueError, match="only_b=-1"):
        mcnemar(1, -1)


def test_bootstrap_agrees_with_theory_on_shares() -> None:
    values = np.repeat([0.0, 1.0], [600, 400])

    found = bootstrap_mean(values)
    half = 1.96 * math.sqrt(0.4 * 0.6 / 1000)
    assert found.value == 0.4
    assert found.low == pytest.approx(0.4 - half, abs=0.004)
    assert found.high == pytest.approx(0.4 + half, abs=0.004)
    assert found.method == "bootstrap-2000"


def test_bootstrap_agrees_with_the_obvious_way_to_resample() -> None:
    rng = np.random.default_rng(0)
    values = rng.beta(2, 5, size=60)
    means = rng.choice(values, size=(20_000, 60)).mean(axis=1)

    found = bootstrap_mean(values)
    assert found.low == pytest.approx(np.quantile(means, 0.025), abs=0.005)
    assert found.high == pytest.approx(np.quantile(means, 0.975), abs=0.005)


def test_equal_inputs_give_equal_intervals_whatever_their_order() -> None:
    values = np.random.default_rng(1).random(300)

    assert bootstrap_mean(values) == bootstrap_mean(values[::-1].copy())


def test_resamples_drawn_piece_by_piece_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(1).random(30)
    whole = bootstrap_mean(values)
    monkeypatch.setattr("symshift.metrics.intervals._CHUNK_DRAWS", 1000)

    assert bootstrap_mean(values) == whole


def test_equal_values_still_have_an_error() -> None:
    ones, halves = bootstrap_mean(np.ones(20)), bootstrap_mean(np.full(20, 0.5))

    assert (ones.low, ones.high) == (wilson(20, 20).low, 1)
    assert ones.method == halves.method == "wilson-bound"
    assert halves.low is not None
    assert halves.high is not None
    assert halves.low < 0.5 < halves.high


def test_rows_of_one_problem_do_not_count_as_independent() -> None:
    clusters = np.repeat(np.arange(50), 20)
    is_right = clusters % 2 == 0

    clustered, plain = share(is_right, clusters), share(is_right)
    assert clustered.value == plain.value == 0.5
    assert clustered.n == 50
    width = (clustered.high or 0) - (clustered.low or 0)
    assert width > 3 * ((plain.high or 0) - (plain.low or 0))
    assert clustered.method == "cluster-bootstrap-2000"


def test_clusters_without_rows_are_left_out() -> None:
    sums, counts = per_cluster(np.array([1.0, 0.0, 1.0]), np.array([0, 5, 5]))

    assert sums.tolist() == [1, 1]
    assert counts.tolist() == [1, 2]


def test_mcnemar_is_the_exact_binomial_test() -> None:
    assert mcnemar(0, 0) == 1
    assert mcnemar(5, 5) == 1
    assert mcnemar(0, 6) == pytest.approx(2 * 0.5**6)
    assert mcnemar(1, 8) == mcnemar(8, 1) == pytest.approx(2 * 10 * 0.5**9)


def test_holm_multiplies_the_smallest_by_all_and_each_next_by_one_less() -> None:
    # Each rejected hypothesis leaves one less to guard against.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1, 1]
    assert holm([]) == []
    with pytest.raises(ValueError, match="no probability"):
        holm([0.5, 1.5])


def rejected_step_by_step(p_values: list[float], level: float) -> set[int]:
    """Return what Holm's procedure rejects, as it is told in the paper."""
    found: set[int] = set()
    for at in sorted(range(len(p_values)), key=lambda at: p_values[at]):
        if p_values[at] > level / (len(p_values) - len(found)):
            break
        found.add(at)
    return found


@given(st.lists(st.sampled_from([0.0, 0.001, 0.004, 0.012, 0.02, 0.03, 0.2, 1.0]), max_size=9))
def test_holm_rejects_what_the_step_down_procedure_rejects(p_values: list[float]) -> None:
    adjusted = holm(p_values)

    assert {at for at, p in enumerate(adjusted) if p <= 0.05} == rejected_step_by_step(
        p_values, 0.05
    )
    assert all(own >= p for own, p in zip(adjusted, p_values, strict=True))


def test_units_of_one_observation_are_the_same_with_and_without_counts() -> None:
    values = np.random.default_rng(2).choice([-1.0, 0.0, 1.0], size=200)
    plain, counted = bootstrap_mean(values), bootstrap_mean(values, np.ones(200, dtype=np.int64))

    assert (plain.low, plain.high) == (counted.low, counted.high)
