"""Where things of a leaderboard lie: pages, result files, places on pages.

Names in results are anyone's, so a file's name is what is left of one in a-z, 0-9 and hyphens, and
a hash that keeps equal remainders apart. All links are relative.
"""

import hashlib
import re
from collections.abc import Sequence

from symshift.metrics.leaderboard import Entry, Section
from symshift.metrics.result import Result

MAX_SLUG = 100
_NUM_DIGITS = 10
_OTHER = re.compile(r"[^a-z0-9]+")


def slug_of(text: str, identity: str = "") -> str:
    """Return a file name's stem for a text.

    Args:
        text: What it should remind of.
        identity: What tells it from others of the same text; a hash of it is appended. Where it is
            empty the text itself is hashed, and only if the stem is another.
    """
    stem = _OTHER.sub("-", text.lower())[:MAX_SLUG].strip("-")
    if stem and stem == text and not identity:
        return stem
    digest = hashlib.sha256((identity or text).encode()).hexdigest()[:_NUM_DIGITS]
    return f"{stem}-{digest}" if stem else digest


def _slug(entry: Entry) -> str:
    system = entry.result.system
    seed = "" if system.seed is None else f" {system.seed}"
    return slug_of(f"{system.name}{seed} {entry.result.dataset.name}", entry.text)


class Links:
    """The relative addresses of everything on one leaderboard."""

    def __init__(self, sections: Sequence[Section]) -> None:
        self._slugs: dict[int, str] = {}
        self._anchors: dict[int, str] = {}
        for number, section in enumerate(sections, 1):
            self._anchors[id(section)] = f"data-{number}"
            for entry in section.entries:
                self._slugs[id(entry.result)] = _slug(entry)

    def entry(self, result: Result) -> str:
        """Return the page of a result."""
        return f"entry-{self._slugs[id(result)]}.html"

    def file(self, result: Result) -> str:
        """Return the file of a result."""
        return f"results/{self._slugs[id(result)]}.json"

    def task(self, name: str) -> str:
        """Return the page of a task."""
        return f"task-{slug_of(name)}.html"

    def anchor(self, section: Section) -> str:
        """Return the place of a data set on its task's page."""
        return self._anchors[id(section)]

    def section(self, section: Section) -> str:
        """Return the address of a data set."""
        return f"{self.task(section.dataset.task)}#{self.anchor(section)}"
