"""Tokens as numbers: ids, and packed tree paths.

Ids: 0 pad, 1 start, 2 end, then the task's fixed tokens, then symbols by vocabulary position.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any

import numpy as np
import torch

from symshift.data.errors import UsageError
from symshift.data.task import Task
from symshift.data.vocabulary import Window, name_at, position_of
from symshift.models.ragged import AnyInt, Ragged, lengths_of

PAD, START, END = 0, 1, 2
SPECIAL_TOKENS = ("<pad>", "<start>", "<end>")
MAX_PATH = 62

_, _START, _END = SPECIAL_TOKENS
_KEPT_ANSWERS = 1 << 14
_KEPT_PATHS = 1 << 16


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

    @property
    def num_ids(self) -> int:
        """The number of ids."""
        return self.num_fixed + len(self.window)

    @property
    def dtype(self) -> np.dtype[AnyInt]:
        """The type that ids are stored in."""
        return np.dtype(np.int16 if self.num_ids <= 1 << 15 else np.int32)

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
            return list(map(self._ids.__getitem__, tokens))
        except KeyError as error:
            raise self._unknown(error.args[0]) from None

    def ragged(self, rows: Sequence[Sequence[str]]) -> Ragged:
        """Return the ids of rows of tokens; raises as encode does."""
        ids = map(self._ids.__getitem__, chain.from_iterable(rows))
        try:
            return Ragged.packed(lengths_of(rows), np.fromiter(ids, self.dtype))
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
class EncodedRows:
    """The rows of a split as numbers."""

    source: Ragged
    """Problems, each ending with END."""
    target: Ragged
    """Answers, each between START and END."""
    paths: Ragged | None
    """Packed tree paths of the problems' tokens; None where none are needed."""

    @classmethod
    def joined(cls, parts: Sequence["EncodedRows"]) -> "EncodedRows":
        """Return the rows of several, in order; all have paths, or none has."""
        paths = [part.paths for part in parts if part.paths is not None]
        return cls(
            source=Ragged.joined([part.source for part in parts]),
            target=Ragged.joined([part.target for part in parts]),
            paths=Ragged.joined(paths) if paths else None,
        )

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
    """Turn problems into numbers; their answers hold no more than START.

    Args:
        task: Their task.
        codec: The ids.
        inputs: The problems' texts.
        with_paths: Whether the model needs tree paths.

    Raises:
        UsageError: If a name has no id, or paths are needed and the task's inputs are no trees.
    """
    problems = list(map(task.encode_input, inputs))
    paths = Ragged.of([packed_paths(task, p) for p in problems]) if with_paths else None
    return EncodedRows(
        source=codec.ragged([(*tokens, _END) for tokens in problems]),
        target=codec.ragged([(_START,)] * len(problems)),
        paths=paths,
    )


def encode_rows(
    task: Task, codec: Codec, rows: Iterable[Mapping[str, Any]], *, with_paths: bool
) -> EncodedRows:
    """Turn rows (mappings with `input` and `target`) into numbers; see encode_problems."""
    texts = [(row["input"], row["target"]) for row in rows]
    batch = [text for text, _ in texts], [answer for _, answer in texts]
    return next(encode_batches(task, codec, [batch], with_paths=with_paths))


def encode_batches(
    task: Task,
    codec: Codec,
    batches: Iterable[tuple[Sequence[str], Sequence[str]]],
    *,
    with_paths: bool,
) -> Iterator[EncodedRows]:
    """Yield batches of inputs and of their targets as numbers; see encode_problems."""
    tokens_of = lru_cache(_KEPT_ANSWERS)(task.encode_target)
    for inputs, targets in batches:
        answers = [(_START, *tokens_of(target), _END) for target in targets]
        problems = encode_problems(task, codec, inputs, with_paths=with_paths)
        yield replace(problems, target=codec.ragged(answers))


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
    return [*map(_packed, paths), 0]


def pack_path(path: Sequence[int]) -> int:
    """Pack the way to a node into one number: bit j is choice j, and a 1 stands behind the last.

    The root is 1; 0 is no node. Of more than 62 choices the 62 nearest to the node are kept.
    """
    packed = 1
    for choice in reversed(path[:MAX_PATH]):
        packed = packed << 1 | choice
    return packed


_packed = lru_cache(_KEPT_PATHS)(pack_path)
