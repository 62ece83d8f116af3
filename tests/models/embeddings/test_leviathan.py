import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import BSpline

from symshift.data.errors import UsageError
from symshift.models.embedding import TableShape
from symshift.models.embeddings.leviathan import METHOD, spline_basis

PUBLISHED = METHOD.Options(digits=3, seed_dim=128, heads=8, knots=16, rank=64)


def build(num_rows: int, width: int = 32, seed: int = 0, **options: object):
    shape = TableShape(num_fixed=3, num_symbols=num_rows - 3, width=width)
    return METHOD(shape, METHOD.Options(**options), torch.Generator().manual_seed(seed))


def scipy_basis(places: np.ndarray, num_knots: int) -> np.ndarray:
    step = 1 / (num_knots - 1)
    splines = [
        BSpline.basis_element(step * (knot + np.arange(-1.5, 2)), extrapolate=False)
        for knot in range(num_knots)
    ]
    values = np.nan_to_num(np.stack([spline(places) for spline in splines], axis=-1))
    return values / values.sum(axis=-1, keepdims=True)


@given(num_knots=st.integers(2, 20), seed=st.integers(0, 999))
@settings(max_examples=60, deadline=None)
def test_basis_is_that_of_scipy(num_knots: int, seed: int) -> None:
    drawn = np.random.default_rng(seed).random(200)
    places = np.concatenate((drawn, np.linspace(0, 1, 2 * num_knots - 1)))

    basis = spline_basis(torch.tensor(places), num_knots).numpy()

    assert np.allclose(basis, scipy_basis(places, num_knots), atol=1e-12)


@given(num_knots=st.integers(2, 20))
@settings(deadline=None)
def test_basis_is_a_smooth_partition_of_unity(num_knots: int) -> None:
    places = torch.linspace(0, 1, 4001, dtype=torch.float64)
    basis = spline_basis(places, num_knots)
    slopes = basis.diff(dim=0) / places[1]

    assert torch.allclose(basis.sum(dim=-1), torch.ones_like(places))
    assert basis.min() >= 0
    assert slopes.diff(dim=0).abs().max() < 20 * num_knots**2 * places[1]


def test_table_is_that_of_the_formula_written_out() -> None:
    method = build(11, 6, digits=2, seed_dim=5, heads=3, knots=4, rank=2)
    values = {name: value.detach().double().numpy() for name, value in method.named_parameters()}
    gains, biases = (np.random.default_rng(at).normal(size=(3, 5)) for at in range(2))
    with torch.no_grad():
        method.gain.copy_(torch.tensor(gains.ravel()))
        method.bias.copy_(torch.tensor(biases.ravel()))
    expected = np.zeros((11, 6))
    for token in range(11):
        seed = (
            values["codebooks.vectors"][0, token // 4] + values["codebooks.vectors"][1, token % 4]
        )
        for head in range(3):
            mapped = seed @ values["maps"][head]
            normed = (mapped - mapped.mean()) / math.sqrt(mapped.var() + 1e-5)
            places = 1 / (1 + np.exp(-0.5 * (normed * gains[head] + biases[head])))
            basis = scipy_basis(places, 4)
            for product in range(2):
                total = 1.0
                for dim in range(5):
                    total *= basis[dim] @ (1 + values["splines"][head, dim, :, product])
                expected[token] += total * values["merge"][head, product]

    table = method.table(8, torch.Generator()).detach().numpy()

    assert np.allclose(table, expected, rtol=1e-3, atol=1e-6)
    assert np.array_equal(method.table(2, torch.Generator()).detach().numpy(), table[:5])


def test_report_gives_the_published_account() -> None:
    shape = TableShape(num_fixed=0, num_symbols=200_376, width=2048)
    report = METHOD.parameter_report(shape, PUBLISHED)

    assert report.input == 2_252_928
    assert round(100 * report.input / 1.2e9, 2) == 0.19
    assert report.output == 200_376 * 2048


def test_report_does_not_hide_that_small_tables_are_smaller() -> None:
    shape = TableShape(num_fixed=28, num_symbols=100, width=64)

    assert METHOD.parameter_report(shape, METHOD.Options()).input > 128 * 64 / 2


@pytest.mark.parametrize("num_rows", [8, 40, 300])
@pytest.mark.parametrize(("seed_dim", "heads"), [(16, 2), (32, 4), (128, 8)])
def test_rows_begin_apart_and_of_moderate_length(num_rows: int, seed_dim: int, heads: int) -> None:
    method = build(num_rows, 64, seed_dim=seed_dim, heads=heads)
    table = method.table(num_rows - 3, torch.Generator()).detach()

    assert 1 < table.norm(dim=1).mean() < 2
    assert (table - table.mean(dim=0)).norm(dim=1).mean() > 0.4
    assert torch.cdist(table, table).fill_diagonal_(1).min() > 0.1


@pytest.mark.parametrize("name", ["seed_dim", "heads", "knots", "rank"])
def test_impossible_sizes_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name}=0 must be at least"):
        METHOD.Options(**{name: 0})


def test_impossible_digits_are_refused() -> None:
    with pytest.raises(UsageError, match="digits=0"):
        build(9, digits=0)


def test_table_is_computed_in_float32_also_in_mixed_precision() -> None:
    method = build(30)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed = method.table(27, torch.Generator())

    assert torch.equal(mixed, method.table(27, torch.Generator()))


def test_weight_decay_spares_gains_and_biases_of_norms() -> None:
    flat = {name for name, value in build(9).named_parameters() if value.dim() == 1}

    assert flat == {"gain", "bias"}
