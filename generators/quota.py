"""How many rows of each kind are still wanted: the parent's side of generation.

Candidates are judged here in the order of their index, whatever order workers finish in, so the
result does not depend on them; those of a bundle (data.task.ProblemStream) together. Every rule but
the counts asked for looks back only, so a set with smaller counts is a prefix of one with larger
ones.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from symshift.data.example import SPLITS, Example
from symshift.data.task import Cell, Even
from symshift.generators.candidates import FULL, Full, Skipped
from symshift.generators.demand import Demand, require_divisible
from symshift.generators.seen import SeenIds
from symshift.generators.shares import EvenShares, Group

DUPLICATE = "duplicate"
EASY = "solved by a shortcut"
UNEVEN = "more frequent than others of its kind"
WITH_ANOTHER = "refused with another of its bundle"
DRY_CANDIDATES = 5_000


class Quota:
    """Takes or refuses outcomes, and counts why."""

    def __init__(
        self,
        demand: Demand,
        cells: Mapping[Cell, int | None] | None = None,
        even: Sequence[Even] = (),
        bundle: int = 1,
    ) -> None:
        """Begin with nothing taken.

        Args:
            demand: What is asked for.
            cells: The cells of the stream, each with its number of candidates where it is known.
            even: What is held equally often.
            bundle: How many candidates are taken together or not at all.

        Raises:
            UsageError: If rows cannot be shared as evenly as promised, or not in whole bundles.
        """
        require_divisible(demand, even, bundle)
        self._demand = demand
        self._bundle = bundle
        self._splits = demand.splits
        self._cells = dict(cells or {})
        """Each with the number of candidates that come to it, where that is known."""
        self._seen = SeenIds()
        self._by_cell: Counter[tuple[str, Cell]] = Counter()
        self._kinds: Counter[tuple[str, Cell | None, bool]] = Counter()
        self._shares = EvenShares(even)
        self._dry: Counter[Cell] = Counter()
        self._judged: Counter[Cell] = Counter()
        self.taken: Counter[str] = Counter()
        """Rows taken, by split."""
        self.rejects: Counter[str] = Counter()
        """Candidates not taken, by reason."""
        self.candidates = 0
        """Candidates judged so far: the index of the next one."""
        self.last_taken = 0
        """Value of `candidates` when the last row was taken."""

    @property
    def full(self) -> Full:
        """The splits and the cells that need no more rows."""
        splits = {split for split in SPLITS if self._is_full(split)}
        return frozenset([*splits, *filter(self._is_closed, self._cells)])

    @property
    def is_satisfied(self) -> bool:
        """Whether nothing more is wanted."""
        if self._splits and not self.missing:
            return True
        return bool(self._cells) and all(map(self._is_closed, self._cells))

    @property
    def has_cells(self) -> bool:
        """Whether cells are filled one by one; each then closes by itself in the end."""
        return bool(self._cells)

    @property
    def missing(self) -> dict[str, int]:
        """The rows still wanted, by split."""
        left = {split: count - self.taken[split] for split, count in self._splits.items()}
        return {split: count for split, count in left.items() if count > 0}

    def whole_cells(self, *, is_exhausted: bool) -> list[Cell]:
        """Return the cells that have fewer rows than asked for because there are no more.

        Args:
            is_exhausted: Whether the stream of candidates came to its end; otherwise a cell counts
                that had all its candidates, or gave no new row for DRY_CANDIDATES.
        """
        return [
            cell
            for cell in self._cells
            if not self._is_filled(cell) and (is_exhausted or self._is_dry(cell))
        ]

    def judge(self, outcomes: Iterable[Example | Skipped]) -> Iterator[tuple[Example, ...]]:
        """Take or refuse the outcomes of the next indices, which are whole bundles.

        Yields:
            What was taken of each bundle: all of it or nothing. The next is judged when it is
            asked for.
        """
        coming = iter(outcomes)
        while bundle := tuple(itertools.islice(coming, self._bundle)):
            assert len(bundle) == self._bundle, "a bundle is cut"
            yield self._judge(bundle)

    def _judge(self, bundle: tuple[Example | Skipped, ...]) -> tuple[Example, ...]:
        self.candidates += len(bundle)
        reasons = self._refusals(bundle)
        for outcome in bundle:
            if outcome.cell is not None and self._cells.get(outcome.cell) is not None:
                self._judged[outcome.cell] += 1
        if not reasons:
            rows = tuple([outcome for outcome in bundle if isinstance(outcome, Example)])
            for row in rows:
                self.note(row)
                self._dry[row.cell] = 0
            self.last_taken = self.candidates
            return rows
        self.rejects.update(reasons)
        for outcome in bundle:
            if outcome.cell is not None and not self._is_closed(outcome.cell):
                self._dry[outcome.cell] += 1
        return ()

    def note(self, row: Example) -> None:
        """Count a row as taken, and remember it so that no equivalent one is taken again."""
        self._seen.add(bytes.fromhex(row.canonical_id))
        self.taken[row.split] += 1
        self._by_cell[self._scope(row.split), row.cell] += 1
        self._kinds[self._kind(row)] += 1
        self._shares.note(self._group(row), row)

    def state(self) -> dict[str, Any]:
        """Return what the rows taken do not tell, as plain values."""
        return {
            "rejects": dict(sorted(self.rejects.items())),
            "candidates": self.candidates,
            "last_taken": self.last_taken,
            "dry": [[*cell, count] for cell, count in sorted(self._dry.items()) if count],
            "judged": [[*cell, count] for cell, count in sorted(self._judged.items())],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `state` returned."""
        self.rejects = Counter(state["rejects"])
        self.candidates = state["candidates"]
        self.last_taken = state["last_taken"]
        self._dry = Counter({(k, size): count for k, size, count in state["dry"]})
        self._judged = Counter({(k, size): count for k, size, count in state["judged"]})

    def _scope(self, split: str) -> str:
        """Cells alone are filled over all splits together."""
        return split if self._splits else ""

    def _is_full(self, split: str) -> bool:
        return bool(self._splits) and self.taken[split] >= self._splits.get(split, 0)

    def _is_closed(self, cell: Cell) -> bool:
        return self._demand.per_cell is not None and (self._is_filled(cell) or self._is_dry(cell))

    def _is_dry(self, cell: Cell) -> bool:
        return self._dry[cell] >= DRY_CANDIDATES or self._judged[cell] == self._cells.get(cell)

    def _is_filled(self, cell: Cell) -> bool:
        assert self._demand.per_cell is not None
        if not self._splits:
            return self._by_cell["", cell] >= self._demand.per_cell
        wanting = (split for split in self._splits if not self._is_full(split))
        return all(self._by_cell[split, cell] >= self._demand.per_cell for split in wanting)

    def _group(self, row: Example) -> Group:
        """Return the group of rows within which shares are kept."""
        return self._scope(row.split), row.cell if self._demand.per_cell is not None else None

    def _kind(self, row: Example) -> tuple[str, Cell | None, bool]:
        """Return the group within which the share of hard rows is kept, and the row's side."""
        return *self._group(row), not row.shortcuts

    def _refusals(self, bundle: Sequence[Example | Skipped]) -> list[str]:
        """Return why each outcome of a bundle is refused, or nothing where all are welcome."""
        alone = [self._refusal(outcome) for outcome in bundle]
        if any(alone):
            return [reason or WITH_ANOTHER for reason in alone]
        rows = [outcome for outcome in bundle if isinstance(outcome, Example)]
        if len({row.canonical_id for row in rows}) < len(rows):
            return [DUPLICATE] * len(rows)
        if self._shares.is_ahead(self._group(rows[0]), rows):
            return [UNEVEN] * len(rows)
        return [EASY] * len(rows) if self._are_too_easy(rows) else []

    def _refusal(self, outcome: Example | Skipped) -> str | None:
        """Return why an outcome is refused whatever comes with it, or None."""
        if self._is_surplus(outcome):
            return FULL
        if isinstance(outcome, Skipped):
            assert outcome.reason != FULL, "a worker skipped what was not full"
            return outcome.reason
        return DUPLICATE if bytes.fromhex(outcome.canonical_id) in self._seen else None

    def _is_surplus(self, outcome: Example | Skipped) -> bool:
        split, cell = outcome.split, outcome.cell
        if split is not None and self._is_full(split):
            return True
        if cell is None or self._demand.per_cell is None:
            return False
        has_enough = split is not None and (
            self._by_cell[self._scope(split), cell] >= self._demand.per_cell
        )
        return has_enough or self._is_closed(cell)

    def _are_too_easy(self, rows: Sequence[Example]) -> bool:
        share = self._demand.hard_share
        num_easy = sum(bool(row.shortcuts) for row in rows)
        if share is None or not num_easy:
            return False
        group = self._group(rows[0])
        easy = self._kinds[*group, False] + num_easy
        hard = self._kinds[*group, True] + len(rows) - num_easy
        return easy * share > hard * (1 - share)
