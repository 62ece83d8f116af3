"""The optimiser and its schedule."""

import math

import torch

from symshift.models.configuration import TrainConfig
from symshift.models.model import ReferenceModel

BETAS = (0.9, 0.95)


def learning_rate(step: int, config: TrainConfig) -> float:
    """Return the rate of a step, counted from 1: a linear warm-up, then a cosine that ends at 0."""
    if step <= config.warmup_steps:
        return config.lr * step / config.warmup_steps
    rest = max(config.steps - config.warmup_steps, 1)
    return config.lr * 0.5 * (1 + math.cos(math.pi * (step - config.warmup_steps) / rest))


def build_optimizer(model: ReferenceModel, config: TrainConfig) -> torch.optim.AdamW:
    """Return AdamW with weight decay on matrices and tables, and none on biases and norms.

    Groups of the embedding method's own values are marked: they follow its schedule.
    """
    own = {*model.method.parameters()}
    trained = [p for p in model.parameters() if p.requires_grad]
    groups = [
        {
            "params": [p for p in trained if (p in own) is is_own and (p.dim() > 1) is is_matrix],
            "weight_decay": config.weight_decay if is_matrix else 0.0,
            "is_own": is_own,
        }
        for is_own in (False, True)
        for is_matrix in (True, False)
    ]
    fused = trained[0].device.type in ("cpu", "cuda")
    return torch.optim.AdamW([g for g in groups if g["params"]], lr=0.0, betas=BETAS, fused=fused)
