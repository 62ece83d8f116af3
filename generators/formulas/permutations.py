"""Keyed pseudo-random permutations of any range, computed element by element."""

import math
from functools import lru_cache
from hashlib import shake_128

from symshift.data.seeds import Draws, Part, seed_from

MAX_SHUFFLED = 512
NUM_ROUNDS = 8

Path = tuple[Part, ...]


@lru_cache(maxsize=2048)
def permutation(size: int, path: Path) -> "Permutation":
    """Return the permutation of range(size) that a path stands for; the last ones are kept."""
    return Permutation(size, path)


class Permutation:
    """A bijection of range(size) that looks random and is a pure function of a path.

    Small ranges are shuffled. Large ones go through a Feistel network over the cells of a grid with
    just over `size` of them, again and again until the result is below `size` (cycle walking; Black
    and Rogaway, "Ciphers with Arbitrary Finite Domains", CT-RSA 2002): nothing is stored.
    """

    __slots__ = ("_extra", "_height", "_key", "_shuffled", "_width", "size")

    def __init__(self, size: int, path: Path) -> None:
        """Choose the permutation.

        Raises:
            ValueError: If the range is empty.
        """
        if size < 1:
            raise ValueError(f"size={size} must be positive")
        self.size = size
        self._shuffled = Draws(*path).sample(size, size) if size <= MAX_SHUFFLED else None
        self._key = seed_from(*path).to_bytes(16, "little")
        self._width = math.isqrt(size - 1) + 1
        self._height = -(-size // self._width)
        # 64 bits more than a coordinate has: what the remainders favour is out of sight.
        self._extra = self._width.bit_length() // 8 + 9

    def __getitem__(self, index: int) -> int:
        """Return where an index of the range goes."""
        if not 0 <= index < self.size:
            raise IndexError(f"index={index} must be in range({self.size})")
        if self._shuffled is not None:
            return self._shuffled[index]
        index = self._encrypted(index)
        while index >= self.size:
            index = self._encrypted(index)
        return index

    def _encrypted(self, index: int) -> int:
        row, column = divmod(index, self._width)
        length = self._extra
        for number in range(0, NUM_ROUNDS, 2):
            word = shake_128(self._key + b"%d:%x" % (number, column)).digest(length)
            row = (row + int.from_bytes(word, "little")) % self._height
            word = shake_128(self._key + b"%d:%x" % (number + 1, row)).digest(length)
            column = (column + int.from_bytes(word, "little")) % self._width
        return row * self._width + column
