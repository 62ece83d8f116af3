"""How many rows of each kind are still wanted: the parent's side of generation.

Candidates are judged here in the order of their index, whatever order workers finish in, so the
result does not depend on them.
"""

from collections import Counter
from collections.abc import Mapping

from symshift.data.example import Example
from symshift.generators.candidates import FULL, Skipped

DUPLICATE = "duplicate"


class Quota:
    """Takes or refuses outcomes, and counts why."""

    def __init__(self, asked: Mapping[str, int]) -> None:
        self._asked = {split: count for split, count in asked.items() if count > 0}
        self._seen: set[bytes] = set()
        self.taken: Counter[str] = Counter()
        """Rows taken, by split."""
        self.rejects: Counter[str] = Counter()
        """Candidates not taken, by reason."""
        self.candidates = 0
        """Candidates judged so far: the index of the next one."""
        self.last_taken = 0
        """Value of `candidates` when the last row was taken."""

    @property
    def full(self) -> frozenset[str]:
        """The splits that need no more rows."""
        wanted = {s for s, count in self._asked.items() if self.taken[s] < count}
        return frozenset(("train", "validation", "test")) - wanted

    @property
    def is_satisfied(self) -> bool:
        """Whether every split has the rows that were asked for."""
        return all(self.taken[split] >= count for split, count in self._asked.items())

    @property
    def missing(self) -> dict[str, int]:
        """The rows still wanted, by split."""
        left = {split: count - self.taken[split] for split, count in self._asked.items()}
        return {split: count for split, count in left.items() if count > 0}

    def judge(self, outcome: Example | Skipped) -> bool:
        """Take the outcome of the next index, or refuse it; return whether it was taken."""
        self.candidates += 1
        reason = self._refusal(outcome)
        if reason is not None:
            self.rejects[reason] += 1
            return False
        assert isinstance(outcome, Example)
        self.remember(outcome.canonical_id)
        self.taken[outcome.split] += 1
        self.last_taken = self.candidates
        return True

    def remember(self, canonical_id: str) -> None:
        """Note a row's identity, so that no equivalent one is taken again."""
        self._seen.add(bytes.fromhex(canonical_id))

    def _refusal(self, outcome: Example | Skipped) -> str | None:
        if outcome.split in self.full:
            return FULL
        if isinstance(outcome, Skipped):
            assert outcome.reason != FULL, "a worker skipped a split that was not full"
            return outcome.reason
        if bytes.fromhex(outcome.canonical_id) in self._seen:
            return DUPLICATE
        return None
