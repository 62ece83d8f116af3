import numpy as np
import pytest
import torch

from symshift.models.codes.gf2 import inverse
from symshift.models.embedding import TableShape
from symshift.models.embeddings.gf2_code import METHOD, min_weight


def build(tokens: int, width: int = 32, **options: object):
    shape = TableShape(num_fixed=0, num_symbols=tokens, width=width)
    return METHOD(shape, METHOD.Options(**options), torch.Generator().manual_seed(0))


@pytest.mark.parametrize("bits", [1, 2, 3, 5, 8, 16, 32])
def test_matrix_keeps_the_weight_rule_and_tells_all_numbers_apart(bits: int) -> None:
    matrix = build(2, code_bits=bits).matrix.numpy().astype(int)
    undone = matrix @ inverse(torch.from_numpy(matrix)).numpy() % 2

    assert matrix.shape == (bits, bits)
    assert min(matrix.sum(0).min(), matrix.sum(1).min()) >= min_weight(bits)
    assert (undone == np.eye(bits)).all()


def test_weight_rule_is_the_published_one_at_16_bits() -> None:
    assert [min_weight(bits) for bits in (1, 2, 3, 8, 12, 16)] == [1, 1, 2, 2, 3, 4]


@pytest.mark.parametrize("code_seed", [12345, 1, 2])
def test_code_is_the_matrix_times_the_bits(code_seed: int) -> None:
    method = build(100, code_seed=code_seed)
    bits = np.arange(100)[:, None] // 2 ** np.arange(7) % 2
    recoded = np.array([method.matrix.numpy().astype(int) @ row % 2 for row in bits])

    table = method.table(100, torch.Generator())

    assert (method.codes.numpy() == recoded).all()
    assert (table.numpy() == np.tile(recoded, 5)[:, :32]).all()
    assert not (recoded == bits).all()


def test_inverse_of_the_matrix_gives_the_number_back() -> None:
    method = build(200)
    bits = method.codes.long() @ inverse(method.matrix).long().T % 2

    assert (bits * 2 ** torch.arange(8)).sum(1).tolist() == [*range(200)]


def test_default_seed_is_the_published_one() -> None:
    assert torch.equal(build(60).matrix, build(60, code_seed=12345).matrix)


def test_matrix_is_stored_and_counted() -> None:
    shape = TableShape(num_fixed=0, num_symbols=49_152, width=2048)
    report = METHOD.parameter_report(shape, METHOD.Options())

    assert set(build(60).state_dict()) == {"head", "codes", "matrix"}
    assert (report.input, report.stored) == (0, 49_152 * 16 + 16 * 16)
