"""What every body promises, with and without copy attention."""

import re
from itertools import product

import numpy as np
import pytest
import torch

from symshift.data.errors import UsageError
from symshift.models.batches import batch_of
from symshift.models.bodies.body import COPY_PLACES, Problems, answer_limit
from symshift.models.building import build_model
from symshift.models.encoding import EncodedRows
from symshift.models.model import ReferenceModel

BODIES = ("encoder-decoder", "decoder-only")
every_body = pytest.mark.parametrize("body", BODIES)
COPYING = [{}, *({"copy_attention": True, "copy_place": place} for place in COPY_PLACES)]
every_choice = pytest.mark.parametrize(
    ("body", "positions", "copying"),
    [*product(BODIES, ("rotary", "learned", "sinusoidal"), COPYING)],
)


def logits_of(model: ReferenceModel, batch) -> torch.Tensor:
    with torch.no_grad():
        return model.answer_logits(batch, model.rows(3, torch.Generator().manual_seed(1)))


def test_logits_have_a_row_for_each_token_and_a_column_for_each_answer(
    tiny_model: ReferenceModel, encoded: EncodedRows
) -> None:
    batch = batch_of(encoded, np.arange(20))

    assert logits_of(tiny_model, batch).shape == (20, batch.target.shape[1] - 1, 1 + 3)


def test_no_token_sees_those_behind_it(tiny_model: ReferenceModel, encoded: EncodedRows) -> None:
    batch = batch_of(encoded, np.array([int(encoded.target.lengths.argmax())]))
    changed = batch.target.clone()
    changed[:, 4:] = 3

    before, after = (
        logits_of(tiny_model, batch),
        logits_of(tiny_model, batch._replace(target=changed)),
    )

    assert torch.allclose(before[:, :4], after[:, :4], atol=1e-6)
    assert not torch.allclose(before[:, 4:], after[:, 4:], atol=1e-3)


def test_padding_changes_nothing(tiny_model: ReferenceModel, encoded: EncodedRows) -> None:
    together = logits_of(tiny_model, batch_of(encoded, np.arange(20)))
    for number in range(20):
        alone = logits_of(tiny_model, batch_of(encoded, np.array([number])))[0]

        assert torch.allclose(alone, together[number, : len(alone)], atol=1e-5)


def test_order_of_the_problem_matters(tiny_model: ReferenceModel, encoded: EncodedRows) -> None:
    batch = batch_of(encoded, np.array([int(encoded.source.lengths.argmax())]))
    swapped = batch._replace(source=batch.source.flip(1))

    assert not torch.allclose(
        logits_of(tiny_model, batch), logits_of(tiny_model, swapped), atol=1e-3
    )


def test_first_values_follow_the_seed_and_leave_the_global_stream(tiny_config) -> None:
    before = torch.get_rng_state()
    one, same = (build_model(tiny_config()).state_dict() for _ in range(2))

    assert all(torch.equal(one[name], same[name]) for name in one)
    assert torch.equal(before, torch.get_rng_state())


def test_scale_of_the_loss_multiplies_the_logits(
    tiny_model: ReferenceModel, encoded: EncodedRows
) -> None:
    batch = batch_of(encoded, np.arange(5))
    before = logits_of(tiny_model, batch)
    tiny_model.loss.scale.mul_(2)

    assert torch.allclose(logits_of(tiny_model, batch), 2 * before)


@every_choice
def test_cached_steps_and_lone_rows_give_the_logits_of_a_batch(
    body: str, positions: str, copying, tiny_config, encoded: EncodedRows
) -> None:
    model = build_model(
        tiny_config("learned", body=body, decoder_positions=positions, **copying)
    ).eval()
    rows, batch = model.rows(3, torch.Generator()), batch_of(encoded, np.arange(20))
    with torch.no_grad():
        together = model.answer_logits(batch, rows)
        state = model.begin(batch, rows, together.shape[1])
        for place in range(together.shape[1]):
            step = model.step(batch.target[:, place], state, rows)
            assert torch.allclose(step, together[:, place], atol=1e-5)
        for number in range(20):
            alone = model.answer_logits(batch_of(encoded, np.array([number])), rows)[0]
            assert torch.allclose(alone, together[number, : len(alone)], atol=1e-5)


@every_choice
def test_gradients_reach_every_value(
    body: str, positions: str, copying, tiny_config, encoded: EncodedRows
) -> None:
    gated = {"copy_gate": "learned", "copy_heads": 2} if copying else {}
    model = build_model(
        tiny_config("learned", body=body, decoder_positions=positions, **copying, **gated)
    )
    batch = batch_of(encoded, np.arange(64))
    model.batch_loss(batch, model.rows(3, torch.Generator())).backward()

    for name, parameter in model.body.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.any(), name


@every_body
def test_learned_positions_are_saved_once_and_too_long_rows_are_refused(
    body: str, tiny_config, encoded: EncodedRows
) -> None:
    model = build_model(tiny_config(body=body, decoder_positions="learned", max_positions=9))
    batch, rows = batch_of(encoded, np.arange(64)), model.rows(3, torch.Generator())

    assert sum(value.shape[:1] == (9,) for value in model.state_dict().values()) == 1
    with pytest.raises(UsageError, match=r"has learned 9: train it with --set max_positions=\d\d"):
        model.begin(batch, rows, 10)


@pytest.mark.parametrize(
    "choice",
    [
        {"body": "decoder-only", "decoder_positions": "learned"},
        {"body": "encoder-decoder", "decoder_positions": "learned"},
        {"body": "encoder-decoder", "encoder_positions": "learned"},
        {
            "body": "encoder-decoder",
            "encoder_positions": "learned",
            "decoder_positions": "learned",
        },
    ],
)
@pytest.mark.parametrize(("num_problem", "num_answer"), [(7, 7), (7, 90), (30, 1)])
def test_the_named_number_of_positions_is_enough_for_all_that_follows(
    choice, num_problem: int, num_answer: int, tiny_config
) -> None:
    def with_positions(num: int):
        return build_model(tiny_config(max_positions=num, **choice)).body

    with pytest.raises(UsageError, match="max_positions=") as refused:
        with_positions(5).require(num_problem, num_answer)
    named = int(re.search(r"max_positions=(\d+)", str(refused.value))[1])
    body = with_positions(named)

    length = max(num_answer, answer_limit(num_problem))
    problem, mask = torch.zeros(1, num_problem, 16), torch.ones(1, 1, 1, num_problem).bool()
    with torch.no_grad():
        state = body.begin(Problems(problem, mask, None), length)
        for _ in range(length):
            body.step(torch.zeros(1, 16), state)
    with pytest.raises(UsageError, match=f"max_positions={named}"):
        with_positions(named - 1).require(num_problem, num_answer)


@every_body
def test_trees_in_the_decoder_are_refused(body: str, tiny_config) -> None:
    with pytest.raises(UsageError, match="decoder_positions=tree: answers are no trees"):
        build_model(tiny_config(body=body, decoder_positions="tree"))


def test_heads_that_do_not_share_the_width_are_refused(tiny_config) -> None:
    with pytest.raises(UsageError, match="width=16 cannot be shared by num_heads=3"):
        build_model(tiny_config(num_heads=3))
