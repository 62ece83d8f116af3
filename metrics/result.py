"""A result: what one system scored on one data set."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from symshift.data.files import json_text
from symshift.data.verdict import Estimate
from symshift.metrics.accuracy import Cell
from symshift.metrics.alpha_covariance import AlphaSummary
from symshift.metrics.record import Reading
from symshift.metrics.typed_json import plain

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """Who answered."""

    name: str
    """What tables call it."""
    method: str = ""
    """The embedding method, or whatever else tells it apart."""
    parameters: Any = None
    """The number of parameters, or a mapping of parts to numbers."""
    seed: int | None = None
    """The training seed."""
    table_seed: int | None = None
    """The seed of the random table that was used for these predictions."""
    command: str = ""
    """The command that made the predictions."""
    trained_on: Mapping[str, Any] = field(default_factory=dict)
    """The data set that it was trained on: its name and fingerprint."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Anything else that it says of itself, such as the method's options or the device."""
    predictions_sha256: tuple[str, ...] = ()
    """The checksums of the files of predictions, the one that counts first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetInfo:
    """Which rows were answered."""

    name: str
    """What tables call the data set."""
    task: str
    """The task's name."""
    split: str
    """The split."""
    fingerprint: str = ""
    """The data set's fingerprint."""
    rows: int = 0
    """How many rows the split has."""
    max_renamings: int | None = None
    """The cap on renamings of one problem; None where the set was not renamed."""
    regime: str = ""
    """How it relates to what a system was trained on: seen, all-unseen, more-symbols, ..."""
    window: str = ""
    """The positions of the names it may use, such as 0-4."""
    description: str = ""
    """A sentence about it, for readers who have seen nothing else."""
    example: tuple[str, ...] = ()
    """A row to show: its input and its target."""
    constant: str | None = None
    """The best constant answer, chosen on these rows."""
    errata: tuple[str, ...] = ()
    """Errors that were known of the data set when it was scored: ids of data/errata.toml."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """One figure over several files of predictions: not the error over items."""

    mean: float
    """The mean."""
    min: float
    """The least."""
    max: float
    """The greatest."""
    values: tuple[float, ...]
    """Each file's figure, in the order given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """The same system's other files of predictions on the same rows."""

    over: str
    """What differs: table_seed, seed, or file."""
    labels: tuple[str, ...]
    """Its value for each file."""
    estimates: Mapping[str, Spread]
    """The figures, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Everything that RESULT.json holds."""

    system: System
    """Who answered."""
    dataset: DatasetInfo
    """Which rows."""
    counts: Mapping[str, int]
    """Rows of each verdict."""
    num_foreign: int
    """Rows whose answer uses symbols that the input does not have."""
    estimates: Mapping[str, Estimate]
    """The figures by name: correct, lenient, exact, correct_hard, alpha_covariance, ..."""
    cells: tuple[Cell, ...] = ()
    """Correctness over the grid of num_symbols and size."""
    margins: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)
    """Correctness by `num_symbols` and by `size`: value to estimate."""
    alpha_covariance: AlphaSummary | None = None
    """Alpha-covariance in full, for renamed data sets."""
    proofs: Mapping[str, int] | None = None
    """Rows of each verdict on proofs, for tasks whose answers have proofs."""
    max_samples: int = 1
    """The largest number of samples of a row; the first is what counts."""
    reading: Reading = field(default_factory=Reading)
    """How the files of predictions were read."""
    repeats: Repeats | None = None
    """Mean and range over several files of predictions; the other figures are of the first."""
    versions: Mapping[str, Any] = field(default_factory=dict)
    """Versions and limits that decide the figures."""
    schema_version: int = SCHEMA_VERSION
    """The version of this layout."""

    def to_json(self) -> str:
        """Return the text of RESULT.json: a pure function of the result."""
        return json_text(plain(self))
