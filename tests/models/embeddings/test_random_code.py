import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from symshift.models.embedding import TableShape, load_method
from symshift.models.embeddings.random_code import METHOD

RANKS = pytest.mark.parametrize("rank", ["full", "code"])


def table_of(name: str, tokens: int, width: int, **options: object) -> torch.Tensor:
    cls = load_method(name)
    shape = TableShape(num_fixed=0, num_symbols=tokens, width=width)
    method = cls(shape, cls.Options(**options), torch.Generator().manual_seed(0))
    return method.table(tokens, torch.Generator()).double()


@RANKS
@given(tokens=st.integers(2, 60), width=st.integers(6, 50), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_rows_are_as_long_as_those_of_the_binary_code(
    rank: str, tokens: int, width: int, seed: int
) -> None:
    wanted = table_of("binary-code", tokens, width).norm(dim=1)
    options = {"rank": rank, "code_seed": seed}
    each = table_of("random-code", tokens, width, **options).norm(dim=1)
    mean = table_of("random-code", tokens, width, norms="mean", **options).norm(dim=1)

    assert torch.allclose(each, wanted, rtol=1e-5)
    assert torch.allclose(mean, wanted.mean(), rtol=1e-5)


def test_rank_is_that_of_the_binary_code_or_as_high_as_can_be() -> None:
    ranks = {
        rank: int(torch.linalg.matrix_rank(table_of("random-code", 100, 32, rank=rank)))
        for rank in ("code", "full")
    }

    assert ranks == {"code": 7, "full": 32}
    assert torch.linalg.matrix_rank(table_of("binary-code", 100, 32)) == 7


def test_rank_matched_rows_repeat_as_the_binary_code_does() -> None:
    table = table_of("random-code", 100, 17, rank="code")

    assert torch.equal(table[:, :7], table[:, 7:14])
    assert torch.equal(table[:, :3], table[:, 14:])


@RANKS
def test_directions_are_those_of_normal_values(rank: str) -> None:
    # One coordinate u of a uniform direction in S dimensions: u^2 is Beta(1/2, (S - 1)/2).
    table = table_of("random-code", 3000, 24, rank=rank, code_bits=12)[1:]
    size = 24 if rank == "full" else 12
    squares = torch.nn.functional.normalize(table[:, :size], dim=1)[:, 0] ** 2

    assert kstest(squares.numpy(), "beta", (0.5, (size - 1) / 2)).pvalue > 1e-4
    assert 0.4 < (table[:, 0] > 0).double().mean() < 0.6


def test_stored_values_are_those_of_whole_rows_or_k_for_each() -> None:
    shape = TableShape(num_fixed=0, num_symbols=49_152, width=2048)
    stored = {
        rank: METHOD.parameter_report(shape, METHOD.Options(rank=rank)).stored
        for rank in ("full", "code")
    }

    assert stored == {"full": 49_152 * 2048, "code": 49_152 * 16}
