"""Losses over scores of the possible answers, and the scale that goes with them.

A batch may be computed in parts, one after another or on several devices: a part's loss is then
divided by the number of labels of the whole batch, so that the parts' losses add up to its mean.

Shapes: N positions, C classes.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

IGNORED = -100
MIN_SCALE = 1.0
MAX_SCALE = 100.0


def _cross_entropy(logits_NC: Tensor, labels_N: Tensor, num_labels: int | None) -> Tensor:
    if num_labels is None:
        return F.cross_entropy(logits_NC, labels_N, ignore_index=IGNORED)
    total = F.cross_entropy(logits_NC, labels_N, ignore_index=IGNORED, reduction="sum")
    return total / num_labels


class CrossEntropy(nn.Module):
    """The plain loss: scores are logits as they are."""

    scale: Tensor
    follows_batches = False

    def __init__(self, num_classes: int) -> None:
        super().__init__()
        self.register_buffer("scale", torch.ones(()), persistent=False)

    def forward(self, scores_NC: Tensor, labels_N: Tensor, num_labels: int | None = None) -> Tensor:
        """Return the mean cross-entropy over the labels that are not IGNORED, see AdaCos."""
        return _cross_entropy(scores_NC, labels_N, num_labels)


class Angles(NamedTuple):
    """What AdaCos's scale follows, of the labels of a batch or of a part of it."""

    log_wrong: Tensor
    """The logarithm of the sum of exp(scale * cosine) over labels and their wrong classes: (1,)."""
    num_labels: Tensor
    """The number of labels, as a float: (1,)."""
    negative_cosines: Tensor
    """The negative cosine to each label's class, and infinity for what is no label: N."""

    @classmethod
    def joined(cls, parts: list["Angles"]) -> "Angles":
        """Return those of all parts."""
        return cls(*(torch.cat(values) for values in zip(*parts, strict=True)))


class AdaCos(nn.Module):
    """Cross-entropy of cosines times a scale that follows the training (arXiv 1905.00292).

    For sequences as in Interchangeable Token Embeddings (arXiv 2410.17161): batch and length are
    merged, padding is left out, and the scale is at most 100. A floor of 1 is ours, also for the
    scale it starts with. The scale is part of the model: decoding uses it too.
    """

    scale: Tensor
    follows_batches = True

    def __init__(self, num_classes: int) -> None:
        super().__init__()
        start = math.sqrt(2) * math.log(max(num_classes - 1, 1))
        self.register_buffer("scale", torch.tensor(start).clamp(MIN_SCALE, MAX_SCALE))
        self.gather: Callable[[Angles], Angles] | None = None
        """Joins the angles of a batch's parts on other devices, if there are any."""
        self.is_held = False
        """Whether the scale stays, for it was moved by `move` already."""

    def forward(
        self, cosines_NC: Tensor, labels_N: Tensor, num_labels: int | None = None
    ) -> Tensor:
        """Return the loss; training moves the scale.

        Args:
            cosines_NC: The cosines to the classes.
            labels_N: The right classes; IGNORED for padding.
            num_labels: What the sum of the labels' losses is divided by, if not their own number.
        """
        if self.training and not self.is_held:
            self.move(angles(cosines_NC.detach(), labels_N, self.scale))
        # A copy, for the next step writes into the buffer and the backward pass needs this value.
        scale = self.scale.clone()
        return _cross_entropy(scale * cosines_NC, labels_N, num_labels)

    def move(self, seen: Angles) -> None:
        """Let the scale follow a batch."""
        self.scale.copy_(next_scale(seen if self.gather is None else self.gather(seen)))


def angles(cosines_NC: Tensor, labels_N: Tensor, scale: Tensor) -> Angles:
    """Measure what AdaCos's scale follows."""
    kept_N = labels_N != IGNORED
    target_N1 = labels_N.clamp(min=0)[:, None]
    wrong_NC = (scale * cosines_NC).scatter(1, target_N1, -torch.inf)
    wrong_NC = wrong_NC.masked_fill(~kept_N[:, None], -torch.inf)
    # The cosine falls with the angle, so the ignored come last, and no angle is computed.
    negative_N = torch.where(kept_N, -cosines_NC.gather(1, target_N1)[:, 0], torch.inf)
    # In one piece: exp(100) overflows float32.
    return Angles(wrong_NC.logsumexp(dim=(0, 1))[None], kept_N.sum()[None].float(), negative_N)


def next_scale(seen: Angles) -> Tensor:
    """Return AdaCos's scale after a batch.

    It is log(B) / cos(min(pi/4, median angle to the target)), clamped to [1, 100], where B is the
    mean over positions of the sum of exp(scale * cosine) over the wrong classes. The median of an
    even number of angles is the lower one.
    """
    num_labels = seen.num_labels.sum()
    log_mean = seen.log_wrong.logsumexp(dim=0) - num_labels.log()
    middle = ((num_labels - 1) // 2).long()[None]
    median_cosine = -seen.negative_cosines.sort().values.gather(0, middle)[0]
    return (log_mean / median_cosine.clamp(math.sqrt(0.5), 1.0)).clamp(MIN_SCALE, MAX_SCALE)


LOSS_MODULES: dict[str, type[CrossEntropy] | type[AdaCos]] = {
    "adacos": AdaCos,
    "cross-entropy": CrossEntropy,
}
