"""Methods by data sets: what each method does where names are new, against where they are not.

For each task, the first data set with regime "seen" is the reference. With several training seeds
a figure is their mean, and its interval reaches over the intervals of all of them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from symshift.data.verdict import Estimate
from symshift.metrics.leaderboard import Section, is_above, kind_of, one_a_seed
from symshift.metrics.result import Result

REFERENCE = "seen"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A method's correctness on one data set, over all its seeds."""

    value: float
    """The mean over seeds."""
    low: float
    """The lowest end of their intervals."""
    high: float
    """The highest end."""
    results: tuple[Result, ...]
    """The results that it rests on, one for each seed: that of the lowest table seed."""
    change: str = ""
    """Against the reference: lower, higher, or same (the intervals overlap); empty for itself."""

    @property
    def num_seeds(self) -> int:
        """How many training seeds it rests on; 1 where none is stated."""
        return len({r.system.seed for r in self.results})

    @property
    def estimate(self) -> Estimate:
        """The figure as an estimate."""
        return Estimate(self.value, self.low, self.high, self.num_seeds, "envelope")


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The methods of one task on its data sets, the reference first."""

    task: str
    """The task."""
    sections: tuple[Section, ...]
    """The data sets: columns."""
    methods: tuple[str, ...]
    """The methods: rows, the best on the last columns first."""
    figures: tuple[tuple[Figure | None, ...], ...]
    """One figure for each method and data set; None where it was not scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """One method on one data set that training did not cover, and on the reference."""

    method: str
    """The method."""
    section: Section
    """The data set."""
    figure: Figure
    """What the method does there."""
    reference_section: Section
    """The reference: a data set that training covered."""
    reference: Figure
    """What the method does there."""
    has_learned: bool
    """Whether the reference is above every trivial answer."""

    @property
    def ratio(self) -> float:
        """The share of the reference that is left."""
        return self.figure.value / self.reference.value if self.reference.value else 1.0


def overviews_of(sections: Sequence[Section]) -> list[Overview]:
    """Return the overview of each task that has more than one data set."""
    tasks = sorted({section.dataset.task for section in sections})
    grouped = [tuple(s for s in sections if s.dataset.task == task) for task in tasks]
    return [_overview(group) for group in grouped if len(group) > 1]


def _overview(sections: tuple[Section, ...]) -> Overview:
    groups = [_by_kind(section) for section in sections]
    kinds = list(dict.fromkeys(kind for group in groups for kind in group))
    names = Counter(name for name, _, _ in kinds)
    rows = sorted(((_label(k, names), _row(k, groups, sections)) for k in kinds), key=_order)
    return Overview(
        task=sections[0].dataset.task,
        sections=sections,
        methods=tuple(label for label, _ in rows),
        figures=tuple(figures for _, figures in rows),
    )


def _by_kind(section: Section) -> dict[tuple[str, ...], list[Result]]:
    groups: dict[tuple[str, ...], list[Result]] = {}
    for entry in section.entries:
        groups.setdefault(kind_of(entry.result.system), []).append(entry.result)
    return groups


def _label(kind: tuple[str, ...], names: Mapping[str, int]) -> str:
    """Return the name alone where it tells a method apart, else with what differs."""
    name, method, options = kind
    if names[name] == 1:
        return name
    return f"{name} ({', '.join(filter(None, (method, options.strip('{}'))))})"


def _order(row: tuple[str, tuple[Figure | None, ...]]) -> tuple[float, str]:
    label, figures = row
    values = [figure.value if figure else 0.0 for figure in figures[1:]]
    return -sum(values) / len(values), label


def _row(
    kind: tuple[str, ...],
    groups: Sequence[Mapping[tuple[str, ...], Sequence[Result]]],
    sections: Sequence[Section],
) -> tuple[Figure | None, ...]:
    figures = [_figure(group.get(kind, ())) for group in groups]
    reference = figures[0]
    if reference is None or sections[0].dataset.regime != REFERENCE:
        return tuple(figures)
    return (reference, *(figure and _changed(figure, reference) for figure in figures[1:]))


def _figure(results: Sequence[Result]) -> Figure | None:
    ends = [
        (e.value, e.low, e.high, result)
        for result, e in ((result, result.estimates["correct"]) for result in one_a_seed(results))
        if e.value is not None and e.low is not None and e.high is not None
    ]
    if not ends:
        return None
    values, lows, highs, measured = zip(*ends, strict=True)
    mean = sum(values) / len(values)
    return Figure(value=mean, low=min(lows), high=max(highs), results=measured)


def _changed(figure: Figure, reference: Figure) -> Figure:
    change = "same"
    if is_above(reference.estimate, figure.estimate):
        change = "lower"
    elif is_above(figure.estimate, reference.estimate):
        change = "higher"
    return replace(figure, change=change)


def contrasts_of(overviews: Sequence[Overview]) -> list[Contrast]:
    """Return every method's contrasts, for data sets of a regime other than the reference's."""
    found = []
    for overview in overviews:
        trivial = overview.sections[0].trivial.get("")
        for method, figures in zip(overview.methods, overview.figures, strict=True):
            for section, figure in zip(overview.sections[1:], figures[1:], strict=True):
                reference = figures[0]
                if not figure or not reference or not figure.change:
                    continue
                if section.dataset.regime not in ("", REFERENCE):
                    is_learned = trivial is None or is_above(reference.estimate, trivial)
                    found.append(
                        Contrast(
                            method=method,
                            section=section,
                            figure=figure,
                            reference_section=overview.sections[0],
                            reference=reference,
                            has_learned=is_learned,
                        )
                    )
    return found
