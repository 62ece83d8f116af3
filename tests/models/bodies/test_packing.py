"""Without padding the same comes out."""

import numpy as np
import pytest
import torch

from symshift.models.batches import batch_of
from symshift.models.building import build_model
from symshift.models.encoding import EncodedRows, Ragged

BODIES = [
    {"body": "encoder-decoder"},
    {"body": "encoder-decoder", "decoder_positions": "sinusoidal"},
    {"body": "decoder-only"},
    {"body": "decoder-only", "decoder_positions": "learned", "max_positions": 60},
]
COPIES = [
    {},
    {"copy_attention": "true"},
    {"copy_attention": "true", "copy_place": "after-norm", "copy_heads": 2},
    {"copy_attention": "true", "copy_place": "every-layer"},
]


@pytest.mark.parametrize("copies", COPIES)
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("method", ["learned", "interchangeable"])
def test_packed_rows_have_the_loss_and_gradients_of_padded_ones(
    tiny_config, encoded: EncodedRows, method: str, body: dict, copies: dict
) -> None:
    batch = batch_of(encoded, np.array([3, 60, 17, 4, 31]))
    assert len({*encoded.target.lengths[[3, 60, 17, 4, 31]]}) > 2
    found = []
    for each in (batch, batch._replace(source_places=None, label_places=None)):
        model = build_model(tiny_config(method, **body, **copies))
        rows = model.rows(3, torch.Generator().manual_seed(2))
        loss = model.batch_loss(each, rows)
        loss.backward()
        found.append((loss.item(), {n: p.grad for n, p in model.named_parameters()}))

    (packed, packed_gradients), (padded, padded_gradients) = found
    assert packed == pytest.approx(padded, rel=1e-5)
    for name, gradient in padded_gradients.items():
        torch.testing.assert_close(packed_gradients[name], gradient, rtol=1e-3, atol=1e-6)


def test_places_are_those_of_what_is_no_padding() -> None:
    ragged = Ragged.of([[1, 2, 3], [4], [5, 6], [7, 8, 9, 10]])
    rows_B = np.array([2, 0, 1, 0])

    padded = ragged.padded(rows_B)
    assert padded.flatten()[ragged.places(rows_B)].tolist() == [5, 6, 1, 2, 3, 4, 1, 2, 3]
    shorter = padded[:, :-1].flatten()[ragged.places(rows_B, shorter=1)]
    assert shorter.tolist() == [5, 1, 2, 1, 2]
