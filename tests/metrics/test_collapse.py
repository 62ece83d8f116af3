"""Measures of collapse, against plain double loops and planted collapse."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from symshift.data.errors import DataError, UsageError
from symshift.metrics.collapse import collapse_of, format_collapse, pair_cosines


def by_pairs(rows: np.ndarray) -> tuple[float, float, float]:
    def cosine(x: np.ndarray, y: np.ndarray) -> float:
        return float(x @ y / np.linalg.norm(x) / np.linalg.norm(y))

    pairs, centred = [*combinations(rows, 2)], rows - rows.mean(axis=0)
    return (
        float(np.mean([cosine(x, y) for x, y in pairs])),
        float(np.mean([cosine(x, y) for x, y in combinations(centred, 2)])),
        float(np.mean([np.linalg.norm(x - y) for x, y in pairs])),
    )


@given(
    arrays(np.int64, st.tuples(st.integers(2, 9), st.integers(1, 5)), elements=st.integers(-9, 9)),
    st.integers(0, 2**32),
)
def test_means_are_those_of_a_double_loop(shifts: np.ndarray, seed: int) -> None:
    rows = shifts + np.random.default_rng(seed).normal(size=shifts.shape)
    found = collapse_of(rows)

    expected = by_pairs(rows)
    assert np.allclose((found.cosine, found.centred_cosine, found.distance), expected, atol=1e-6)


def test_common_drift_raises_the_cosine_and_not_the_centred_one() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(64, 32)) * 0.1
    drifted = collapse_of(rows + rng.normal(size=32))
    before = collapse_of(rows)

    assert before.cosine is not None
    assert abs(before.cosine) < 0.01
    assert drifted.cosine is not None
    assert drifted.cosine > 0.97
    assert drifted.centred_cosine == pytest.approx(before.centred_cosine, abs=1e-9)
    assert drifted.distance == pytest.approx(before.distance)
    assert drifted.common is not None
    assert drifted.common > 0.97


def test_contraction_shrinks_the_distance() -> None:
    rows = np.random.default_rng(1).normal(size=(50, 16))
    assert collapse_of(rows / 4).distance == pytest.approx(collapse_of(rows).distance / 4)


def test_equal_rows_have_no_centred_direction() -> None:
    found = collapse_of(np.full((5, 3), 0.1))

    assert found.cosine == pytest.approx(1)
    assert found.centred_cosine is None
    assert found.distance == pytest.approx(0, abs=1e-7)
    assert found.common == pytest.approx(1)


def test_zero_rows_are_counted_and_have_no_cosine() -> None:
    found = collapse_of([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0]])

    assert (found.rows, found.zero_rows, found.cosine) == (3, 1, 1.0)
    assert collapse_of(np.zeros((2, 4))).relative_distance is None


def test_large_sets_are_sampled_for_distances_alone() -> None:
    rows = np.random.default_rng(2).normal(size=(5000, 8))
    found = collapse_of(rows)

    directions = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    gram = directions @ directions.T
    assert found.cosine == pytest.approx((gram.sum() - 5000) / (5000 * 4999))
    exact = np.sqrt(np.maximum(0, 2 * np.square(rows).sum() * 5000 - 2 * (rows.sum(0) ** 2).sum()))
    assert found.distance == pytest.approx(exact / 5000, rel=0.05)  # root mean square, near by
    assert len(pair_cosines(rows, centred=False)) == 2048 * 2047 // 2


def test_one_row_and_broken_values_are_refused() -> None:
    with pytest.raises(UsageError, match="1 row"):
        collapse_of(np.ones((1, 3)))
    with pytest.raises(DataError, match="row 1"):
        collapse_of([[1.0, 2.0], [np.nan, 1.0]])
    with pytest.raises(DataError, match="beyond"):
        collapse_of([[1e300, 2.0], [1.0, 1.0]])


def test_table_has_a_column_for_each_set() -> None:
    sets = {"rows 0-1": collapse_of(np.eye(2)), "others": collapse_of(np.eye(3))}
    lines = format_collapse(sets).splitlines()

    assert lines[0].split() == ["rows", "0-1", "others"]
    assert "centred cosine" in format_collapse(sets)
