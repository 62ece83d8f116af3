"""Figures that papers report, to be read beside measured ones and never among them.

They are quoted in data/published.toml, each block with its source and where it was read.
"""

import importlib.resources
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import Any

FIGURES = {
    "correct": "Correct",
    "exact": "Exact match",
    "alpha_covariance_3": "Alpha-covariance, 3 symbols",
    "alpha_covariance_5": "Alpha-covariance, 5 symbols",
}
"""The figures that blocks quote, and what tables call them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Figures of one source on one data set."""

    task: str
    """The task."""
    data: str
    """The published data set."""
    preset: str
    """The preset that stands for it; its file says what differs."""
    source: str
    """The paper, and the place in it."""
    read_in: str
    """Where the figures were read."""
    rows: tuple[Mapping[str, Any], ...]
    """`system`, and its figures in per cent."""
    note: str = ""
    """What else a reader needs to know."""

    @property
    def columns(self) -> list[tuple[str, str]]:
        """The figures that some row has, in order, each with its heading."""
        return [(n, label) for n, label in FIGURES.items() if any(n in row for row in self.rows)]

    def to_plain(self) -> dict[str, Any]:
        """Return it as plain values that JSON can hold."""
        return asdict(self)


@cache
def published() -> tuple[Block, ...]:
    """Return all that is quoted."""
    folder = importlib.resources.files("symshift.data")
    found = tomllib.loads(folder.joinpath("published.toml").read_text("utf-8"))["block"]
    names = {field.name for field in fields(Block)}
    assert all(block.keys() <= names for block in found), "published.toml has an unknown key"
    return tuple(Block(**{**block, "rows": tuple(block["rows"])}) for block in found)


def published_of(task: str) -> list[Block]:
    """Return what is quoted of a task."""
    return [block for block in published() if block.task == task]
