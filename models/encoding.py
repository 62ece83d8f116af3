"""Tokens as numbers: ids, packed tree paths, and ragged arrays that are padded a batch at a time.

Ids: 0 pad, 1 start, 2 end, then the task's fixed tokens, then symbols by vocabulary position.

Shapes: N rows, B rows of a batch, T tokens.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from symshift.data.errors import UsageError
from symshift.data.task import Task
from symshift.data.vocabulary import Window, name_at, position_of

PAD, START, END = 0, 1, 2
SPECIAL_TOKENS = ("<pad>", "<start>", "<end>")
MAX_PATH = 62

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Codec:
    """The ids of a task's tokens, for the names of a window."""

    fixed_tokens: tuple[str, ...]
    """The task's tokens that are not symbols."""
    window: Window
    """The names that have ids, in this order."""

    @property
    def num_fixed(self) -> int:
        """The number of ids that are not symbols."""
        return len(SPECIAL_TOKENS) + len(self.fixed_tokens)

    @cached_property
    def _tokens(self) -> tuple[str, ...]:
        return (*SPECIAL_TOKENS, *self.fixed_tokens, *self.window.names())

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {token: number for number, token in enumerate(self._tokens)}

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Return the ids of tokens.

        Raises:
            UsageError: If a symbol is not in the window; the message names the remedy.
        """
        try:
            return [self._ids[token] for token in tokens]
        except KeyError as error:
            raise self._unknown(error.args[0]) from None

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Return the tokens of ids."""
        return [self._tokens[number] for number in ids]

    def _unknown(self, token: str) -> UsageError:
        if (position := position_of(token)) is None:
            return UsageError(f"{token!r} is neither a token of the task nor a symbol's name")
        first, last = name_at(self.window.start), name_at(self.window.stop)
        return UsageError(
            f"the data uses the name {token!r}, but the model has rows for {first} to {last}: "
            f"train it with --set vocabulary={position + 1} or more"
        )


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
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        values = np.zeros(int(lengths.sum()) + 1, np.int64)
        values[:-1] = np.fromiter(chain.from_iterable(rows), np.int64, len(values) - 1)
        if values.max() < 1 << 31:
            values = values.astype(np.int32)
        return cls(
            lengths=lengths,
            values=torch.from_numpy(values),
            starts=torch.from_numpy(lengths.cumsum() - lengths),
            sizes=torch.from_numpy(lengths),
        )

    def __len__(self) -> int:
        return len(self.lengths)

    def to(self, device: torch.device) -> "Ragged":
        """Return the same rows on a device."""
        moved = {name: getattr(self, name).to(device) for name in ("values", "starts", "sizes")}
        return replace(self, **moved)

    def padded(self, rows_B: Ints) -> Tensor:
        """Return some rows as one tensor_BT of int64, with zeros behind the shorter ones."""
        device = self.values.device
        chosen_B = torch.from_numpy(rows_B).to(device)
        places_T = torch.arange(int(self.lengths[rows_B].max()), device=device)
        at_BT = self.starts[chosen_B, None] + places_T
        inside_BT = places_T < self.sizes[chosen_B, None]
        values_BT = self.values[at_BT.clamp(max=len(self.values) - 1)]
        return values_BT.long().masked_fill(~inside_BT, 0)


@dataclass(frozen=True, kw_only=True)
class EncodedRows:
    """The rows of a split as numbers."""

    source: Ragged
    """Problems, each ending with END."""
    target: Ragged
    """Answers, each between START and END."""
    paths: Ragged | None
    """Packed tree paths of the problems' tokens; None where none are needed."""

    def __len__(self) -> int:
        return len(self.source)

    def to(self, device: torch.device) -> "EncodedRows":
        """Return the same rows on a device."""
        return EncodedRows(
            source=self.source.to(device),
            target=self.target.to(device),
            paths=None if self.paths is None else self.paths.to(device),
        )


def encode_problems(
    task: Task, codec: Codec, inputs: Iterable[str], *, with_paths: bool
) -> EncodedRows:
    """Turn problems into numbers, once; their answers hold no more than START.

    Args:
        task: Their task.
        codec: The ids.
        inputs: The problems' texts.
        with_paths: Whether the model needs tree paths.

    Raises:
        UsageError: If a name has no id, or paths are needed and the task's inputs are no trees.
    """
    sources, paths = [], []
    for text in inputs:
        tokens = task.encode_input(text)
        sources.append([*codec.encode(tokens), END])
        if with_paths:
            paths.append(packed_paths(task, tokens))
    return EncodedRows(
        source=Ragged.of(sources),
        target=Ragged.of([[START]] * len(sources)),
        paths=Ragged.of(paths) if with_paths else None,
    )


def encode_rows(
    task: Task, codec: Codec, rows: Iterable[Mapping[str, Any]], *, with_paths: bool
) -> EncodedRows:
    """Turn rows (mappings with `input` and `target`) into numbers, once; see encode_problems."""
    inputs, targets = [], []
    for row in rows:
        inputs.append(row["input"])
        targets.append([START, *codec.encode(task.encode_target(row["target"])), END])
    problems = encode_problems(task, codec, inputs, with_paths=with_paths)
    return replace(problems, target=Ragged.of(targets))


def packed_paths(task: Task, tokens: Sequence[str]) -> list[int]:
    """Return the packed path of each token of a problem, and 0 for the END behind them.

    Raises:
        UsageError: If the task's inputs are no trees.
    """
    paths = task.tree_paths(tokens)
    if paths is None:
        raise UsageError(
            f"the inputs of task {task.name} are no trees: set encoder_positions=sinusoidal"
        )
    return [*map(pack_path, paths), 0]


def pack_path(path: Sequence[int]) -> int:
    """Pack the way to a node into one number: bit j is choice j, and a 1 stands behind the last.

    The root is 1; 0 is no node. Of more than 62 choices the 62 nearest to the node are kept.
    """
    packed = 1
    for choice in reversed(path[:MAX_PATH]):
        packed = packed << 1 | choice
    return packed
