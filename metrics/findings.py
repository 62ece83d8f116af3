"""What a set of results shows, in plain sentences that follow from the numbers alone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from symshift.data.verdict import Estimate
from symshift.metrics.leaderboard import Entry, Section
from symshift.metrics.overview import Contrast, Figure, contrasts_of, overviews_of
from symshift.metrics.result import Result
from symshift.metrics.table import format_share

LOST_BELOW = 0.5
MAX_NAMES = 6
NOTABLE_TRIVIAL = 0.1
TRIVIAL_LABELS = {
    "all-true": "every symbol true at every step",
    "all-false": "every symbol false at every step",
    "constant": "the best constant answer",
    "copied-input": "the input handed back",
    "any-shortcut": "the better shortcut for each row",
}
"""What trivial answers are called; others go by their own name."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a sentence."""

    text: str
    """The words."""
    kind: str = ""
    """`system` or `data` for a name, `figure` for numbers; empty for plain words."""
    section: Section | None = None
    """The data set that a name or figure is about."""
    results: tuple[Result, ...] = ()
    """The results that a figure is from."""


Sentence = tuple[Span, ...]


def findings_of(sections: Sequence[Section]) -> list[Sentence]:
    """Say what the results show: of methods, of each test beyond training, of trivial answers."""
    contrasts = contrasts_of(overviews_of(sections))
    tests = list({id(c.section): c.section for c in contrasts}.values())
    found = [_headline(contrasts)] if contrasts else []
    found += [_of_test([c for c in contrasts if c.section is test]) for test in tests]
    return [*(found or map(_leader, sections)), *_about_trivial(sections)]


def _headline(contrasts: Sequence[Contrast]) -> Sentence:
    """Say which methods break down beyond their training, and which do not."""
    methods = list(dict.fromkeys(c.method for c in contrasts))
    grouped = {m: [c for c in contrasts if c.method == m] for m in methods}
    weak = [m for m in methods if not all(c.has_learned for c in grouped[m])]
    lost = [m for m in methods if m not in weak and any(map(_is_lost, grouped[m]))]
    kept = [m for m in methods if m not in weak and m not in lost]
    counts = {m: (sum(map(_is_lost, grouped[m])), len(grouped[m])) for m in lost}
    spans: list[Span] = []
    for count in sorted(set(counts.values()), reverse=True):
        spans += _breakdown([m for m in lost if counts[m] == count], *count)
    if kept:
        spans += (*_names(kept), Span(_kept(len(kept), is_contrast=bool(lost))))
    if weak:
        verb = "is" if len(weak) == 1 else "are"
        text = f" {verb} not clearly better than a trivial answer to begin with. "
        spans += (*_names(weak), Span(text))
    num_seeds = max(c.figure.num_seeds for c in contrasts)
    if num_seeds > 1:
        text = f"Figures are means over up to {num_seeds} seeds, with intervals that cover all."
        spans.append(Span(text))
    last = spans.pop()
    return (*spans, Span(last.text.rstrip(), last.kind))


def _kept(num_methods: int, *, is_contrast: bool) -> str:
    verb, its = ("loses", "its") if num_methods == 1 else ("lose", "their")
    if is_contrast:
        return f" never {verb} that much. "
    return f" never {verb} more than half of {its} correctness beyond {its} training. "


def _breakdown(methods: Sequence[str], num_lost: int, num_tests: int) -> Sentence:
    count = f"in {num_lost} of {num_tests} tests" if num_tests > 1 else "in the one test"
    verb, its = ("loses", "its") if len(methods) == 1 else ("lose", "their")
    text = f" {verb} more than half of {its} correctness {count} beyond {its} training. "
    return (*_names(methods), Span(text))


def _is_lost(contrast: Contrast) -> bool:
    return contrast.figure.change == "lower" and contrast.ratio < LOST_BELOW


def _of_test(contrasts: Sequence[Contrast]) -> Sentence:
    """Say what each method does in one test, against what it does within training."""
    spans = [Span("On "), _data(contrasts[0].section)]
    spans += (Span(", against "), _data(contrasts[0].reference_section), Span(": "))
    for change, verb in (("lower", "falls"), ("higher", "rises")):
        for contrast in [c for c in contrasts if c.figure.change == change][:MAX_NAMES]:
            spans += (Span(contrast.method, "system"), Span(f" {verb} from "))
            reference, figure = contrast.reference, contrast.figure
            before = _interval(reference.estimate, contrast.reference_section, reference.results)
            spans += (before, Span(" to "))
            spans.append(_interval(figure.estimate, contrast.section, figure.results))
            spans.append(Span("; "))
    same = [c for c in contrasts if c.figure.change == "same"]
    for contrast in same[:MAX_NAMES]:
        there = _value(contrast.reference, contrast.reference_section)
        here = _value(contrast.figure, contrast.section)
        spans += (Span(contrast.method, "system"), Span(" ("), there, Span(" to "), here)
        spans += (Span(")"), Span(" and "))
    if same:
        verb = "shows" if len(same) == 1 else "show"
        spans[-1] = Span(f" {verb} no clear change; ")
    last = spans.pop().text.removesuffix("; ")
    return (*spans, Span(f"{last}."))


def _names(methods: Sequence[str]) -> Sentence:
    """Return names as a list in words."""
    shown, rest = methods[:MAX_NAMES], len(methods) - MAX_NAMES
    spans: list[Span] = []
    for at, method in enumerate(shown):
        is_last = at == len(shown) - 1 and rest <= 0
        between = "" if at == 0 else " and " if is_last else ", "
        spans += (Span(between), Span(method, "system"))
    return (*spans, Span(f" and {rest} more")) if rest > 0 else tuple(spans)


def _leader(section: Section) -> Sentence:
    """Say who is best, where there is nothing to hold a data set against."""
    ahead = [entry for entry in section.entries if entry.best_rank == 1]
    names = list(dict.fromkeys(entry.result.system.name for entry in ahead))
    best = ahead[0]
    tie = " (a tie: their intervals overlap)" if len(names) > 1 else ""
    verb = "leads" if len(names) == 1 else "lead"
    start = (Span("On "), _data(section), Span(" "))
    return (
        *start,
        *_names(names),
        Span(f" {verb} with "),
        _leading(best, section),
        Span(f"{tie}."),
    )


def _about_trivial(sections: Iterable[Section]) -> list[Sentence]:
    rated = [
        (estimate.value, name, section)
        for section in sections
        for name, estimate in section.trivial.items()
        if name and estimate == section.trivial.get("") and estimate.value is not None
    ]
    highest = max(rated, key=lambda item: item[0], default=None)
    if highest is None or highest[0] < NOTABLE_TRIVIAL:
        return []
    value, name, section = highest
    share = Span(f"{100 * value:.0f} %", "figure", section, (section.entries[0].result,))
    end = ". So each table also counts the hard rows alone, those that no shortcut solves."
    start = f"Some problems can be solved without reading them: {trivial_label(name)} is right for "
    return [(Span(start), share, Span(" of the rows on "), _data(section), Span(end))]


def trivial_label(name: str) -> str:
    """Return what a trivial answer is called."""
    return TRIVIAL_LABELS.get(name, name)


def _value(figure: Figure, section: Section) -> Span:
    return Span(format_share(figure.value), "figure", section, figure.results)


def _leading(entry: Entry, section: Section) -> Span:
    return _interval(entry.correct, section, (entry.result,))


def _interval(estimate: Estimate, section: Section, results: tuple[Result, ...]) -> Span:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return Span("no figure", "figure")
    low, high = format_share(estimate.low), format_share(estimate.high)
    return Span(f"{format_share(estimate.value)} [{low}, {high}]", "figure", section, results)


def _data(section: Section) -> Span:
    return Span(section.dataset.name, "data", section)


def as_text(sentence: Sentence) -> str:
    """Return a sentence without marks."""
    return "".join(span.text for span in sentence)
