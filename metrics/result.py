"""A result: what one system scored on one data set, and its JSON form.

A result file may come from anyone, so reading it checks every value's type and range.
"""

import dataclasses
import math
import re
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from symshift.data.errors import DataError
from symshift.data.files import json_text, read_json
from symshift.data.verdict import Estimate
from symshift.metrics.accuracy import Cell
from symshift.metrics.alpha_covariance import AlphaSummary
from symshift.metrics.ranges import require_ranges
from symshift.metrics.record import Reading

SCHEMA_VERSION = 1
MAX_DEPTH = 20
_EXACT_FLOATS = 1 << 53
_SURROGATE = re.compile("[\ud800-\udfff]")


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

    def __post_init__(self) -> None:
        require_ranges(self)

    def to_json(self) -> str:
        """Return the text of RESULT.json: a pure function of the result."""
        return json_text(_plain(self))


def read_result(path: Path | str) -> Result:
    """Read a RESULT.json.

    Raises:
        DataError: If it is missing, broken, of another version, or says what cannot be.
    """
    found = read_json(Path(path))
    version = found.get("schema_version") if isinstance(found, dict) else None
    if version != SCHEMA_VERSION:
        is_newer = type(version) is int and version > SCHEMA_VERSION
        remedy = "upgrade symshift, or write" if is_newer else "write"
        raise DataError(
            f"{path}: schema_version {version!r:.40}, this symshift reads {SCHEMA_VERSION}; "
            f"{remedy} it anew with `symshift score`"
        )
    try:
        return typing.cast(Result, _typed(found, Result, "result"))
    except ValueError as error:
        raise DataError(f"{path}: {error}") from error


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _typed(value: Any, kind: Any, where: str) -> Any:
    """Return a JSON value as the type that a field declares, or raise ValueError."""
    if isinstance(kind, types.UnionType):
        rest = [k for k in typing.get_args(kind) if k is not type(None)]
        return None if value is None else _typed(value, rest[0], where)
    if dataclasses.is_dataclass(kind):
        return _record(value, kind, where)
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is Mapping and isinstance(value, dict):
        return {
            _typed(key, str, where): _typed(item, args[1], f"{where}.{key}")
            for key, item in value.items()
        }
    if origin is tuple and isinstance(value, list):
        return tuple(_typed(item, args[0], f"{where}[{at}]") for at, item in enumerate(value))
    if kind is float and type(value) is int and abs(value) < _EXACT_FLOATS:
        value = float(value)
    if kind is Any:
        return require_storable(value, where)
    if origin is not None or type(value) is not kind:
        raise ValueError(f"{where} is {value!r:.60}, expected {getattr(kind, '__name__', kind)}")
    return require_storable(value, where)


def _record(value: Any, kind: Any, where: str) -> Any:
    fields = {f.name: f for f in dataclasses.fields(kind)}
    if not isinstance(value, dict):
        raise ValueError(f"{where} is {value!r:.60}, expected an object of {', '.join(fields)}")
    if unknown := value.keys() - fields.keys():
        names = ", ".join(map(repr, sorted(unknown)))
        raise ValueError(
            f"{where} has {names:.60}, which this symshift does not know; a newer one may read it"
        )
    hints = typing.get_type_hints(kind)
    try:
        return kind(**{k: _typed(v, hints[k], f"{where}.{k}") for k, v in value.items()})
    except TypeError as error:
        raise ValueError(f"{where}: {error}") from error


def require_storable(value: Any, where: str, max_depth: int = MAX_DEPTH) -> Any:
    """Return a JSON value if every text in it is Unicode, every number finite, and it is shallow.

    Raises:
        ValueError: If not; the message names the place.
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{where} is {value}, no finite number")
    if isinstance(value, str) and not value.isascii() and _SURROGATE.search(value):
        raise ValueError(f"{where} is {value!r:.60}, which holds a lone surrogate")
    if max_depth < 0:
        raise ValueError(f"{where:.60} is nested more than {MAX_DEPTH} deep")
    if isinstance(value, dict):
        for key, item in value.items():
            require_storable(key, where)
            require_storable(item, f"{where}.{key}", max_depth - 1)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            require_storable(item, f"{where}[{at}]", max_depth - 1)
    return value
