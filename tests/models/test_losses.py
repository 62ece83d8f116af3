import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from symshift.models.losses import IGNORED, AdaCos, CrossEntropy, angles, next_scale


def plain_adacos(cosines: np.ndarray, labels: np.ndarray, scale: float) -> tuple[float, float]:
    """The update as it is published, in float64 with angles: (loss, new scale)."""
    kept = labels != IGNORED
    cosines, labels = cosines[kept].astype(np.float64), labels[kept]
    rows = np.arange(len(labels))
    exponentials = np.exp(scale * cosines)
    exponentials[rows, labels] = 0.0
    mean = exponentials.sum() / len(labels)
    angles = np.sort(np.arccos(np.clip(cosines[rows, labels], -1, 1)))
    median = angles[(len(angles) - 1) // 2]
    new = math.log(mean) / math.cos(min(math.pi / 4, median))
    new = min(max(new, 1.0), 100.0)
    logits = new * cosines
    log_sums = np.log(np.exp(logits - logits.max(1, keepdims=True)).sum(1)) + logits.max(1)
    return float(np.mean(log_sums - logits[rows, labels])), new


@given(seed=st.integers(0, 2**32), scale=st.floats(1, 60), sharpness=st.floats(0, 1))
@settings(max_examples=80, deadline=None)
def test_adacos_agrees_with_the_published_formula(
    seed: int, scale: float, sharpness: float
) -> None:
    rng = np.random.default_rng(seed)
    cosines = rng.uniform(-1, 1, (23, 7)).astype(np.float32)
    labels = rng.integers(0, 7, 23)
    rows = np.arange(23)
    cosines[rows, labels] += sharpness * (1 - cosines[rows, labels])
    labels[rng.integers(0, 23, 6)] = IGNORED
    loss = AdaCos(7)
    loss.scale.fill_(scale)

    measured = loss(torch.from_numpy(cosines), torch.from_numpy(labels))

    expected, new_scale = plain_adacos(cosines, labels, scale)
    assert loss.scale.item() == pytest.approx(new_scale, rel=1e-4)
    assert measured.item() == pytest.approx(expected, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize(("num_classes", "scale"), [(1, 1.0), (2, 1.0), (20, 4.164)])
def test_first_scale_follows_the_number_of_classes_and_the_floor(num_classes, scale) -> None:
    assert AdaCos(num_classes).scale.item() == pytest.approx(scale, abs=1e-3)


def test_scale_is_clipped_where_it_would_diverge() -> None:
    # Wrong cosines of 0.8 beside right ones of 0.5: the update has no fixed point.
    cosines, labels = torch.full((8, 4), 0.8), torch.zeros(8, dtype=torch.long)
    cosines[:, 0] = 0.5
    scale = torch.tensor(5.0)
    for _ in range(200):
        scale = next_scale(angles(cosines, labels, scale))

    assert scale.item() == 100.0


def test_scale_settles_where_right_answers_are_clear() -> None:
    cosines, labels = torch.full((8, 4), 0.8), torch.zeros(8, dtype=torch.long)
    cosines[:, 0] = 0.99
    scale = torch.tensor(5.0)
    for _ in range(200):
        scale = next_scale(angles(cosines, labels, scale))

    assert 1 < scale.item() < 10


def test_evaluation_leaves_the_scale() -> None:
    loss = AdaCos(5).eval()
    before = loss.scale.clone()
    loss(torch.rand(4, 5), torch.tensor([0, 1, 2, 3]))

    assert torch.equal(loss.scale, before)


def test_ignored_positions_change_nothing() -> None:
    cosines, labels = torch.rand(6, 5), torch.tensor([0, 1, 2, IGNORED, IGNORED, IGNORED])
    long, short = AdaCos(5), AdaCos(5)

    assert long(cosines, labels).item() == pytest.approx(short(cosines[:3], labels[:3]).item())
    assert long.scale.item() == pytest.approx(short.scale.item())


def test_gradient_flows_through_cosines_alone() -> None:
    cosines = torch.rand(4, 5, requires_grad=True)
    loss = AdaCos(5)
    loss(cosines, torch.tensor([0, 1, 2, 3])).backward()

    expected = torch.autograd.grad(
        F.cross_entropy(loss.scale * cosines, torch.tensor([0, 1, 2, 3])), cosines
    )[0]
    assert torch.allclose(cosines.grad, expected)


def test_plain_loss_has_no_scale_to_store() -> None:
    assert not CrossEntropy(5).state_dict()
    assert AdaCos(5).state_dict()
