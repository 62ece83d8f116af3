"""Collapse over the training: what rows of seen and of unseen symbols look like, and what they do.

The rise of the raw cosine happens in the first hundreds of steps (methods of "To See the Unseen",
arXiv 2604.21632), so the steps are spread evenly in their logarithm. Beside what rows look like
stand what they do to answers, on validation rows whose symbols are written in the set's names:
`margin`, the right symbol's logit less the greatest other one of the set, where the right token is
a symbol; and `mass`, the share of the softmax that the set gets at these places.

Shapes: B rows of a batch, T answer tokens, V rows of a table, C possible answers, M symbols.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from symshift.data.errors import DataError
from symshift.data.files import whole_file
from symshift.metrics.collapse import collapse_of
from symshift.models.batches import Batch
from symshift.models.embedding import TableShape
from symshift.models.encoding import PAD
from symshift.models.model import FIRST_ANSWER, ReferenceModel, Rows

_DECADE = (100, 250, 500)
_FIRST = (0, 50)


def is_monitored(step: int) -> bool:
    """Tell whether rows are looked at behind a step: 0, 50, 100, 250, 500, 1000, 2500, ..."""
    while step >= 10 * _DECADE[0] and step % 10 == 0:
        step //= 10
    return step in (*_FIRST, *_DECADE)


@dataclass(frozen=True, kw_only=True)
class Monitor:
    """Looks at the rows of a model in training."""

    shape: TableShape
    """The sizes of its table, and which names training may use."""
    batch: Batch | None
    """Some validation rows; without them, only what rows look like is told."""

    def measure(self, model: ReferenceModel, rows: Rows) -> dict[str, Any]:
        """Return measures by set: seen or unseen symbols, as they read and, untied, as they answer.

        Sets of fewer than two rows are left out.
        """
        num_symbols = len(rows.input) - self.shape.num_fixed
        found: dict[str, Any] = {}
        for name, ids in (("seen", self.shape.seen), ("unseen", self.shape.unseen)):
            ids = ids[ids < self.shape.num_fixed + num_symbols]
            if len(ids) < 2:
                continue
            sides = {"input": rows.input[ids]}
            if model.method.output != "tied":
                sides["output"] = rows.answers[ids - FIRST_ANSWER]
            found[name] = {
                side: collapse_of(part.detach().float().cpu().numpy()).to_plain()
                for side, part in sides.items()
            }
            found[name] |= self._effect(model, rows, ids)
        return found

    @torch.no_grad()
    def _effect(self, model: ReferenceModel, rows: Rows, ids: Tensor) -> dict[str, float]:
        batch = None if self.batch is None else _written_in(self.batch, self.shape, ids)
        if batch is None:
            return {}
        was_training = model.training
        model.eval()
        logits_BTC = model.answer_logits(batch, rows).float()
        model.train(was_training)
        labels_BT, places = batch.target[:, 1:], (ids - FIRST_ANSWER).to(logits_BTC.device)
        is_symbol_BT = (labels_BT != PAD) & (labels_BT >= self.shape.num_fixed)
        logits_NC, labels_N = logits_BTC[is_symbol_BT], labels_BT[is_symbol_BT] - FIRST_ANSWER
        if not len(labels_N):
            return {}
        own_NM = logits_NC[:, places]
        right_N = logits_NC.gather(1, labels_N[:, None])[:, 0]
        others_NM = own_NM.masked_fill(places == labels_N[:, None], -torch.inf)
        mass_N = logits_NC.softmax(dim=1)[:, places].sum(dim=1)
        margin = (right_N - others_NM.max(dim=1).values).mean()
        return {"margin": margin.item(), "mass": mass_N.mean().item()}


def _written_in(batch: Batch, shape: TableShape, ids: Tensor) -> Batch | None:
    """Return the batch with its symbols written in the names of a set; None if they are too few."""
    used = torch.unique(batch.source[batch.source >= shape.num_fixed])
    if len(ids) < max(len(used), 2):
        return None
    new = torch.arange(int(used.max()) + 1 if len(used) else 1, device=batch.source.device)
    if not set(used.tolist()) <= set(ids.tolist()):
        new[used] = ids[: len(used)].to(new.device)
    # Answers may name symbols that no problem of the batch has.
    if int(batch.target.max()) >= len(new):
        return None
    return batch._replace(source=new[batch.source], target=new[batch.target])


def draw_collapse(lines: Iterator[Mapping[str, Any]], path: Path) -> bool:
    """Draw the measures of a run's log over its steps; return whether there were any.

    Args:
        lines: The parsed lines of the log.
        path: The picture to write.
    """
    from matplotlib.figure import Figure

    curves: dict[tuple[str, str], dict[str, list[tuple[int, float]]]] = {}
    for line in lines:
        for set_name, sides in line.get("collapse", {}).items():
            for side in ("input", "output"):
                for measure in _DRAWN:
                    if (value := sides.get(side, {}).get(measure)) is not None:
                        _require_number(value, f"{measure} of step {line['step']}")
                        curve = curves.setdefault((set_name, side), {})
                        curve.setdefault(measure, []).append((line["step"], value))
    if not curves:
        return False
    figure = Figure(figsize=(3.2 * len(_DRAWN), 3.2), layout="constrained")
    for axis, measure in zip(figure.subplots(1, len(_DRAWN)), _DRAWN, strict=True):
        for (set_name, side), found in sorted(curves.items()):
            points = found.get(measure, [])
            style = "-" if side == "input" else "--"
            color = "C0" if set_name == "seen" else "C3"
            axis.plot(*zip(*points, strict=True), style, color=color, label=f"{set_name}, {side}")
        axis.set_xscale("symlog", linthresh=50)
        axis.set_xlabel("step")
        axis.set_title(measure.replace("_", " "), fontsize=10)
        axis.grid(alpha=0.25)
    figure.axes[0].legend(frameon=False, fontsize=8)
    with whole_file(path) as hidden:
        figure.savefig(hidden, format="png", dpi=120, metadata={"Software": None})
    return True


def _require_number(value: object, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise DataError(f"{where} in the log is {value!r:.40}, no finite number")


_DRAWN = ("cosine", "centred_cosine", "distance", "norm")
