import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import hadamard

from symshift.models.embedding import TableShape, load_method
from symshift.models.embeddings.hadamard_code import METHOD


def table_of(name: str, tokens: int, width: int, **options: object) -> torch.Tensor:
    cls = load_method(name)
    shape = TableShape(num_fixed=0, num_symbols=tokens, width=width)
    method = cls(shape, cls.Options(**options), torch.Generator().manual_seed(0))
    return method.table(tokens, torch.Generator()).double()


@given(bits=st.integers(1, 7), more=st.integers(0, 40), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_columns_are_different_ones_of_sylvesters_matrix_without_the_first(
    bits: int, more: int, seed: int
) -> None:
    width = bits + more
    table = table_of("hadamard-code", 2**bits, width, norm_match=False, code_seed=seed)
    known = {tuple(column): at for at, column in enumerate(hadamard(2**bits).T.tolist())}

    places = [known[tuple(column)] for column in table.T.tolist()]

    num_distinct = min(width, 2**bits - 1)
    assert 0 not in places
    assert len(set(places[:num_distinct])) == num_distinct
    assert places == [places[j % num_distinct] for j in range(width)]


def test_rank_is_full_where_that_of_the_binary_code_is_k() -> None:
    assert torch.linalg.matrix_rank(table_of("hadamard-code", 256, 64)) == 64
    assert torch.linalg.matrix_rank(table_of("binary-code", 256, 64)) == 8


@given(tokens=st.integers(2, 60), width=st.integers(6, 50))
@settings(max_examples=60, deadline=None)
def test_all_rows_are_as_long_as_the_mean_row_of_the_binary_code(tokens: int, width: int) -> None:
    wanted = table_of("binary-code", tokens, width).norm(dim=1).mean()

    assert torch.allclose(table_of("hadamard-code", tokens, width).norm(dim=1), wanted, rtol=1e-5)


@pytest.mark.parametrize("code_seed", range(20))
def test_rows_differ_where_there_are_hardly_more_masks_than_bits(code_seed: int) -> None:
    table = table_of("hadamard-code", 200, 8, code_seed=code_seed)

    assert len(table.unique(dim=0)) == 200


def test_stored_values_are_whole_rows() -> None:
    shape = TableShape(num_fixed=0, num_symbols=49_152, width=2048)

    assert METHOD.parameter_report(shape, METHOD.Options()).stored == 49_152 * 2048
