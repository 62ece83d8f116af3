"""One stream out of several finite ones: in fixed proportions, each element once, by its index."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Generic, TypeVar

from symshift.generators.formulas.permutations import Path, permutation

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class _Phase:
    """A stretch of the stream in which every round takes the same from each part."""

    start: int
    """Index of its first element."""
    bases: tuple[int, ...]
    """What each part gave before."""
    counts: tuple[int, ...]
    """What each part gives in a round."""
    starts: tuple[int, ...]
    """The first slot of each part in a round, before the slots are shuffled."""
    round_size: int
    """Slots in a round."""


class Interleaving(Generic[P]):
    """Which element of which part comes at each index.

    Time runs in rounds. In every round each part gives as many elements as its weight says, in a
    random order; a part with fewer elements left gives those, and the others go on without it. So
    every stretch of the stream has all parts in about their proportions, and every element has one
    index.
    """

    def __init__(self, sizes: Mapping[P, int], weights: Mapping[P, int]) -> None:
        """Plan the stream.

        Args:
            sizes: How many elements each part has.
            weights: How many each gives in a round, as long as it can; positive.
        """
        self.parts = tuple(sizes)
        self.length = sum(sizes.values())
        self._phases: list[_Phase] = []
        left = dict(sizes)
        while any(left.values()):
            counts = {part: min(weights[part], left[part]) for part in left}
            rounds = min(left[part] // count for part, count in counts.items() if count)
            bases = tuple(sizes[part] - left[part] for part in left)
            starts = accumulate(counts.values(), initial=0)
            *firsts, round_size = starts
            start = self.length - sum(left.values())
            self._phases.append(
                _Phase(start, bases, tuple(counts.values()), tuple(firsts), round_size)
            )
            left = {part: left[part] - rounds * counts[part] for part in left}
        self._starts = [phase.start for phase in self._phases]

    def locate(self, index: int, path: Path) -> tuple[P, int]:
        """Return the part at an index of the stream, and which of its elements comes there.

        Args:
            index: Below the length of the stream.
            path: What the order within rounds is a function of.
        """
        if not 0 <= index < self.length:
            raise IndexError(f"index={index} must be in range({self.length})")
        number = bisect_right(self._starts, index) - 1
        phase = self._phases[number]
        turn, slot = divmod(index - phase.start, phase.round_size)
        slot = permutation(phase.round_size, (*path, "round", number, turn))[slot]
        at = bisect_right(phase.starts, slot) - 1
        element = phase.bases[at] + turn * phase.counts[at] + slot - phase.starts[at]
        return self.parts[at], element
