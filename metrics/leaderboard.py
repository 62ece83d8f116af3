"""Results side by side: sections of systems on the same rows.

Their order claims no more than the intervals allow.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from symshift.data.verdict import Estimate
from symshift.metrics.intervals import spread
from symshift.metrics.result import DatasetInfo, Result, Spread, System

REGIMES = ("seen", "", "unseen-query", "some-unseen", "all-unseen", "more-symbols")
"""Regimes in the order in which they are shown: from what training covered to what it did not."""
_NOT_TELLING = ("device", "dtype", "batch_size")
_SAID = ("name", "description", "regime", "window", "example", "constant", "errata")
"""What results say of a data set, and a section says only where all of them agree."""
_NAME_DIGITS = 8
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
    """Correctness over the training seeds of this method, one figure each; None for one seed."""
    over_tables: Spread | None = None
    """Correctness over the random tables of this training seed, where several are entries."""

    @property
    def rank(self) -> str:
        """The rank as it is shown: 1, or 1-3 for a tie."""
        tie = f"{self.best_rank}\N{EN DASH}{self.worst_rank}"
        return str(self.best_rank) if self.best_rank == self.worst_rank else tie

    @property
    def correct(self) -> Estimate:
        """Its correctness."""
        return self.result.estimates["correct"]

    @property
    def repeats(self) -> Spread | None:
        """Its correctness over several files of predictions, in one result or in several."""
        own = self.result.repeats
        return own.estimates.get("correct") if own else self.over_tables

    @property
    def repeats_over(self) -> str:
        """What differs between those files: table_seed, seed, or file; empty for one file."""
        own = self.result.repeats
        return own.over if own else "table_seed" if self.over_tables else ""


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
    """Return what systems that differ only in their seeds, or random tables, share."""
    telling = {k: v for k, v in system.settings.items() if k not in _NOT_TELLING}
    return system.name, system.method, json.dumps(telling, sort_keys=True)


def one_a_seed(results: Sequence[Result]) -> list[Result]:
    """Return one result of each training seed: that of its lowest table seed.

    Where no seed is known, all results of the lowest table seed: nothing tells runs apart.
    """
    seeds = sorted({r.system.seed for r in results if r.system.seed is not None})
    if not seeds:
        least = min(map(_table_order, results), default=None)
        return [r for r in results if _table_order(r) == least]
    order = sorted(results, key=lambda r: (_table_order(r), r.system.predictions_sha256))
    return [next(r for r in order if r.system.seed == seed) for seed in seeds]


def _table_order(result: Result) -> tuple[bool, int]:
    table = result.system.table_seed
    return table is not None, table or 0


def identity_of(result: Result) -> str:
    """Return what equal results share: a hash of everything but the command of the predictions."""
    text = replace(result, system=replace(result.system, command="")).to_json()
    return hashlib.sha256(text.encode()).hexdigest()


def given_twice(results: Sequence[Result], names: Sequence[str]) -> list[str]:
    """Return a line for each result that repeats an earlier one, whatever its command.

    Args:
        results: The results.
        names: What to call each of them.
    """
    first: dict[str, str] = {}
    lines = []
    for result, name in zip(results, names, strict=True):
        identity = identity_of(result)
        if identity in first:
            same = f"the same result as {first[identity]}, commands aside"
            lines.append(f"{name}: {same}; counted once")
        first.setdefault(identity, name)
    return lines


def sections_of(results: Iterable[Result]) -> list[Section]:
    """Group results by data set and split; the same results in any order give the same sections.

    Of results that differ in nothing but their command the first, by its text, is shown.
    """
    distinct: dict[str, tuple[str, Result]] = {}
    for text, result in sorted(((r.to_json(), r) for r in results), key=lambda pair: pair[0]):
        distinct.setdefault(identity_of(result), (text, result))
    groups: dict[tuple[str, ...], list[tuple[str, Result]]] = {}
    for text, result in distinct.values():
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
    dataset = _agreed([entry.result.dataset for entry in entries])
    return Section(dataset=dataset, entries=tuple(entries), trivial=trivial)


def _agreed(stated: Sequence[DatasetInfo]) -> DatasetInfo:
    """Return a data set as all results describe it: nobody speaks for the others."""
    first = stated[0]
    plain = f"{first.task} {first.fingerprint[:_NAME_DIGITS]}"
    silent: dict[str, Any] = {f.name: f.default for f in fields(DatasetInfo)} | {"name": plain}
    differing = {
        name: silent[name]
        for name in _SAID
        if any(getattr(data, name) != getattr(first, name) for data in stated)
    }
    return replace(first, **differing)


def _entry(
    text: str, result: Result, rivals: Sequence[Result], siblings: Sequence[Result]
) -> Entry:
    own = result.estimates["correct"]
    others = [rival.estimates["correct"] for rival in rivals if rival is not result]
    is_seeded = result.system.seed is not None
    tables: dict[int, Result] = {}
    for sibling in siblings:
        table = sibling.system.table_seed
        if sibling.system.seed == result.system.seed and table is not None:
            tables.setdefault(table, sibling)
    return Entry(
        result=result,
        text=text,
        best_rank=1 + sum(is_above(other, own) for other in others),
        worst_rank=len(rivals) - sum(is_above(own, other) for other in others),
        over_seeds=_spread(one_a_seed(siblings)) if is_seeded else None,
        over_tables=_spread([tables[table] for table in sorted(tables)]),
    )


def _spread(results: Sequence[Result]) -> Spread | None:
    """Return correctness over several results, or None for fewer than two."""
    values = [found for r in results if (found := r.estimates["correct"].value) is not None]
    if len(values) < 2:
        return None
    mean, least, greatest = spread(values)
    return Spread(mean=mean, min=least, max=greatest, values=tuple(values))


def is_above(left: Estimate, right: Estimate) -> bool:
    """Tell whether the whole interval of one estimate lies above that of another."""
    return left.low is not None and right.high is not None and left.low > right.high
