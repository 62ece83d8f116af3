"""The pages of a leaderboard as HTML.

Names and texts in results are other people's, so everything is escaped, and each page's own policy
lets no script or style run but the two that it was made with.
"""

import base64
import hashlib
import importlib.resources
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from symshift.data.errata import errata_of
from symshift.data.verdict import Estimate
from symshift.data.vocabulary import name_at
from symshift.metrics.differences import MAX_COMPARED, Differences
from symshift.metrics.entry_views import about, count, entry_view, label
from symshift.metrics.exports import FIGURES, SHARES
from symshift.metrics.findings import findings_of, trivial_label
from symshift.metrics.leaderboard import Entry, Section
from symshift.metrics.links import Links
from symshift.metrics.overview import overviews_of
from symshift.metrics.published import published_of
from symshift.metrics.table import format_share, format_symbols, label_of

REGIME_TEXTS = {
    "seen": "These names and sizes of problems are those of training.",
    "more-symbols": "Problems have more symbols than any in training.",
    "all-unseen": "No name in them occurred in training.",
    "some-unseen": "Some of the names in them did not occur in training.",
    "unseen-query": "The name that is asked about did not occur in training.",
}
_PLAIN_VERSION = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskView:
    """A task on a site."""

    name: str
    """The task."""
    sections: tuple[Section, ...]
    """Its data sets."""
    differences: tuple[Differences, ...]
    """The paired differences on each of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """All that pages show."""

    title: str
    """What stands above."""
    tasks: tuple[TaskView, ...]
    """The tasks."""
    links: Links
    """Where everything lies."""

    @property
    def sections(self) -> list[Section]:
        """The data sets of all tasks."""
        return [section for task in self.tasks for section in task.sections]


def index_page(site: Site) -> str:
    """Return the first page: what was found, and where everything is."""
    return _render(
        "index.html.j2",
        site,
        findings=findings_of(site.sections),
        overviews=overviews_of(site.sections),
        versions=sorted({v for v in map(_version, site.sections) if v}),
    )


def task_page(site: Site, task: TaskView) -> str:
    """Return the page of a task: its data sets, pairs of systems, and published figures."""
    return _render(
        "task.html.j2",
        site,
        task=task,
        views=[_section_view(section) for section in task.sections],
        published=published_of(task.name),
        max_compared=MAX_COMPARED,
    )


def entry_page(site: Site, section: Section, entry: Entry, differences: Differences) -> str:
    """Return the page of one system on one data set."""
    return _render(
        "entry.html.j2",
        site,
        section=section,
        entry=entry,
        view=entry_view(entry),
        pairs=[own for pair in differences.pairs if (own := pair.of(entry.result))],
        num_tests=differences.num_tests,
        errata=errata_of(section.dataset.fingerprint),
    )


def _render(template: str, site: Site, **values: Any) -> str:
    style, script = _template("style.css"), _template("tables.js")
    return (
        _environment()
        .get_template(template)
        .render(
            title=site.title,
            site=site,
            links=site.links,
            style=Markup(style),
            script=Markup(script),
            policy=f"default-src 'none'; base-uri 'none'; form-action 'none'; "
            f"style-src '{_hash(style)}'; script-src '{_hash(script)}'",
            **values,
        )
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
    environment.filters.update(number=format_share, count=count, at=_at, range=_range)
    environment.filters.update(signed=_signed, probability=_probability, pairs=_pairs)
    environment.filters.update(symbols=format_symbols)
    environment.globals.update(trivial_label=trivial_label, label=label, label_of=label_of)
    return environment


@cache
def _template(name: str) -> str:
    folder = importlib.resources.files("symshift.metrics") / "templates"
    return (folder / name).read_text("utf-8")


@cache
def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"sha256-{digest}"


def _at(value: float, width: int = 100) -> str:
    """Return where a share lies on a scale of this width."""
    return f"{min(max(value, 0.0), 1.0) * width:.1f}"


def _range(ends: tuple[int, int]) -> str:
    return f"{ends[0]} to {ends[1]}" if ends[0] < ends[1] else str(ends[0])


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "\N{MINUS SIGN}")


def _probability(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _pairs(number: int) -> str:
    return f"{number} pair{'' if number == 1 else 's'}"


def _version(section: Section) -> str:
    return str(section.entries[0].result.versions.get("symshift", ""))[:_PLAIN_VERSION]


def _section_view(section: Section) -> Mapping[str, Any]:
    """Return what the template shows of a data set, ready to print."""
    entries, data = section.entries, section.dataset
    figures = [n for n in FIGURES if any(n in entry.result.estimates for entry in entries)]
    overs = {entry.repeats_over for entry in entries if entry.repeats}
    return {
        "section": section,
        "data": data,
        "names": _names(data.window),
        "regime": REGIME_TEXTS.get(data.regime, data.regime),
        "errata": errata_of(data.fingerprint),
        "figures": [(name, label_of(name).capitalize(), name in SHARES) for name in figures],
        "rows": [_row(entry) for entry in entries],
        "trivial": [(name, e) for name, e in section.trivial.items() if name],
        "best_trivial": section.trivial.get("", Estimate(None, None, None, 0, "")).value,
        "has_seeds": any(entry.over_seeds for entry in entries),
        "has_repeats": any(entry.repeats for entry in entries),
        "over": overs.pop() if len(overs) == 1 else "file",
    }


def _row(entry: Entry) -> Mapping[str, Any]:
    return {
        "entry": entry,
        "result": entry.result,
        "about": list(about(entry.result.system)),
        "estimates": entry.result.estimates,
        "seeds": entry.over_seeds,
        "repeats": entry.repeats,
    }


def _names(window: str) -> str:
    """Return a window such as 3-6 as words, or nothing where it is no window."""
    found = re.fullmatch(r"([0-9]{1,7})-([0-9]{1,7})", window)
    if found is None:
        return ""
    first, last = name_at(int(found[1])), name_at(int(found[2]))
    return first if first == last else f"{first} to {last}"
