import numpy as np
import pytest
import torch

from symshift.data.errors import UsageError
from symshift.models.embedding import TableShape
from symshift.models.embeddings.factorized import METHOD
from symshift.models.embeddings.leviathan import METHOD as LEVIATHAN

PUBLISHED = TableShape(num_fixed=0, num_symbols=200_376, width=2048)


def build(num_rows: int, width: int, rank: int, **options: object):
    shape = TableShape(num_fixed=3, num_symbols=num_rows - 3, width=width)
    return METHOD(shape, METHOD.Options(rank=rank, **options), torch.Generator().manual_seed(0))


def test_rows_are_the_product_of_narrow_rows_and_the_map() -> None:
    method = build(20, 12, 5)
    narrow, widen = (part.detach().numpy() for part in (method.narrow, method.widen))
    table = method.table(17, torch.Generator()).detach().numpy()

    assert np.allclose(table, np.einsum("vr,rd->vd", narrow, widen), atol=1e-6)
    assert np.linalg.matrix_rank(table) == 5
    assert np.array_equal(method.table(4, torch.Generator()).detach().numpy(), table[:7])


def test_table_is_computed_in_float32_also_in_mixed_precision() -> None:
    method = build(20, 12, 5)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed = method.table(17, torch.Generator())

    assert torch.equal(mixed, method.table(17, torch.Generator()))


@pytest.mark.parametrize("rank", [2, 16, 64])
def test_rows_begin_with_about_length_1(rank: int) -> None:
    table = build(400, 64, rank).table(397, torch.Generator())

    assert table.norm(dim=1).square().mean().item() == pytest.approx(1, abs=0.25)


def test_rank_11_has_as_many_values_as_the_published_leviathan() -> None:
    sizes = LEVIATHAN.Options(digits=3, seed_dim=128, heads=8, knots=16, rank=64)
    goal = LEVIATHAN.parameter_report(PUBLISHED, sizes)

    def distance(rank: int) -> int:
        report = METHOD.parameter_report(PUBLISHED, METHOD.Options(rank=rank))
        assert report.output == goal.output == 200_376 * 2048
        return abs(report.input - goal.input)

    assert min(range(1, 40), key=distance) == 11


def test_no_rank_is_refused() -> None:
    with pytest.raises(UsageError, match="rank=0 must be at least 1"):
        METHOD.Options(rank=0)


def test_narrow_rows_are_a_table_with_a_row_for_each_token() -> None:
    dense, generated = (build(9, 8, 4, output=output) for output in ("dense", "generated"))

    assert [*dense.token_tables()] == ["narrow", "head"]
    assert [*generated.token_tables()] == ["narrow"]
    assert len(generated.token_tables()["narrow"].rows) == 9
