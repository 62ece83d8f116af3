"""What is known to be wrong with published data sets, and the version of the verdicts' meaning.

Both are kept in errata.toml; docs/errata.md says when they change.
"""

import importlib.resources
import tomllib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Erratum:
    """An error in a data set that was published."""

    id: str
    """What results call it, such as E1."""
    fingerprint: str
    """The data set's fingerprint."""
    text: str
    """What is wrong, and what to use instead."""


def read_errata(text: str) -> tuple[tuple[Erratum, ...], str]:
    """Return the errata and the current version of the verdicts that a TOML text states."""
    found = tomllib.loads(text)
    errata = tuple(Erratum(**erratum) for erratum in found.get("erratum", ()))
    return errata, str(found["verdicts"][-1]["version"])


ERRATA, VERDICTS = read_errata(
    importlib.resources.files("symshift.data").joinpath("errata.toml").read_text("utf-8")
)


def errata_of(fingerprint: str) -> tuple[Erratum, ...]:
    """Return what is known to be wrong with a data set."""
    return tuple(erratum for erratum in ERRATA if erratum.fingerprint == fingerprint)
