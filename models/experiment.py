"""What an experiment is: data, methods x seeds and tests, read from one TOML file.

```toml
summary = "what it asks, in a line"

[data.train]                 # any name; the options of `symshift generate`
task = "ltl"
train = 20000
symbols = 3

[data.other-names]           # or a renamed copy of another one
rename = "names"
into = "3-6"
title = "LTL in other names" # what the page calls it, and says of it
description = "..."

[train.ltl]                  # one group of runs: all methods get the same settings
data = "train"
tests = ["names", "other-names"]
methods = ["learned", "interchangeable"]
seeds = [0, 1]
table_seeds = [0, 1, 2]      # random tables that each run is tried with
set = { steps = 800 }
method-set = { learned = { vocabulary = 7 } }
```
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from symshift.data.catalogue import shipped_toml
from symshift.data.errors import DataError, UsageError, unknown_name
from symshift.generators.generation import plan, with_preset

SHOWN = ("title", "description", "regime")
"""What a page says of a data set."""
_RENAMING = ("rename", "into", "max_renamings")


@dataclass(frozen=True, kw_only=True)
class Group:
    """Runs of several methods and seeds on one data set, with the same settings."""

    data: str
    """The data set to train on."""
    tests: tuple[str, ...]
    """The data sets to answer; their split `test`."""
    methods: tuple[str, ...]
    """The methods."""
    seeds: tuple[int, ...] = (0,)
    """The training seeds."""
    table_seeds: tuple[int, ...] = (0,)
    """The random tables that each run is tried with; the first gives the figures."""
    set: Mapping[str, Any] = field(default_factory=dict)
    """The settings of every run."""
    method_set: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Settings of single methods."""

    def settings(self, method: str) -> dict[str, str]:
        """Return the settings of a method's runs, as texts of `--set`."""
        merged = {**self.set, **self.method_set.get(method, {})}
        return {key: str(value) for key, value in merged.items()}


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
        for name, wish in self.data.items():
            _check_wish(wish, f"data.{name}", self.data)
        for name, group in self.train.items():
            for used in (group.data, *group.tests):
                if used not in self.data:
                    raise unknown_name(f"data set in train.{name}", used, self.data)
            for method in group.method_set:
                if method not in group.methods:
                    raise unknown_name(f"method in train.{name}", method, group.methods)


def _check_wish(wish: Mapping[str, Any], where: str, data: Mapping[str, Any]) -> None:
    """Refuse a data set that says something unknown."""
    if "rename" in wish:
        _require_known(wish, (*_RENAMING, *SHOWN), where)
        if wish["rename"] not in data:
            raise unknown_name(f"data set to rename in {where}", wish["rename"], data)
    elif "task" in wish:
        plan(wish["task"], drawn(wish))
    else:
        raise UsageError(f"{where}: give a task, or a data set to rename")


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


def _group(given: Mapping[str, Any], where: str) -> Group:
    names = {name.replace("_", "-"): name for name in Group.__dataclass_fields__}
    _require_known(given, (*names, *names.values()), where)
    values = {key.replace("-", "_"): value for key, value in given.items()}
    for key in ("data", "tests", "methods"):
        if not values.get(key):
            raise UsageError(f"{where}: {key} is missing")
    for key in ("tests", "methods", "seeds", "table_seeds"):
        if key in values:
            values[key] = tuple(values[key])
    return Group(**values)
