import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import erf

from symshift.data.errors import UsageError
from symshift.models.embedding import TableShape
from symshift.models.embeddings.mlp import METHOD, index_features

FORMS = ("flat", "factored")


def build(num_rows: int, width: int = 32, **options: object):
    shape = TableShape(num_fixed=3, num_symbols=num_rows - 3, width=width)
    return METHOD(shape, METHOD.Options(**options), torch.Generator().manual_seed(0))


@given(num_rows=st.integers(2, 2000))
@settings(max_examples=40, deadline=None)
def test_features_tell_all_numbers_apart(num_rows: int) -> None:
    features = index_features(num_rows)

    # One octave moves neighbours by a quarter turn or more.
    assert torch.cdist(features, features).fill_diagonal_(9).min() > 0.7


def test_features_are_sines_and_cosines_of_the_place() -> None:
    features = index_features(5)

    assert features.shape == (5, 6)
    for number, row in enumerate(features.tolist()):
        angles = [math.pi * 2**octave * (number + 0.5) / 5 for octave in range(3)]
        expected = [*map(math.sin, angles), *map(math.cos, angles)]
        assert np.allclose(row, expected, atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_table_is_that_of_the_formula(form: str) -> None:
    method = build(10, 6, form=form, hidden_dim=7)
    with torch.no_grad():
        method.inner_bias.uniform_(generator=torch.Generator().manual_seed(1))
        method.outer_bias.uniform_(generator=torch.Generator().manual_seed(2))
    if method.codebooks is None:
        inputs = index_features(10).numpy()
    else:
        vectors = method.codebooks.vectors.detach().numpy()
        inputs = np.stack([vectors[0, token // 4] + vectors[1, token % 4] for token in range(10)])
    inner, inner_bias, outer, outer_bias = (
        part.detach().numpy()
        for part in (method.inner, method.inner_bias, method.outer, method.outer_bias)
    )
    hidden = inputs @ inner + inner_bias
    expected = hidden * (1 + erf(hidden / math.sqrt(2))) / 2 @ outer + outer_bias

    table = method.table(7, torch.Generator()).detach().numpy()

    assert np.allclose(table, expected, atol=1e-5)
    assert np.array_equal(method.table(2, torch.Generator()).detach().numpy(), table[:5])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("num_rows", [8, 40, 300])
def test_rows_begin_distinct_and_of_about_length_1(form: str, num_rows: int) -> None:
    table = build(num_rows, 64, form=form).table(num_rows - 3, torch.Generator()).detach()

    assert table.norm(dim=1).square().mean().item() == pytest.approx(1, abs=0.4)
    assert torch.cdist(table, table).fill_diagonal_(1).min() > 1e-2


def test_input_grows_with_the_octaves_or_the_base_alone() -> None:
    shapes = [TableShape(num_fixed=0, num_symbols=num, width=64) for num in (256, 25_600)]
    sizes = {
        form: [METHOD.parameter_report(one, METHOD.Options(form=form)).input for one in shapes]
        for form in FORMS
    }

    assert sizes["flat"][1] - sizes["flat"][0] == 64 * 2 * 7
    assert sizes["factored"][1] - sizes["factored"][0] == 2 * 16 * (160 - 16)


@pytest.mark.parametrize("name", ["digits", "seed_dim"])
def test_options_of_the_other_form_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name}=3 needs form=factored"):
        METHOD.Options(form="flat", **{name: 3})


@pytest.mark.parametrize("name", ["hidden_dim", "digits", "seed_dim"])
def test_impossible_sizes_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name}=0 must be at least 1"):
        METHOD.Options(**{name: 0})


@pytest.mark.parametrize("form", FORMS)
def test_table_is_computed_in_float32_also_in_mixed_precision(form: str) -> None:
    method = build(30, form=form)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed = method.table(27, torch.Generator())

    assert torch.equal(mixed, method.table(27, torch.Generator()))
