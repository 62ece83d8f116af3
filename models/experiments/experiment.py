"""What an experiment is: data, systems x seeds and tests, read from one TOML file.

```toml
summary = "what it asks, in a line"

[data.train]                 # any name; the options of `symshift generate`
task = "ltl"
train = 20000
symbols = 3

[data.other-names]           # or a renamed copy of another one
rename = "names"             # and, if need be, only = "query", max_renamings = 1
into = "3-6"
title = "LTL in other names" # what the page calls it, and says of it
description = "..."

[train.ltl]                  # one group of runs, with settings that all its systems share
data = "train"
tests = ["names", "other-names"]
seeds = [0, 1]
table_seeds = [0, 1, 2]      # random tables that each run is tried with
redraw = ["none", "matched"] # besides, in tests of new names: fresh rows for untrained names
set = { steps = 800 }

[train.ltl.systems]          # a name, its settings, and its method where that is not the name
interchangeable = {}
"learned, no norm" = { method = "learned", final_norm = false, vocabulary = 7 }
```
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from symshift.data.catalogue import shipped_toml
from symshift.data.errors import DataError, UsageError, unknown_name
from symshift.data.example import SPLITS
from symshift.data.plugins import load_task
from symshift.generators.generation import plan, with_preset
from symshift.models.configuration import split_settings
from symshift.models.redrawing import require_redraw

SHOWN = ("title", "description", "regime")
"""What a page says of a data set."""
_PLAIN_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9_-]*")
_WISHES: dict[str, type] = {
    **dict.fromkeys(("task", "preset", "names", *SHOWN), str),
    **dict.fromkeys(("train", "validation", "test", "per_cell", "symbols", "seed"), int),
}
"""The types of what a data set is asked for; the task's own options say theirs."""
_RENAMING = ("rename", "into", "only", "max_renamings")


@dataclass(frozen=True, kw_only=True)
class Group:
    """Runs of several systems and seeds on one data set."""

    data: str
    """The data set to train on."""
    tests: tuple[str, ...]
    """The data sets to answer; their split `test`."""
    systems: Mapping[str, Mapping[str, Any]]
    """What is trained: a name, and its method (the name, if not given) and settings."""
    seeds: tuple[int, ...] = (0,)
    """The training seeds."""
    table_seeds: tuple[int, ...] = (0,)
    """The random tables that each run is tried with; the first gives the figures."""
    redraw: tuple[str, ...] = ("none", "matched")
    """The ways of redrawing.REDRAWS that are tried in tests of new names; "none" always is."""
    set: Mapping[str, Any] = field(default_factory=dict)
    """The settings that all systems share."""

    def method(self, system: str) -> str:
        """Return the method of a system."""
        return str(self.systems[system].get("method", system))

    def settings(self, system: str) -> dict[str, str]:
        """Return the settings of a system's runs, as texts of `--set`."""
        merged = {**self.set, **self.systems[system]}
        return {key: str(value) for key, value in merged.items() if key != "method"}


def folder_name(system: str) -> str:
    """Return the name of a system as a part of a file's name."""
    return re.sub("[^a-z0-9.]+", "-", system.lower()).strip("-.")


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What an experiment's file says."""

    name: str
    """Its name."""
    summary: str
    """What it asks, in a line."""
    data: Mapping[str, Mapping[str, Any]]
    """The data sets, in an order in which each comes after what it renames."""
    train: Mapping[str, Group]
    """The groups of runs."""

    def __post_init__(self) -> None:
        for name in (*self.data, *self.train):
            if not _PLAIN_NAME.fullmatch(name):
                raise UsageError(f"{name!r} names a folder: give letters, digits, - and _ alone")
        for name, wish in self.data.items():
            _check_wish(wish, f"data.{name}", self.data)
        for name, group in self.train.items():
            for used in (group.data, *group.tests):
                if used not in self.data:
                    raise unknown_name(f"data set in train.{name}", used, self.data)
            _check_rows(group, f"train.{name}", self.data)
            for how in group.redraw:
                require_redraw(how)
            _check_systems(group, f"train.{name}")


def _check_systems(group: Group, where: str) -> None:
    """Refuse systems of unknown methods or settings, or that share a folder."""
    folders: dict[str, str] = {}
    for system in group.systems:
        other = folders.setdefault(folder_name(system), system)
        if other != system or not folder_name(system):
            raise UsageError(f"{where}: {system!r} and {other!r} need names that differ in letters")
        try:
            split_settings(group.method(system), group.settings(system))
        except UsageError as error:
            raise UsageError(f"{where}: {system}: {error}") from None


def _check_wish(wish: Mapping[str, Any], where: str, data: Mapping[str, Any]) -> None:
    """Refuse a data set that says something unknown."""
    if "rename" in wish:
        _require_known(wish, (*_RENAMING, *SHOWN), where)
        if wish["rename"] not in data:
            raise unknown_name(f"data set to rename in {where}", wish["rename"], data)
        origin = data[wish["rename"]]
        if "rename" in origin:
            raise UsageError(f"{where}: {wish['rename']!r} is renamed itself; rename its origin")
        task = str(origin.get("task"))
        if "only" in wish and wish["only"] not in load_task(task).extra_columns:
            raise UsageError(f"{where}: task {task} has no column {wish['only']!r}")
    elif "task" in wish:
        for key, kind in _WISHES.items():
            if key in wish and type(wish[key]) is not kind:
                raise UsageError(f"{where}: {key}={wish[key]!r} must be of type {kind.__name__}")
        try:
            plan(wish["task"], drawn(wish))
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from None
    else:
        raise UsageError(f"{where}: give a task, or a data set to rename")


def _check_rows(group: Group, where: str, data: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse data sets of another task, or without the rows that they are used for.

    A copy has those of its origin. Cells alone are filled from all splits.
    """
    task = _origin(group.data, data)["task"]
    for used, split in ((group.data, "train"), *((name, "test") for name in group.tests)):
        origin = _origin(used, data)
        if origin["task"] != task:
            raise UsageError(f"{where}: data.{used} is of task {origin['task']}, not {task}")
        asked = drawn(origin)
        cells_alone = "per_cell" in asked and not any(asked.get(name) for name in SPLITS)
        if asked.get(split, 0) < 1 and not cells_alone:
            raise UsageError(f"{where}: data.{used} has no {split} rows; ask for {split} = N")


def _origin(name: str, data: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    return data[data[name].get("rename", name)]


def drawn(wish: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is asked of the generator, on top of the preset where one is named."""
    own = {k: v for k, v in wish.items() if k not in ("task", "preset", *SHOWN)}
    return with_preset(wish.get("preset"), wish["task"], own)


def load_experiment(name_or_path: str) -> Experiment:
    """Read an experiment from a TOML file, or a bundled one by its name.

    Raises:
        UsageError: If there is no such experiment, or it says something unknown.
        DataError: If the file is no TOML.
    """
    path = Path(name_or_path)
    is_file = path.suffix == ".toml"
    if is_file and not path.is_file():
        raise UsageError(f"{path}: no such file")
    if is_file:
        text = path.read_bytes().decode("utf-8", "replace")
    else:
        text = shipped_toml("experiments", "experiment", name_or_path)
    try:
        plain = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{name_or_path}: no TOML: {error}") from None
    _require_known(plain, ("summary", "data", "train"), name_or_path)
    for key in ("data", "train"):
        if not plain.get(key):
            raise UsageError(f"{name_or_path}: no [{key}.NAME]; an experiment needs one at least")
        _require_tables(plain[key], f"{name_or_path}: {key}")
    groups = {
        name: _group(given, f"{name_or_path}: train.{name}")
        for name, given in plain.get("train", {}).items()
    }
    return Experiment(
        name=path.stem if is_file else name_or_path,
        summary=plain.get("summary", ""),
        data=plain.get("data", {}),
        train=groups,
    )


def _require_known(given: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in given:
        if key not in known:
            raise unknown_name(f"key in {where}", key, known)


def _require_tables(given: Any, where: str) -> None:
    """Refuse what is no table of tables."""
    tables = given.values() if isinstance(given, Mapping) else [given]
    if not all(isinstance(table, Mapping) for table in tables):
        raise UsageError(f"{where}: expected tables, such as {{ name = {{ key = value }} }}")


_LISTS: dict[str, type] = {"tests": str, "seeds": int, "table_seeds": int, "redraw": str}


def _require_types(values: Mapping[str, Any], where: str) -> None:
    """Refuse values of a group that are of another type than they have to be."""
    for key, kind in _LISTS.items():
        found = values.get(key, [kind()])
        if not isinstance(found, list) or not found or any(type(v) is not kind for v in found):
            raise UsageError(f"{where}: {key} must be a list of type {kind.__name__}, not empty")
    if not isinstance(values["data"], str) or not isinstance(values.get("set", {}), Mapping):
        raise UsageError(f"{where}: data must be a name, set a table")
    _require_tables(values["systems"], f"{where}.systems")


def _group(given: Mapping[str, Any], where: str) -> Group:
    names = {name.replace("_", "-"): name for name in Group.__dataclass_fields__}
    _require_known(given, (*names, *names.values()), where)
    values = {key.replace("-", "_"): value for key, value in given.items()}
    for key in ("data", "tests", "systems"):
        if not values.get(key):
            raise UsageError(f"{where}: {key} is missing")
    _require_types(values, where)
    for key in _LISTS:
        if key in values:
            values[key] = tuple(values[key])
    return Group(**values)
