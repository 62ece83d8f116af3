import itertools

import pytest
import torch

from symshift.models.batches import batch_of
from symshift.models.bodies.body import BodyOptions
from symshift.models.bodies.copying import CopyAttention
from symshift.models.building import build_model, parameter_counts
from symshift.models.encoding import EncodedRows
from symshift.models.model import ReferenceModel

every_body = pytest.mark.parametrize("body", ["encoder-decoder", "decoder-only"])


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def plain_copies(copying: CopyAttention, states, asking, embedded, allowed) -> torch.Tensor:
    """Return softmax((Y W_Q)(Y W_K)^T / sqrt(K)) e, a number at a time."""
    width, heads = states.shape[-1], len(copying.gates)
    share = width // heads
    normed, asked = ((y - y.mean(-1, keepdim=True)) for y in (states, asking))
    normed, asked = (y / (y.square().mean(-1, keepdim=True) + 1e-5).sqrt() for y in (normed, asked))
    keys, queries = normed @ copying.project_keys.weight.T, asked @ copying.project_queries.weight.T
    out = torch.zeros(asking.shape[0], embedded.shape[-1])
    for head, (at, query) in itertools.product(range(heads), enumerate(queries)):
        part = slice(head * share, (head + 1) * share)
        scores = {
            other: (query[part] @ key[part]).item() / share**0.5
            for other, key in enumerate(keys)
            if allowed(at, other)
        }
        total = sum(torch.tensor(score).exp() for score in scores.values())
        for other, score in scores.items():
            weight = torch.tensor(score).exp() / total
            out[at] += copying.gates[head] * weight * embedded[other]
    return out


@pytest.mark.parametrize(("heads", "gate"), [(1, None), (4, None), (2, "learned")])
@torch.no_grad()
def test_copies_follow_the_formula(heads: int, gate: str | None) -> None:
    options = BodyOptions(
        width=8, num_heads=2, copy_attention=True, copy_heads=heads, copy_gate=gate
    )
    copying = CopyAttention(options)
    assert copying.gates.tolist() == [1 / heads] * heads
    copying.gates += drawn(heads)
    states, asking, embedded = drawn(6, 8, seed=1), drawn(4, 8, seed=2), drawn(6, 8, seed=3)
    mask = torch.tensor([True, True, False, True, True, False])

    seen = copying.key_values(states[None], embedded[None])
    masked = copying(asking[None], seen, mask[None, None, None])[0]
    causal = copying(states[None], seen, causal=True)[0]

    expected = plain_copies(copying, states, asking, embedded, lambda _, other: mask[other])
    assert torch.allclose(masked, expected, atol=1e-5)
    expected = plain_copies(copying, states, states, embedded, lambda at, other: other <= at)
    assert torch.allclose(causal, expected, atol=1e-5)


def indifferent(model: ReferenceModel) -> ReferenceModel:
    """Let all copies weigh the same, and nothing but them reach the end."""
    with torch.no_grad():
        for name, parameter in model.body.named_parameters():
            if "project_queries" in name and "copying" in name:
                parameter.zero_()
        *_, norm = (m for m in model.body.modules() if isinstance(m, torch.nn.LayerNorm))
        norm.weight.zero_()
        norm.bias.zero_()
    return model.eval()


@every_body
@torch.no_grad()
def test_copies_are_raw_embeddings_at_the_scale_of_the_inputs(
    body: str, tiny_config, encoded: EncodedRows
) -> None:
    copying = {"copy_attention": True, "copy_place": "after-norm", "decoder_positions": "learned"}
    model = indifferent(build_model(tiny_config("learned", body=body, **copying)))
    rows, batch = model.rows(3, torch.Generator()), batch_of(encoded, torch.arange(20).numpy())
    scaled = rows.input * rows.input.shape[1] ** 0.5
    hidden = model._hidden(batch, rows)

    for row, source in enumerate(batch.source):
        problem = scaled[source[source != 0]]
        for place in range(hidden.shape[1]):
            read = problem
            if body == "decoder-only":
                read = torch.cat((problem, scaled[batch.target[row, : place + 1]]))
            assert torch.allclose(hidden[row, place], read.mean(0), atol=1e-5)


@every_body
def test_copy_attention_costs_two_square_maps_and_changes_no_other_first_value(
    body: str, tiny_config
) -> None:
    def build(**options: object):
        config = tiny_config("learned", body=body, **options)
        model = build_model(config)
        return model.state_dict(), parameter_counts(config, model)

    plain, counts = build()
    copying, copy_counts = build(copy_attention=True)
    _, gated = build(copy_attention=True, copy_gate="learned", copy_heads=4)
    _, every = build(copy_attention=True, copy_place="every-layer")

    assert "copy_attention" not in counts
    assert copy_counts["copy_attention"] == copy_counts["body"] - counts["body"] == 2 * 16 * 16
    assert gated["copy_attention"] == 2 * 16 * 16 + 4
    assert every["copy_attention"] == 2 * 2 * 16 * 16
    assert all(torch.equal(plain[name], copying[name]) for name in plain)


@every_body
@pytest.mark.parametrize("place", ["residual", "every-layer"])
def test_copies_change_the_answer(body: str, place: str, tiny_config, encoded: EncodedRows) -> None:
    batch = batch_of(encoded, torch.arange(20).numpy())
    models = [
        build_model(tiny_config("learned", body=body, **copying)).eval()
        for copying in ({}, {"copy_attention": True, "copy_place": place})
    ]
    plain, copied = (m.answer_logits(batch, m.rows(3, torch.Generator())) for m in models)

    assert not torch.allclose(plain, copied, atol=1e-2)


@every_body
@torch.no_grad()
def test_copies_are_asked_for_with_the_states_before_the_last_layer(
    body: str, tiny_config, encoded: EncodedRows
) -> None:
    model = build_model(tiny_config("learned", body=body, copy_attention=True)).eval()
    (copying,) = (m for m in model.body.modules() if isinstance(m, CopyAttention))
    (layer,) = (m for m in model.body.modules() if getattr(m, "copying", None) is copying)
    seen = {}
    for name, module in (("copying", copying), ("layer", layer)):
        module.register_forward_pre_hook(lambda _, given, name=name: seen.update({name: given[0]}))
    batch = batch_of(encoded, torch.arange(20).numpy())
    model.answer_logits(batch, model.rows(3, torch.Generator()))

    assert torch.equal(seen["copying"], seen["layer"])
