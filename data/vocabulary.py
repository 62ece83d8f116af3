"""The one fixed sequence of symbol names: `a`..`z`, `p26`, `p27`, ... and windows of it.

Every data set draws its names from a window of this sequence, so vocabularies nest: a model that
was trained on the first 5 names can be tested on the first 30.
"""

import re
import string
from dataclasses import dataclass

from symshift.data.errors import UsageError

LETTERS = string.ascii_lowercase
MAX_POSITION = 9_999_999
_NUMBERED = re.compile(r"p([1-9][0-9]{1,6})")


def name_at(position: int) -> str:
    """Return the name at a position of the sequence, counted from 0."""
    if not 0 <= position <= MAX_POSITION:
        raise ValueError(f"position={position} must be between 0 and {MAX_POSITION}")
    return LETTERS[position] if position < len(LETTERS) else f"p{position}"


def position_of(name: str) -> int | None:
    """Return the position of a name, or None if the sequence does not hold it."""
    if len(name) == 1:
        position = LETTERS.find(name)
        return position if position >= 0 else None
    found = _NUMBERED.fullmatch(name)
    if not found or int(found[1]) < len(LETTERS):
        return None
    return int(found[1])


@dataclass(frozen=True, slots=True)
class Window:
    """The names from position `start` to position `stop`, both included."""

    start: int
    stop: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.stop <= MAX_POSITION:
            raise UsageError(
                f"names {self.start}-{self.stop} is no window: "
                f"give positions A-B with 0 <= A <= B <= {MAX_POSITION}"
            )

    @classmethod
    def parse(cls, text: str) -> "Window":
        """Read "A-B", or "A" for one name.

        Raises:
            UsageError: If the text is no window.
        """
        start, dash, stop = text.strip().partition("-")
        if not start.isdecimal() or (dash and not stop.isdecimal()):
            raise UsageError(f"names {text!r}: give positions A-B, counted from 0, such as 5-9")
        return cls(int(start), int(stop if dash else start))

    @classmethod
    def first(cls, count: int) -> "Window":
        """Return the window of the first `count` names."""
        if count < 1:
            raise UsageError(f"{count} symbols: a vocabulary needs at least 1")
        return cls(0, count - 1)

    def __len__(self) -> int:
        return self.stop - self.start + 1

    def __contains__(self, name: object) -> bool:
        position = position_of(name) if isinstance(name, str) else None
        return position is not None and self.start <= position <= self.stop

    def names(self) -> tuple[str, ...]:
        """Return the names of the window, in the order of the sequence."""
        return tuple(name_at(position) for position in range(self.start, self.stop + 1))

    def __str__(self) -> str:
        return f"{self.start}-{self.stop}"
