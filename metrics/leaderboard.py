"""Results side by side: sections of systems on the same rows.

Their order claims no more than the intervals allow.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from symshift.data.verdict import Estimate
from symshift.metrics.intervals import spread
from symshift.metrics.result import DatasetInfo, Result, Spread, System

REGIMES = ("seen", "", "unseen-query", "some-unseen", "all-unseen", "more-symbols")
"""Regimes in the order in which they are shown: from what training covered to what it did not."""
_NOT_TELLING = ("device", "dtype", "batch_size")
TRIVIAL_PREFIX = "trivial:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One system in a section."""

    result: Result
    """What it scored."""
    text: str
    """The text of its result file."""
    best_rank: int
    """One more than the systems that are clearly better: their whole interval lies above."""
    worst_rank: int
    """The number of systems less those that are clearly worse."""
    over_seeds: Spread | None
    """Correctness over the training seeds of this method, where there are several."""
    num_seeds: int
    """How many."""

    @property
    def rank(self) -> str:
        """The rank as it is shown: 1, or 1-3 for a tie."""
        tie = f"{self.best_rank}\N{EN DASH}{self.worst_rank}"
        return str(self.best_rank) if self.best_rank == self.worst_rank else tie

    @property
    def correct(self) -> Estimate:
        """Its correctness."""
        return self.result.estimates["correct"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The systems that answered one split of one data set, best first."""

    dataset: DatasetInfo
    """Which rows."""
    entries: tuple[Entry, ...]
    """The systems."""
    trivial: Mapping[str, Estimate]
    """What trivial answers achieve on these rows, by name; "" is the best single one."""

    @property
    def description(self) -> str:
        """What is said of the data set, as a sentence."""
        text = self.dataset.description.strip()
        stop = "" if text.endswith((".", "!", "?")) or not text else "."
        return text[:1].upper() + text[1:] + stop

    @property
    def num_symbols(self) -> tuple[int, int] | None:
        """The least and greatest number of symbols, where rows say it."""
        return self._range("num_symbols")

    @property
    def size(self) -> tuple[int, int] | None:
        """The least and greatest size, where rows say it."""
        return self._range("size")

    def _range(self, name: str) -> tuple[int, int] | None:
        found = [getattr(cell, name) for cell in self.entries[0].result.cells]
        return (min(found), max(found)) if found else None


def kind_of(system: System) -> tuple[str, ...]:
    """Return what systems that differ only in their seeds share."""
    telling = {k: v for k, v in system.settings.items() if k not in _NOT_TELLING}
    return system.name, system.method, json.dumps(telling, sort_keys=True)


def sections_of(results: Iterable[Result]) -> list[Section]:
    """Group results by data set and split; the same results in any order give the same sections."""
    distinct = {result.to_json(): result for result in results}
    groups: dict[tuple[str, ...], list[tuple[str, Result]]] = {}
    for text, result in sorted(distinct.items()):
        data = result.dataset
        key = (data.task, data.split, data.fingerprint or data.name, str(data.max_renamings))
        groups.setdefault(key, []).append((text, result))
    return sorted((_section(group) for group in groups.values()), key=_section_order)


def _section_order(section: Section) -> tuple[object, ...]:
    data = section.dataset
    regime = REGIMES.index(data.regime) if data.regime in REGIMES else len(REGIMES)
    # A renamed set comes after the one it renames, which is the reference of its regime.
    place = (regime, data.regime, data.max_renamings or 0, natural_key(data.name))
    return data.task, *place, data.fingerprint, data.split


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key in which "8 symbols" comes before "12 symbols"."""
    parts = re.findall(r"[0-9]{1,18}|[^0-9]+", text)
    return tuple((0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts)


def _section(texts: Sequence[tuple[str, Result]]) -> Section:
    results = [result for _, result in texts]
    seeds: dict[tuple[str, ...], list[Result]] = {}
    for result in results:
        seeds.setdefault(kind_of(result.system), []).append(result)
    entries = [_entry(text, r, results, seeds[kind_of(r.system)]) for text, r in texts]
    entries.sort(key=lambda e: (e.best_rank, -(e.correct.value or 0.0), e.result.system.name))
    first = entries[0].result
    trivial = {
        name.removeprefix(TRIVIAL_PREFIX) if name != "trivial" else "": estimate
        for name, estimate in first.estimates.items()
        if name == "trivial" or name.startswith(TRIVIAL_PREFIX)
    }
    return Section(dataset=first.dataset, entries=tuple(entries), trivial=trivial)


def _entry(
    text: str, result: Result, rivals: Sequence[Result], siblings: Sequence[Result]
) -> Entry:
    own = result.estimates["correct"]
    others = [rival.estimates["correct"] for rival in rivals if rival is not result]
    values = [found for s in siblings if (found := s.estimates["correct"].value) is not None]
    num_seeds = len({s.system.seed for s in siblings} - {None})
    over_seeds = None
    if num_seeds > 1:
        mean, least, greatest = spread(values)
        over_seeds = Spread(mean=mean, min=least, max=greatest, values=tuple(values))
    return Entry(
        result=result,
        text=text,
        best_rank=1 + sum(is_above(other, own) for other in others),
        worst_rank=len(rivals) - sum(is_above(own, other) for other in others),
        over_seeds=over_seeds,
        num_seeds=num_seeds,
    )


def is_above(left: Estimate, right: Estimate) -> bool:
    """Tell whether the whole interval of one estimate lies above that of another."""
    return left.low is not None and right.high is not None and left.low > right.high
