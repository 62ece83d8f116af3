"""The leaderboard as a static page that needs nothing but a browser.

One file, `index.html`: no other request, no script that is needed to read it. Names and texts in
results are other people's, so everything is escaped, and the page's own policy lets no script or
style run but the two that it was made with.
"""

import base64
import hashlib
import importlib.resources
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from symshift.data.errors import UsageError
from symshift.data.files import require_output, write_text
from symshift.data.verdict import Estimate, Verdict
from symshift.data.vocabulary import name_at
from symshift.metrics.exports import FIGURES, as_csv, as_json, as_markdown, repeated
from symshift.metrics.findings import findings_of, trivial_label
from symshift.metrics.leaderboard import Entry, Section, sections_of
from symshift.metrics.overview import overviews_of
from symshift.metrics.result import Result, System
from symshift.metrics.table import format_share

HEADINGS = {
    "correct": "Correct",
    "correct_hard": "On hard rows",
    "exact": "Exact match",
    "alpha_covariance": "Alpha-covariance",
}
REGIME_TEXTS = {
    "seen": "These names and sizes of problems are those of training.",
    "more-symbols": "Problems have more symbols than any in training.",
    "all-unseen": "No name in them occurred in training.",
    "some-unseen": "Some of the names in them did not occur in training.",
    "unseen-query": "The name that is asked about did not occur in training.",
}
_PLAIN_NAME = 80


def write_site(
    results: Iterable[Result], out: Path, *, title: str = "symshift leaderboard"
) -> Path:
    """Write a leaderboard: index.html, leaderboard.json, leaderboard.csv and leaderboard.md.

    The same results give the same bytes, in whatever order they come.

    Args:
        results: What to show, at least one.
        out: The folder; it is made if need be, other files in it stay.
        title: The page's title.

    Returns:
        The path of the page.

    Raises:
        UsageError: If there are no results.
    """
    require_output(out)
    sections = sections_of(results)
    if not sections:
        raise UsageError("a leaderboard needs at least one result")
    write_text(out / "leaderboard.json", as_json(title, sections))
    write_text(out / "leaderboard.csv", as_csv(sections))
    write_text(out / "leaderboard.md", as_markdown(title, sections))
    write_text(out / "index.html", page(sections, title))
    return out / "index.html"


def page(sections: Sequence[Section], title: str) -> str:
    """Return the page's HTML."""
    environment = _environment()
    style, script = _template("style.css"), _template("sort.js")
    return environment.get_template("page.html.j2").render(
        title=title,
        style=Markup(style),
        script=Markup(script),
        policy=f"default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"style-src '{_hash(style)}'; script-src '{_hash(script)}'",
        findings=findings_of(sections),
        overviews=overviews_of(sections),
        sections=[_view(section) for section in sections],
        anchors=_Anchors(sections),
        versions=sorted({v for v in map(_version, sections) if v}),
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_template),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(number=format_share, count=_count, at=_at, range=_range)
    environment.globals["trivial_label"] = trivial_label
    return environment


@cache
def _template(name: str) -> str:
    folder = importlib.resources.files("symshift.metrics") / "templates"
    return (folder / name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"sha256-{digest}"


def _count(value: int) -> str:
    return f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def _at(value: float, width: int = 100) -> str:
    """Return where a share lies on a scale of this width."""
    return f"{min(max(value, 0.0), 1.0) * width:.1f}"


def _range(ends: tuple[int, int]) -> str:
    return f"{ends[0]} to {ends[1]}" if ends[0] < ends[1] else str(ends[0])


class _Anchors:
    """The place of each section on the page."""

    def __init__(self, sections: Sequence[Section]) -> None:
        self._numbers = {id(section): at for at, section in enumerate(sections, 1)}

    def __getitem__(self, section: Section) -> str:
        return f"data-{self._numbers[id(section)]}"


def _version(section: Section) -> str:
    return str(section.entries[0].result.versions.get("symshift", ""))[:_PLAIN_NAME]


def _view(section: Section) -> Mapping[str, Any]:
    """Return what the template shows of a section, ready to print."""
    entries, data = section.entries, section.dataset
    figures = [n for n in FIGURES if any(n in entry.result.estimates for entry in entries)]
    has_repeats = any(repeated(entry) for entry in entries)
    return {
        "section": section,
        "data": data,
        "names": _names(data.window),
        "regime": REGIME_TEXTS.get(data.regime, data.regime),
        "figures": [(name, HEADINGS[name]) for name in figures],
        "rows": [_row(entry) for entry in entries],
        "trivial": [(name, e) for name, e in section.trivial.items() if name],
        "best_trivial": section.trivial.get("", Estimate(None, None, None, 0, "")).value,
        "has_seeds": any(entry.over_seeds for entry in entries),
        "has_repeats": has_repeats,
        "over": next((e.result.repeats.over for e in entries if e.result.repeats), ""),
    }


def _row(entry: Entry) -> Mapping[str, Any]:
    result = entry.result
    return {
        "entry": entry,
        "system": result.system,
        "about": list(_about(result.system)),
        "estimates": result.estimates,
        "seeds": entry.over_seeds,
        "repeats": repeated(entry),
        "counts": [(verdict.value, result.counts.get(verdict.value, 0)) for verdict in Verdict],
        "num_foreign": result.num_foreign,
        "facts": list(_facts(result)),
    }


def _about(system: System) -> Iterable[str]:
    """Yield what is said under a system's name."""
    if system.method and system.method != system.name:
        yield system.method
    total = system.parameters
    if isinstance(total, Mapping):
        total = total.get("trained")
    if type(total) is int:
        yield f"{_count(total)} parameters"
    if system.seed is not None:
        yield f"training seed {system.seed}"


def _facts(result: Result) -> Iterable[tuple[str, str]]:
    """Yield the further facts of an entry, each a name and a text."""
    system, alpha = result.system, result.alpha_covariance
    if isinstance(system.parameters, Mapping):
        yield from ((f"parameters, {k}", _shown(v)) for k, v in sorted(system.parameters.items()))
    elif system.parameters is not None:
        yield "parameters", _shown(system.parameters)
    settings = {"table seed": system.table_seed, **system.settings}
    yield from ((k, _shown(v)) for k, v in settings.items() if v is not None)
    for name, estimate in result.estimates.items():
        kind, _, which = name.partition(":")
        if kind == "correct" and which and estimate.value is not None:
            yield f"correct, {which}", f"{format_share(estimate.value)} (n={estimate.n})"
    if alpha is not None:
        cap = result.dataset.max_renamings
        yield "renamings", f"at most {cap} a problem; {alpha.num_excluded} problems have only one"
        for number, estimate in alpha.by_num_symbols.items():
            if estimate.value is not None:
                yield f"alpha-covariance, {number} symbols", format_share(estimate.value)


def _shown(value: Any) -> str:
    return _count(value) if type(value) is int else str(value)


def _names(window: str) -> str:
    """Return a window such as 3-6 as words, or nothing where it is no window."""
    found = re.fullmatch(r"([0-9]{1,7})-([0-9]{1,7})", window)
    if found is None:
        return ""
    first, last = name_at(int(found[1])), name_at(int(found[2]))
    return first if first == last else f"{first} to {last}"
