import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from symshift.models.codes.fixed import binary_norms
from symshift.models.embedding import TableShape
from symshift.models.embeddings.binary_code import METHOD

PUBLISHED = TableShape(num_fixed=0, num_symbols=49_152, width=2048)


@given(tokens=st.integers(2, 70), width=st.integers(7, 40), more=st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_value_j_of_a_row_is_bit_j_modulo_k_of_its_number(
    tokens: int, width: int, more: int
) -> None:
    bits = min(len(bin(tokens - 1)) - 2 + more, width)
    shape = TableShape(num_fixed=0, num_symbols=tokens, width=width)
    method = METHOD(shape, METHOD.Options(code_bits=bits), torch.Generator())

    table = method.table(tokens, torch.Generator())

    for token, row in enumerate(table.tolist()):
        digits = f"{token:0{bits}b}"[::-1]
        assert row == [float(digits[j % bits]) for j in range(width)]


def test_rows_are_read_at_scale_1() -> None:
    assert METHOD.input_scale == 1.0


def test_lengths_of_rows_are_those_of_the_published_size() -> None:
    norms = binary_norms(PUBLISHED, 16)

    assert norms.mean().item() == pytest.approx(31.06, abs=0.005)
    assert norms.min() == norms[0] == 0
    assert norms.max().item() == pytest.approx(43.8, abs=0.05)


@given(tokens=st.integers(2, 40), width=st.integers(6, 33))
@settings(max_examples=60, deadline=None)
def test_lengths_are_those_of_the_rows_where_the_last_copy_is_cut(tokens: int, width: int) -> None:
    shape = TableShape(num_fixed=0, num_symbols=tokens, width=width)
    method = METHOD(shape, METHOD.Options(), torch.Generator())
    table = method.table(tokens, torch.Generator()).double()

    assert torch.allclose(table.norm(dim=1), binary_norms(shape, method.codes.shape[1]))


def test_account_at_the_published_size_has_no_input_and_16_bits_a_token() -> None:
    dense, generated = (
        METHOD.parameter_report(PUBLISHED, METHOD.Options(output=output))
        for output in ("dense", "generated")
    )

    assert (dense.input, dense.output, dense.stored) == (0, 100_663_296, 49_152 * 16)
    assert (generated.input, generated.output, generated.stored) == (0, 0, 49_152 * 16)
