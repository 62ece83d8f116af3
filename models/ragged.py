"""Rows of numbers of different lengths, that are padded a batch at a time.

Shapes: B rows of a batch, T tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from symshift.models.streams import sent

AnyInt = np.signedinteger[Any]
AnyInts = npt.NDArray[AnyInt]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Ragged:
    """Rows of whole numbers, of different lengths, one behind the other in one array."""

    lengths: Ints
    """The length of each row, always on the CPU."""
    values: Tensor
    """The numbers, and a 0 behind them."""
    starts: Tensor
    """Where each row starts."""
    sizes: Tensor
    """The lengths again, where the values are."""

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> "Ragged":
        """Store rows; numbers below 2^31 take 4 bytes each, others 8."""
        values = np.fromiter(chain.from_iterable(rows), np.int64)
        is_small = values.max(initial=0) < 1 << 31
        return cls.packed(lengths_of(rows), values.astype(np.int32) if is_small else values)

    @classmethod
    def packed(cls, lengths: Ints, values: AnyInts) -> "Ragged":
        """Store rows that lie one behind the other."""
        return cls.stored(lengths, np.append(values, values.dtype.type(0)))

    @classmethod
    def stored(cls, lengths: Ints, values: AnyInts) -> "Ragged":
        """Take rows one behind the other with a 0 behind them, without copying the numbers."""
        return cls(
            lengths=lengths,
            values=torch.from_numpy(values),
            starts=torch.from_numpy(lengths.cumsum() - lengths),
            sizes=torch.from_numpy(lengths),
        )

    @classmethod
    def joined(cls, parts: Sequence["Ragged"]) -> "Ragged":
        """Store the rows of several, in order."""
        values = [*(part.values[:-1] for part in parts), parts[-1].values[-1:]]
        lengths = np.concatenate([part.lengths for part in parts])
        return cls.stored(lengths, torch.cat(values).numpy())

    def __len__(self) -> int:
        return len(self.lengths)

    def to(self, device: torch.device) -> "Ragged":
        """Return the same rows on a device."""
        moved = {name: getattr(self, name).to(device) for name in ("values", "starts", "sizes")}
        return replace(self, **moved)

    def padded(self, rows_B: Ints) -> Tensor:
        """Return some rows as one tensor_BT of int64, with zeros behind the shorter ones."""
        device = self.values.device
        chosen_B = sent(torch.from_numpy(rows_B), device)
        places_T = torch.arange(int(self.lengths[rows_B].max()), device=device)
        at_BT = self.starts[chosen_B, None] + places_T
        inside_BT = places_T < self.sizes[chosen_B, None]
        values_BT = self.values[at_BT.clamp(max=len(self.values) - 1)]
        return values_BT.long().masked_fill(~inside_BT, 0)

    def places(self, rows_B: Ints, *, shorter: int = 0) -> Tensor:
        """Return where the numbers of some rows stand in what `padded` returns, flattened.

        Args:
            rows_B: The rows.
            shorter: How many numbers at each row's end are left out, in either.
        """
        lengths_B = self.lengths[rows_B] - shorter
        first_B = np.arange(len(rows_B)) * lengths_B.max()
        offsets_B = first_B - (lengths_B.cumsum() - lengths_B)
        at_N = np.repeat(offsets_B, lengths_B) + np.arange(lengths_B.sum())
        return sent(torch.from_numpy(at_N), self.values.device)


def lengths_of(rows: Sequence[Sequence[Any]]) -> Ints:
    """Return the length of each row."""
    return np.fromiter(map(len, rows), np.int64, len(rows))
