"""Losses over scores of the possible answers, and the scale that goes with them.

Shapes: N positions, C classes.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

IGNORED = -100
MIN_SCALE = 1.0
MAX_SCALE = 100.0


class CrossEntropy(nn.Module):
    """The plain loss: scores are logits as they are."""

    scale: Tensor

    def __init__(self, num_classes: int) -> None:
        super().__init__()
        self.register_buffer("scale", torch.ones(()), persistent=False)

    def forward(self, scores_NC: Tensor, labels_N: Tensor) -> Tensor:
        """Return the mean cross-entropy over the labels that are not IGNORED."""
        return F.cross_entropy(scores_NC, labels_N, ignore_index=IGNORED)


class AdaCos(nn.Module):
    """Cross-entropy of cosines times a scale that follows the training (arXiv 1905.00292).

    For sequences as in Interchangeable Token Embeddings (arXiv 2410.17161): batch and length are
    merged, padding is left out, and the scale is at most 100. A floor of 1 is ours, also for the
    scale it starts with. The scale is part of the model: decoding uses it too.
    """

    scale: Tensor

    def __init__(self, num_classes: int) -> None:
        super().__init__()
        start = math.sqrt(2) * math.log(max(num_classes - 1, 1))
        self.register_buffer("scale", torch.tensor(start).clamp(MIN_SCALE, MAX_SCALE))

    def forward(self, cosines_NC: Tensor, labels_N: Tensor) -> Tensor:
        """Return the mean loss over the labels that are not IGNORED; training moves the scale."""
        if self.training:
            self.scale.copy_(next_scale(cosines_NC.detach(), labels_N, self.scale))
        # A copy, for the next step writes into the buffer and the backward pass needs this value.
        scale = self.scale.clone()
        return F.cross_entropy(scale * cosines_NC, labels_N, ignore_index=IGNORED)


def next_scale(cosines_NC: Tensor, labels_N: Tensor, scale: Tensor) -> Tensor:
    """Return AdaCos's scale after a batch.

    It is log(B) / cos(min(pi/4, median angle to the target)), clamped to [1, 100], where B is the
    mean over positions of the sum of exp(scale * cosine) over the wrong classes. The median of an
    even number of angles is the lower one.
    """
    kept_N = labels_N != IGNORED
    num_kept = kept_N.sum()
    target_N1 = labels_N.clamp(min=0)[:, None]
    wrong_NC = (scale * cosines_NC).scatter(1, target_N1, -torch.inf)
    wrong_NC = wrong_NC.masked_fill(~kept_N[:, None], -torch.inf)
    # log(B) in one piece: exp(100) overflows float32.
    log_mean = wrong_NC.logsumexp(dim=(0, 1)) - num_kept.log()
    # The cosine falls with the angle, so the ignored come last, and no angle is computed.
    negative_N = torch.where(kept_N, -cosines_NC.gather(1, target_N1)[:, 0], torch.inf)
    median_cosine = -negative_N.sort().values.gather(0, ((num_kept - 1) // 2)[None])[0]
    return (log_mean / median_cosine.clamp(math.sqrt(0.5), 1.0)).clamp(MIN_SCALE, MAX_SCALE)


LOSS_MODULES: dict[str, type[CrossEntropy] | type[AdaCos]] = {
    "adacos": AdaCos,
    "cross-entropy": CrossEntropy,
}
