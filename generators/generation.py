"""From what a user asks for to a written data set."""

from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from symshift.data.errors import UsageError
from symshift.data.example import Example
from symshift.data.options import build
from symshift.data.plugins import load_task
from symshift.data.vocabulary import Window
from symshift.generators.candidates import Recipe, realise
from symshift.generators.perturbation import check_perturbation
from symshift.generators.pool import WorkerPool, num_usable_cpus
from symshift.generators.quota import Quota
from symshift.generators.writer import Report, write_dataset

DEFAULT_SYMBOLS = 5
ITEM_TIMEOUT_S = 60.0
WORKER_MEMORY_MB = 8192


def recipe_for(
    task_name: str,
    *,
    symbols: int | None = None,
    names: Window | None = None,
    options: Mapping[str, Any] | None = None,
    perturbation: str = "none",
    seed: int = 0,
) -> Recipe:
    """Check what a user asks for and return it as a recipe.

    Args:
        task_name: The task.
        symbols: Use the first so many names; 5 if neither this nor `names` is given.
        names: Use the names of this window.
        options: The task's options, as values or texts.
        perturbation: How symbols get names.
        seed: The seed.

    Raises:
        UsageError: For anything unknown, contradictory or impossible.
    """
    task = load_task(task_name)
    if symbols is not None and names is not None:
        raise UsageError("give --symbols or --names, not both")
    window = names or Window.first(DEFAULT_SYMBOLS if symbols is None else symbols)
    check_perturbation(perturbation)
    recipe = Recipe(
        task=task_name,
        options=build(task.options, options or {}),
        window=window,
        perturbation=perturbation,
        seed=seed,
    )
    task.candidate(recipe.options, window, seed, 0)  # Refuses what no candidate can satisfy.
    return recipe


def generate_dataset(
    task_name: str,
    out: Path,
    *,
    rows: Mapping[str, int],
    num_workers: int | None = None,
    overwrite: bool = False,
    **wishes: Any,
) -> Report:
    """Write a data set, or go on with an interrupted one.

    Args:
        task_name: The task.
        out: The folder to write.
        rows: How many rows of each split.
        num_workers: Processes; one a CPU if not given.
        overwrite: Replace a data set that is in the folder.
        wishes: What `recipe_for` takes.

    Raises:
        UsageError: If no row is asked for, or the recipe is impossible.
        DataError: If the folder holds anything else.
    """
    if not sum(rows.values()):
        raise UsageError("no row asked for: give --train, --validation or --test")
    recipe = recipe_for(task_name, **wishes)
    with WorkerPool(num_workers or num_usable_cpus(), ITEM_TIMEOUT_S, WORKER_MEMORY_MB) as pool:
        return write_dataset(recipe, rows, out, pool, overwrite=overwrite)


def generate_rows(recipe: Recipe) -> Iterator[Example]:
    """Yield the rows of a recipe in this process, in the order of their index, without end.

    Equivalent rows come once. The iterator ends only where the stream of candidates does.
    """
    task = load_task(recipe.task)
    end = task.num_candidates(recipe.options, recipe.window)
    quota = Quota(dict.fromkeys(("train", "validation", "test"), 2**62))
    for index in count() if end is None else range(end):
        outcome = realise((recipe, frozenset()), index)
        if quota.judge(outcome):
            assert isinstance(outcome, Example)
            yield outcome
