"""What the methods with fixed codes share."""

import pytest
import torch

from symshift.data.errors import UsageError
from symshift.models.batches import batch_of
from symshift.models.building import build_model, parameter_counts
from symshift.models.codes.fixed import needed_bits
from symshift.models.embedding import TableShape, load_method
from symshift.models.encoding import EncodedRows

CODES = ("binary-code", "gf2-code", "random-code", "hadamard-code")
every_code = pytest.mark.parametrize("name", CODES)
drawn_code = pytest.mark.parametrize("name", CODES[1:])


def build(name: str, *, names: int = 9, width: int = 32, seed: int = 0, **options: object):
    cls = load_method(name)
    shape = TableShape(num_fixed=3, num_symbols=names, width=width)
    return cls(shape, cls.Options(**options), torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(
    ("tokens", "bits"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (49_152, 16), (65_536, 16)]
)
def test_bits_are_as_few_as_tell_the_tokens_apart(tokens: int, bits: int) -> None:
    assert needed_bits(TableShape(num_fixed=0, num_symbols=tokens, width=1)) == bits


@every_code
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"code_bits": 3}, r"code_bits=3: 12 tokens .* set code_bits=4 or more"),
        ({"code_bits": 33, "width": 64}, "code_bits=33: set code_bits=32 or less"),
        ({"code_bits": 9, "width": 8}, "width=8 .* 9 bits: set width=9 or more"),
        ({"width": 3}, "width=3 .* 4 bits: set width=4 or more"),
    ],
)
def test_bits_that_cannot_be_are_refused_with_the_remedy(name: str, settings, message) -> None:
    with pytest.raises(UsageError, match=message):
        build(name, **settings)


@every_code
def test_names_without_a_row_are_refused_with_the_remedy(name: str) -> None:
    with pytest.raises(UsageError, match=r"10 names.*rows for 9.*vocabulary=10"):
        build(name).table(10, torch.Generator())


@every_code
def test_nothing_that_reads_is_trained(name: str) -> None:
    assert [key for key, _ in build(name).named_parameters()] == ["head"]
    assert not [*build(name, output="generated").parameters()]
    assert not build(name).table(9, torch.Generator()).requires_grad


@every_code
def test_head_is_the_one_that_another_code_starts_from(name: str) -> None:
    assert torch.equal(build(name).head, build("binary-code").head)


@drawn_code
def test_code_follows_its_own_seed_and_not_that_of_the_run(name: str) -> None:
    first, other_run = (build(name, seed=seed) for seed in (0, 1))
    other_code = build(name, code_seed=7)

    assert torch.equal(first.codes, other_run.codes)
    assert not torch.equal(first.codes, other_code.codes)
    assert not torch.equal(first.head, other_run.head)


@every_code
def test_rows_that_read_are_directions_that_answer_where_they_are_generated(name: str) -> None:
    method = build(name, output="generated")
    table = method.table(9, torch.Generator())
    answers = method.answers(table)[1:]

    assert torch.allclose(answers.norm(dim=1), torch.ones(11))
    assert ((answers @ table[1:].T).argmax(dim=0) == torch.arange(11)).all()


@every_code
def test_account_of_a_larger_vocabulary_takes_the_bits_it_needs(name: str, tiny_config) -> None:
    # 3 + 3 tokens have codes of 3 bits; 3 + 300 would not.
    config = tiny_config(name, code_bits=3)
    growth = parameter_counts(config, build_model(config))["growth"]["100x names"]
    larger = build(name, names=300, width=config.train.width)

    assert growth["stored"] == sum(buffer.numel() for buffer in larger.buffers())
    assert growth["output"] == larger.head.numel()


@every_code
def test_row_of_padding_is_never_read(name: str, tiny_config, encoded: EncodedRows) -> None:
    model = build_model(tiny_config(name)).eval()
    batch = batch_of(encoded, torch.arange(64).numpy())
    rows = model.rows(3, torch.Generator())
    other = rows._replace(input=torch.cat((rows.input[:1] + 3, rows.input[1:])))

    assert (batch.source == 0).any()
    assert (batch.target == 0).any()
    assert torch.equal(model.batch_loss(batch, rows), model.batch_loss(batch, other))
