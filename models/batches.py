"""Which rows a training step sees: a pure function of the seed and the step.

Shapes: B rows of a batch, S problem tokens, T answer tokens.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from symshift.data.seeds import numpy_rng
from symshift.models.bodies.packing import UNPACKED, AnyPacking, Packing
from symshift.models.encoding import PAD, EncodedRows
from symshift.models.ragged import Ints


class Batch(NamedTuple):
    """Some rows, padded with PAD: source_BS, target_BT, packed paths_BS where they are used.

    Where their tokens stand is known beforehand, or (None) left open: of problems in BS, of the
    answers' tokens that are labels in B(T-1).
    """

    source: Tensor
    target: Tensor
    paths: Tensor | None
    source_places: Tensor | None = None
    label_places: Tensor | None = None

    @property
    def mask(self) -> Tensor:
        """True on the problems' tokens, False on padding: B11S."""
        return (self.source != PAD)[:, None, None]

    @property
    def problem_packing(self) -> AnyPacking:
        """The problems without padding."""
        if self.source_places is None:
            return UNPACKED
        return Packing(self.source_places, *self.source.shape)

    @property
    def answer_packing(self) -> AnyPacking:
        """The answers without padding, all but their first or all but their last tokens."""
        if self.label_places is None:
            return UNPACKED
        num_rows, length = self.target.shape
        return Packing(self.label_places, num_rows, length - 1)

    def renamed(self, rows_BM: Tensor, num_fixed: int) -> "Batch":
        """Return the batch with each sample's symbols renamed in problem and answer.

        Args:
            rows_BM: Which symbol row stands for each of the M names.
            num_fixed: The ids before the first symbol's.
        """
        fixed = torch.arange(num_fixed, device=rows_BM.device).expand(len(rows_BM), -1)
        ids_BV = torch.cat((fixed, num_fixed + rows_BM), dim=1)
        return self._replace(
            source=ids_BV.gather(1, self.source), target=ids_BV.gather(1, self.target)
        )


def batch_of(encoded: EncodedRows, rows_B: Ints) -> Batch:
    """Return some rows as a batch."""
    source, target = encoded.source, encoded.target
    return Batch(
        source.padded(rows_B),
        target.padded(rows_B),
        None if encoded.paths is None else encoded.paths.padded(rows_B),
        source.places(rows_B),
        target.places(rows_B, shorter=1),
    )


class BatchOrder:
    """Batches of rows of similar length, in an order of their own in each epoch."""

    def __init__(
        self, encoded: EncodedRows, *, batch_size: int, pool_batches: int, seed: int
    ) -> None:
        """Prepare the order.

        Args:
            encoded: The rows.
            batch_size: Rows in a batch; those of an epoch differ by at most one.
            pool_batches: Rows are sorted by length among this many batches; 1 for no sorting.
            seed: The run's seed.
        """
        self._lengths = (encoded.target.lengths, encoded.source.lengths)
        self._pool = batch_size * pool_batches
        self._seed = seed
        self.batches_per_epoch = -(-len(encoded) // batch_size)
        """The number of batches that hold each row once."""
        self._epoch = -1
        self._batches: list[Ints] = []

    def rows(self, step: int) -> Ints:
        """Return the rows of a step, counted from 1."""
        epoch, place = divmod(step - 1, self.batches_per_epoch)
        if epoch != self._epoch:
            self._epoch, self._batches = epoch, self._shuffled(epoch)
        return self._batches[place]

    def _shuffled(self, epoch: int) -> list[Ints]:
        rng = numpy_rng("batches", self._seed, epoch)
        order = rng.permutation(len(self._lengths[0]))
        pools = np.arange(len(order)) // self._pool
        target, source = (lengths[order] for lengths in self._lengths)
        order = order[np.lexsort((target, source, pools))]
        batches = np.array_split(order, self.batches_per_epoch)
        return [batches[place] for place in rng.permutation(len(batches))]
