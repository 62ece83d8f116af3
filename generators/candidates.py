"""From an index to a row: the one path that every candidate of every task takes."""

from collections.abc import Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from symshift.data.example import Example, canonical_id_of, row_id_of, split_of
from symshift.data.plugins import load_task
from symshift.data.seeds import Draws
from symshift.data.task import Cell, Problem, Rejected, Solution, Task
from symshift.data.text import is_name, rename_text, rename_values, tokens_of
from symshift.data.vocabulary import Window
from symshift.generators.perturbation import IN_ORDER, give_names

FULL = "surplus"
MAX_KEPT_TEXT = 200
"""Characters of a problem that may come up again."""
Full = Set[str | Cell]
"""The splits and cells that need no more rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Everything that decides the rows of a data set, apart from how many are kept."""

    task: str
    """The task's name."""
    options: Any
    """The task's options: a frozen instance of Task.options."""
    window: Window
    """The names to use."""
    perturbation: str = "none"
    """How symbols get their names (generators.perturbation)."""
    seed: int = 0
    """The seed."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A candidate that gives no row, and why."""

    reason: str
    """What the manifest counts it under."""
    split: str | None = None
    """Its split, where it got far enough to have one."""
    cell: Cell | None = None
    """Its cell, where it got far enough to have one."""


def _named(task: Task, recipe: Recipe, problem: Problem, target: str, index: int) -> dict[str, str]:
    if task.names_matter and recipe.perturbation == "none":
        return {}  # The candidate was drawn with its names.
    symbols: tuple[str, ...] = problem.symbols
    in_target: tuple[str, ...] = ()
    if recipe.perturbation in IN_ORDER:
        symbols, in_target = _symbols_in(problem.input), _symbols_in(target)
    draws = Draws("names", task.name, task.version, recipe.seed, index)
    return give_names(recipe.perturbation, symbols, in_target, recipe.window, draws)


def _symbols_in(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(is_name, tokens_of(text))))


def _example(
    task: Task, recipe: Recipe, problem: Problem, solution: Solution, index: int
) -> Example:
    names = _named(task, recipe, problem, solution.target, index)
    text = rename_text(problem.input, names)
    canonical_text = text if task.names_matter else problem.canonical_text
    return Example(
        id=row_id_of(task.name, text),
        task=task.name,
        input=text,
        target=rename_text(solution.target, names),
        symbols=tuple(names.get(symbol, symbol) for symbol in problem.symbols),
        num_symbols=len(problem.symbols),
        size=problem.size,
        canonical_id=canonical_id_of(task.name, canonical_text),
        split=split_of(task.name, text if task.names_matter else problem.decides_split),
        perturbation=recipe.perturbation,
        shortcuts=solution.shortcuts,
        index=index,
        solver=solution.solver,
        extra=rename_values(solution.extra, names),
    )


def _solved(task: Task, problem: Problem) -> Solution | Rejected:
    """Solve a problem; small ones come up again and again, so the last answers are kept."""
    if len(problem.input) > MAX_KEPT_TEXT:
        return task.solve(problem)
    return _solved_before(task.name, problem)


@lru_cache(maxsize=1 << 14)
def _solved_before(task_name: str, problem: Problem) -> Solution | Rejected:
    return load_task(task_name).solve(problem)


def realise(context: tuple[Recipe, Full], index: int) -> Example | Skipped:
    """Make the row of one candidate, or say why there is none.

    Args:
        context: The recipe, and the splits and cells that need no more rows (their problems are
            not solved).
        index: Which candidate of the stream.

    Returns:
        A pure function of recipe and index, but for candidates of full splits and cells.
    """
    recipe, full = context
    task = load_task(recipe.task)
    stream = task.stream(recipe.options, recipe.window)
    cell = stream.place(recipe.seed, index)
    if cell is not None and cell in full:
        return Skipped(FULL, cell=cell)
    problem = stream.problem(recipe.seed, index)
    if isinstance(problem, Rejected):
        return Skipped(problem.reason, cell=cell)
    cell = (len(problem.symbols), problem.size)
    if not task.names_matter and (split := split_of(task.name, problem.decides_split)) in full:
        return Skipped(FULL, split, cell)
    solution = _solved(task, problem)
    if isinstance(solution, Rejected):
        return Skipped(solution.reason, split_of(task.name, problem.decides_split), cell)
    return _example(task, recipe, problem, solution, index)
