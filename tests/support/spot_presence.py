"""Whether tests that need Spot may be skipped: never where it is installed along."""

import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NoReturn, TypeVar

import pytest
from packaging.requirements import Requirement

from symshift.data.errors import MissingToolError
from symshift.solvers.spot_discovery import find_spot

T = TypeVar("T")
PROJECT = Path(__file__).parents[2] / "pyproject.toml"


@cache
def reason_without_spot() -> str:
    """Return why no Spot can be used here, or nothing if one can."""
    try:
        find_spot()
    except MissingToolError as error:
        return str(error)
    return ""


def is_due(environment: dict[str, str] | None = None) -> bool:
    """Tell whether the package's requirements bring Spot, here or in another environment."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    stormpy = next(
        need for need in map(Requirement, project["dependencies"]) if need.name == "stormpy"
    )
    assert stormpy.marker is not None
    return stormpy.marker.evaluate(environment)


def do_without(reason: str) -> NoReturn:
    """Skip the test that runs, or fail it where Spot has to be there."""
    if is_due():
        pytest.fail(f"Spot has to be here: {reason}", pytrace=False)
    pytest.skip(reason)


def need(find: Callable[[], T]) -> T:
    """Return what a function finds, or do without it."""
    try:
        return find()
    except MissingToolError as error:
        do_without(str(error))
