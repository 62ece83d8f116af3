"""Randomness as a function: a path of names and numbers is hashed into a stream of draws.

Seeds are never added up (`seed + index` makes neighbouring seeds share their rows); they are one
part of a hashed path. The stream is SHAKE-128 of the path, so it is the same on every machine and
does not change with a library's version.
"""

import hashlib
import struct
from collections.abc import Iterator, MutableSequence, Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")
Part = str | int | Sequence["Part"]

BLOCK_WORDS = 64
_MANY_WORDS = 256
_WORD_SPACE = 1 << 32


def _serialise(part: Part) -> bytes:
    if isinstance(part, str):
        body = part.encode()
        return b"s%d:%b" % (len(body), body)
    if isinstance(part, int):
        return b"i%d;" % part
    return b"(" + b"".join(map(_serialise, part)) + b")"


def seed_from(*path: Part) -> int:
    """Return a 128-bit seed that only this path has.

    Args:
        path: Strings, integers and nested sequences of them. `("a", 12)`, `("a", 1, 2)` and
            `("a1", 2)` are different paths.
    """
    return int.from_bytes(hashlib.shake_128(_serialise(path)).digest(16), "little")


def numpy_rng(*path: Part) -> np.random.Generator:
    """Return a NumPy generator for vectorised draws, seeded by a path."""
    return np.random.Generator(np.random.PCG64(seed_from(*path)))


class Draws:
    """A stream of exact random choices that is a pure function of a path.

    Use it where a draw decides data: its values depend on nothing but the path.
    """

    __slots__ = ("_at", "_block", "_key", "_words")

    def __init__(self, *path: Part) -> None:
        self._key = _serialise(path)
        self._block = 0
        self._words: tuple[int, ...] = ()
        self._at = 0

    def _next_block(self, words: int = BLOCK_WORDS) -> bytes:
        key = self._key + b"#%d" % self._block
        self._block += 1
        return hashlib.shake_128(key).digest(4 * words)

    def _word(self) -> int:
        if self._at == len(self._words):
            self._words = struct.unpack(f"<{BLOCK_WORDS}I", self._next_block())
            self._at = 0
        self._at += 1
        return self._words[self._at - 1]

    def below(self, bound: int) -> int:
        """Return a uniform integer in [0, bound), exactly, for any positive bound."""
        if bound <= 0:
            raise ValueError(f"bound={bound} must be positive")
        words = -(-bound.bit_length() // 32) or 1
        space = 1 << (32 * words)
        while True:
            value = self._word()
            for _ in range(words - 1):
                value = value << 32 | self._word()
            product = value * bound
            # Multiply-shift is exact once the few low products that would favour
            # some results are drawn again (Lemire 2019).
            if product % space >= space % bound:
                return product // space

    def integers(self, bound: int) -> Iterator[int]:
        """Yield uniform integers in [0, bound) without end, as exact as `below`, but faster.

        Raises:
            ValueError: If the bound is not from 1 to 2^32.
        """
        if not 0 < bound <= _WORD_SPACE:
            raise ValueError(f"bound={bound} must be from 1 to {_WORD_SPACE}")
        while True:
            words = np.frombuffer(self._next_block(_MANY_WORDS), "<u4").astype(np.uint64)
            products = words * np.uint64(bound)
            exact = products % np.uint64(_WORD_SPACE) >= _WORD_SPACE % bound
            yield from (products[exact] >> np.uint64(32)).tolist()

    def uniform(self) -> float:
        """Return a float in [0, 1) with 53 random bits."""
        return ((self._word() >> 5) * 67108864 + (self._word() >> 6)) / 9007199254740992

    def fractions(self) -> Iterator[float]:
        """Yield floats in [0, 1) with 53 random bits, without end, faster than `uniform`."""
        while True:
            for word in struct.unpack(f"<{BLOCK_WORDS // 2}Q", self._next_block()):
                yield (word >> 11) * 2.0**-53

    def choice(self, items: Sequence[T]) -> T:
        """Return one item, all equally likely."""
        return items[self.below(len(items))]

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Put the items in a uniformly random order, in place."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]

    def sample(self, count: int, num: int) -> list[int]:
        """Return `num` distinct integers of range(count) in random order.

        Raises:
            ValueError: If there are fewer than `num` integers to choose from.
        """
        if num > count:
            raise ValueError(f"cannot draw num={num} distinct values from count={count}")
        # A sparse Fisher-Yates shuffle: only the touched places are stored.
        moved: dict[int, int] = {}
        drawn = []
        for place in range(num):
            other = place + self.below(count - place)
            drawn.append(moved.get(other, other))
            moved[other] = moved.get(place, place)
        return drawn
