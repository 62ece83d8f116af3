"""From what a user asks for to a written data set."""

import dataclasses
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from symshift.data.catalogue import shipped_toml
from symshift.data.errors import DataError, UsageError, unknown_name
from symshift.data.example import SPLITS, Example
from symshift.data.options import build, option_names
from symshift.data.plugins import load_task
from symshift.data.vocabulary import Window
from symshift.generators.candidates import Recipe, realise
from symshift.generators.demand import Demand, require_divisible
from symshift.generators.parts import Part, StoredOutcomes, write_part
from symshift.generators.perturbation import check_perturbation
from symshift.generators.pool import WorkerPool, num_usable_cpus
from symshift.generators.quota import Quota
from symshift.generators.ray_engine import RayEngine
from symshift.generators.writer import Report, config_of, write_dataset

DEFAULT_SYMBOLS = 5
ITEM_TIMEOUT_S = 60.0
WORKER_MEMORY_MB = 8192
_DEMAND = (*SPLITS, "per_cell", "hard_share")
_PRESET_TEXTS = ("summary", "task", "published", "differs")


@dataclass(frozen=True, kw_only=True)
class _Draw:
    """What a user may ask of every task, apart from `names`."""

    symbols: int | None = None
    perturb: str = "none"
    seed: int = 0


_RECIPE = ("names", *option_names(_Draw))


def recipe_for(task_name: str, wishes: Mapping[str, Any]) -> Recipe:
    """Check what a user wants to be drawn, and return it as a recipe.

    Args:
        task_name: The task.
        wishes: `symbols` (use the first so many names; 5 if not given), or `names` (a window),
            `perturb`, `seed`, and the task's options; as values or texts.

    Raises:
        UsageError: For anything unknown, contradictory or impossible.
    """
    task = load_task(task_name)
    options = option_names(task.options)
    _require_known(task_name, wishes, (*_RECIPE, *options))
    asked = build(_Draw, {key: wishes[key] for key in option_names(_Draw) if key in wishes})
    recipe = Recipe(
        task=task_name,
        options=build(task.options, {key: wishes[key] for key in options if key in wishes}),
        window=_window(asked.symbols, wishes.get("names")),
        perturbation=asked.perturb,
        seed=asked.seed,
    )
    check_perturbation(recipe.perturbation)
    task.stream(recipe.options, recipe.window)  # Refuses what no candidate can satisfy.
    return recipe


def _require_known(task_name: str, wishes: Mapping[str, Any], known: Sequence[str]) -> None:
    for key in wishes:
        if key in _DEMAND and key not in known:
            raise UsageError(
                f"{key}={wishes[key]!r} is for a data set that is written; here rows come without "
                "end, each with its split: take as many as you need"
            )
        if key not in known:
            raise unknown_name(f"option of {task_name}", key, known)


def _window(symbols: int | None, names: Any) -> Window:
    if symbols is not None and names is not None:
        raise UsageError("give --symbols or --names, not both")
    if names is not None:
        return names if isinstance(names, Window) else Window.parse(str(names))
    return Window.first(DEFAULT_SYMBOLS if symbols is None else symbols)


def plan(task_name: str, wishes: Mapping[str, Any]) -> tuple[Recipe, Demand]:
    """Check what a user asks for: what is drawn, and how many rows.

    Args:
        task_name: The task.
        wishes: What `recipe_for` takes, and `train`, `validation`, `test`, `per_cell` and
            `hard_share`.

    Raises:
        UsageError: For anything unknown, contradictory or impossible.
    """
    options = option_names(load_task(task_name).options)
    _require_known(task_name, wishes, (*_RECIPE, *_DEMAND, *options))
    demand = Demand(
        rows={split: wishes[split] for split in SPLITS if split in wishes},
        per_cell=wishes.get("per_cell"),
        hard_share=wishes.get("hard_share"),
    )
    recipe = recipe_for(task_name, {k: v for k, v in wishes.items() if k not in _DEMAND})
    if demand.per_cell is not None:
        if not hasattr(recipe.options, "balance"):
            raise UsageError(f"--per-cell: task {task_name} has no cells")
        options = dataclasses.replace(recipe.options, balance=True)
        recipe = dataclasses.replace(recipe, options=options)
    stream = load_task(task_name).stream(recipe.options, recipe.window)
    require_divisible(demand, stream.even, stream.bundle)
    return recipe, demand


def preset(name: str) -> tuple[str, dict[str, Any]]:
    """Return the task and the wishes of a preset.

    Raises:
        UsageError: If there is no preset of this name.
    """
    plain = tomllib.loads(shipped_toml("presets", "preset", name))
    return plain["task"], {k: v for k, v in plain.items() if k not in _PRESET_TEXTS}


def with_preset(name: str | None, task_name: str, wishes: Mapping[str, Any]) -> dict[str, Any]:
    """Return wishes on top of those of a preset.

    Raises:
        UsageError: If there is no preset of this name, or it is of another task.
    """
    if name is None:
        return dict(wishes)
    preset_task, preset_wishes = preset(name)
    if preset_task != task_name:
        raise UsageError(f"preset {name!r} is one of task {preset_task}, not {task_name}")
    if {"symbols", "names"} & wishes.keys():
        preset_wishes = {k: v for k, v in preset_wishes.items() if k not in ("symbols", "names")}
    return {**preset_wishes, **wishes}


def generate_dataset(
    task_name: str,
    out: Path,
    wishes: Mapping[str, Any],
    *,
    num_workers: int | None = None,
    overwrite: bool = False,
    engine: str = "local",
    part: str | None = None,
) -> Report:
    """Write a data set or one part of it, or go on with an interrupted one.

    Args:
        task_name: The task.
        out: The folder to write.
        wishes: What `plan` takes.
        num_workers: Processes; one a CPU if not given.
        overwrite: Replace a data set that is in the folder.
        engine: "local" for processes on this machine, "ray" for a Ray cluster.
        part: "I/N" for one part, to be merged with the others.

    Raises:
        UsageError: If no row is asked for, or what is asked is impossible.
        DataError: If the folder holds anything else.
    """
    recipe, demand = plan(task_name, wishes)
    if part is not None and overwrite:
        raise UsageError("--part and --overwrite do not go together: empty the folder instead")
    with _engine(engine, num_workers) as workers:
        if part is not None:
            return write_part(recipe, demand, Part.parse(part), out, workers)
        return write_dataset(recipe, demand, out, workers, overwrite=overwrite)


def _engine(name: str, num_workers: int | None) -> WorkerPool | RayEngine:
    if name == "ray":
        return RayEngine(num_workers, ITEM_TIMEOUT_S, WORKER_MEMORY_MB)
    if name != "local":
        raise unknown_name("engine", name, ("local", "ray"))
    return WorkerPool(num_workers or num_usable_cpus(), ITEM_TIMEOUT_S, WORKER_MEMORY_MB)


def merge_parts(folders: Sequence[Path], out: Path, *, overwrite: bool = False) -> Report:
    """Join the parts of a data set; the result has the bytes of a single run.

    Args:
        folders: All the parts, in any order.
        out: The folder to write.
        overwrite: Replace a data set that is in the folder.

    Raises:
        DataError: If a folder is no part of the same data set, made with these versions.
        SymshiftError: If a part is missing, or the parts do not reach far enough.
    """
    stored = StoredOutcomes(folders)
    config = stored.config
    wishes = {
        **config["options"],
        **config["asked"],
        "names": Window(*config["vocabulary"]["window"]),
        "perturb": config["perturbation"],
        "seed": config["seed"],
    }
    recipe, demand = plan(config["task"], wishes)
    here = config_of(recipe, demand)
    if here != config:
        raise DataError(
            f"{folders[0]}: made with {config['versions']}, this is {here['versions']}; merge with "
            "the same versions"
        )
    return write_dataset(recipe, demand, out, stored, overwrite=overwrite)


def generate_rows(recipe: Recipe) -> Iterator[Example]:
    """Yield the rows of a recipe in this process, in the order of their index, without end.

    Equivalent rows come once. The iterator ends only where the stream of candidates does.
    """
    stream = load_task(recipe.task).stream(recipe.options, recipe.window)
    endless = Demand(rows=dict.fromkeys(SPLITS, 2**62))
    quota = Quota(endless, even=stream.even, bundle=stream.bundle)
    indices = count() if stream.length is None else range(stream.length)
    for rows in quota.judge(realise((recipe, frozenset()), index) for index in indices):
        yield from rows
