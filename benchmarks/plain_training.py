"""The published loop of training, written plainly: what benchmarks/training.py compares with.

As the public code of Interchangeable Token Embeddings (arXiv 2410.17161) does it, in words of our
own: rows of a batch in random order, padded in Python to the longest; AdaCos on the tokens that are
no padding; AdamW as PyTorch has it by default. Left out, in its favour: the deterministic mode that
its script asks for, and what the library around its loop does besides.

Shapes: B batch, S problem tokens, T answer tokens, D width, V rows, N tokens of all answers.
"""

import math
from collections.abc import Iterator

import numpy as np
import torch
from plain_model import PlainModel
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

from symshift.models.batches import batch_of
from symshift.models.configuration import RunConfig
from symshift.models.encoding import PAD, EncodedRows

Row = tuple[Tensor, Tensor, Tensor]
MAX_SCALE = 100.0


def plain_rows(encoded: EncodedRows) -> list[Row]:
    """Return each row's problem, its answer and the branches to its problem's nodes."""
    rows = []
    for number in range(len(encoded)):
        source_1S, target_1T, paths_1S, *_ = batch_of(encoded, np.array([number]))
        assert paths_1S is not None
        branches = [branches_of(packed) for packed in paths_1S[0].tolist()]
        depth = max(map(len, branches))
        padded = [choices + [0.0] * (depth - len(choices)) for choices in branches]
        rows.append((source_1S[0], target_1T[0], torch.tensor(padded)))
    return rows


def branches_of(packed: int) -> list[float]:
    """Return a packed path (encoding.pack_path) as pairs, that nearest to the node first."""
    pairs = {"0": (1.0, 0.0), "1": (0.0, 1.0)}
    return [value for choice in reversed(bin(packed)[3:]) for value in pairs[choice]]


def collated(rows: list[Row], width: int) -> Row:
    """Pad rows to the longest of them: source_BS, target_BT, branches_BSD."""
    num_source = max(len(source) for source, _, _ in rows)
    num_target = max(len(target) for _, target, _ in rows)
    return (
        torch.stack([F.pad(source, (0, num_source - len(source))) for source, _, _ in rows]),
        torch.stack([F.pad(target, (0, num_target - len(target))) for _, target, _ in rows]),
        torch.stack(
            [
                F.pad(branches, (0, width - branches.shape[1], 0, num_source - len(branches)))
                for _, _, branches in rows
            ]
        ),
    )


def adacos(cosines_NV: Tensor, labels_N: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
    """Return the loss, and AdaCos's scale after this batch (arXiv 1905.00292)."""
    is_kept = labels_N != PAD
    cosines_NV, labels_N = cosines_NV[is_kept], labels_N[is_kept]
    with torch.no_grad():
        right_N = cosines_NV.gather(1, labels_N[:, None])
        wrong_NV = torch.exp(scale * cosines_NV).scatter(1, labels_N[:, None], 0.0)
        angle = torch.acos(right_N.clamp(-1 + 1e-6, 1 - 1e-6)).median()
        scale = torch.log(wrong_NV.sum() / len(labels_N)) / angle.clamp(max=math.pi / 4).cos()
        scale = scale.clamp(1.0, MAX_SCALE)
    return F.cross_entropy(scale * cosines_NV, labels_N), scale


class PlainTrainer:
    """The plain model in training, on rows in random order."""

    def __init__(self, config: RunConfig, rows: list[Row], device: torch.device) -> None:
        self._config, self._device = config.train, device
        self.model = PlainModel(config).to(device)
        # Neither pad nor start is a class.
        num_classes = config.codec.num_fixed + len(config.window) - 2
        self.scale = torch.tensor(math.sqrt(2) * math.log(num_classes - 1), device=device)
        self.loss = self.norm = torch.zeros((), device=device)
        matrices = [p for p in self.model.parameters() if p.dim() > 1]
        others = [p for p in self.model.parameters() if p.dim() == 1]
        self._optimizer = torch.optim.AdamW(
            [
                {"params": matrices, "weight_decay": config.train.weight_decay},
                {"params": others, "weight_decay": 0.0},
            ],
            lr=config.train.lr,
            betas=(0.9, 0.95),
        )
        self._schedule = torch.optim.lr_scheduler.LambdaLR(self._optimizer, self._share)
        self._batches = self._endless(rows)

    def _share(self, step: int) -> float:
        """Return the share of the peak rate for a step, counted from 0."""
        warmup, steps = self._config.warmup_steps, self._config.steps
        if step < warmup:
            return (step + 1) / warmup
        return 0.5 * (1 + math.cos(math.pi * (step + 1 - warmup) / max(steps - warmup, 1)))

    def _endless(self, rows: list[Row]) -> Iterator[Row]:
        """Yield batches; each epoch has its own order."""
        loader: DataLoader[Row] = DataLoader(
            rows,  # type: ignore[arg-type]
            batch_size=self._config.batch_size,
            shuffle=True,
            collate_fn=lambda chosen: collated(chosen, self._config.width),
        )
        while True:
            yield from loader

    def step(self) -> None:
        """Do the next step."""
        source_BS, target_BT, branches_BSD = (x.to(self._device) for x in next(self._batches))
        cosines_BTV = self.model(source_BS, target_BT[:, :-1], branches_BSD)
        self.loss, self.scale = adacos(
            cosines_BTV.flatten(0, 1), target_BT[:, 1:].flatten(), self.scale
        )
        self.loss.backward()  # type: ignore[no-untyped-call]
        self.norm = nn.utils.clip_grad_norm_(self.model.parameters(), self._config.clip_norm)
        self._optimizer.step()
        self._schedule.step()
        self._optimizer.zero_grad()
        self.loss = self.loss.detach()
