"""What an import took and left out, counted and with the first faults to look up."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from symshift.data.example import SPLITS, Example
from symshift.data.vocabulary import Window, position_of
from symshift.generators.exchange.claims import Refused
from symshift.generators.seen import SeenIds

DUPLICATE = "equivalent to an earlier row"
LEAK = "equivalent to a row of another split"
MAX_FAULTS_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """How an import ended."""

    path: Path
    """The data set's folder."""
    rows: Mapping[str, int]
    """Rows written, by split."""
    left_out: Mapping[str, int]
    """Records that gave no row, by reason."""
    faults: tuple[str, ...] = ()
    """The first records that are unreadable or wrong, with their places."""
    num_faults: int = 0
    """How many of them there are."""
    message: str = ""
    """What else a user should know."""

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain values."""
        return {
            "path": str(self.path),
            "rows": dict(self.rows),
            "left_out": dict(self.left_out),
            "faults": {"count": self.num_faults, "first": list(self.faults)},
            "message": self.message,
        }

    def to_text(self) -> str:
        """Return the report as lines to read."""
        rows = ", ".join(f"{self.rows[s]} {s}" for s in SPLITS if self.rows.get(s))
        lines = [f"{self.path}: {rows} rows" + (f" ({self.message})" if self.message else "")]
        if self.left_out:
            lines.append(f"left out: {listed(self.left_out)}")
        lines += [f"  {fault}" for fault in self.faults]
        if (hidden := self.num_faults - len(self.faults)) > 0:
            lines.append(f"  and {hidden} more")
        return "\n".join(lines)


def listed(left_out: Mapping[str, int]) -> str:
    """Return counts by reason in words."""
    return ", ".join(f"{count} {reason}" for reason, count in sorted(left_out.items()))


class Tally:
    """Takes rows, no two of them equivalent, and counts the rest by reason."""

    def __init__(self) -> None:
        self._seen = {split: SeenIds() for split in SPLITS}
        self._last_position = 0
        self.rows: Counter[str] = Counter()
        """Rows taken, by split."""
        self.left_out: Counter[str] = Counter()
        """Records that gave no row, by reason."""
        self.faults: list[str] = []
        """The first records that are unreadable or wrong."""
        self.num_faults = 0
        """How many of them there are."""

    @property
    def num_records(self) -> int:
        """How many records were judged."""
        return self.rows.total() + self.left_out.total()

    @property
    def window(self) -> Window:
        """The first names of the vocabulary, as many as the rows need."""
        return Window(0, self._last_position)

    def refuse(self, refused: Refused) -> None:
        """Count a record that gives no row."""
        self.left_out[refused.reason] += 1
        if refused.fault:
            self.num_faults += 1
            if len(self.faults) < MAX_FAULTS_SHOWN:
                self.faults.append(f"{refused.fault} ({refused.reason})")

    def take(self, row: Example) -> bool:
        """Take a row unless an equivalent one was taken; return whether it was."""
        identity = bytes.fromhex(row.canonical_id)
        for split, seen in self._seen.items():
            if identity in seen:
                self.left_out[DUPLICATE if split == row.split else LEAK] += 1
                return False
        self._seen[row.split].add(identity)
        self.rows[row.split] += 1
        positions = (position_of(name) or 0 for name in row.symbols)
        self._last_position = max(self._last_position, *positions, 0)
        return True
