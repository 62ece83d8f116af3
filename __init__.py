"""symshift: does a model reason over symbols, or over the names it was trained on?

The public functions are imported when they are first used, so `import symshift` costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symshift.data.example import Example
    from symshift.data.task import Task
    from symshift.metrics.result import Result

__all__ = ["__version__", "generate", "load", "score", "task"]
__version__ = "0.1.0"


def task(name: str) -> Task:
    """Return a task; its `check(row, text)` judges one answer.

    Args:
        name: Such as "ltl" (`symshift list tasks`).

    Raises:
        UsageError: If there is no task of this name.
    """
    from symshift.data.plugins import load_task

    return load_task(name)


def generate(task: str, **wishes: Any) -> Iterator[Example]:
    """Yield rows of a task, without end where there is none, each problem once.

    Args:
        task: The task's name.
        wishes: `symbols` or `names`, `perturb`, `seed`, and the task's options, as `symshift
            generate TASK -h` lists them (`_` for `-`).

    Raises:
        UsageError: For anything unknown or impossible.
    """
    from symshift.generators.generation import generate_rows, recipe_for

    return generate_rows(recipe_for(task, wishes))


def load(path: str, split: str) -> Iterator[Example]:
    """Yield the rows of a split of a data set on disk.

    Args:
        path: The data set's folder.
        split: train, validation or test.

    Raises:
        DataError: If the folder holds no finished data set, or a file is broken.
    """
    from symshift.data.dataset import open_dataset

    return open_dataset(path).rows(split)


def score(rows: list[Mapping[str, Any]], predictions: Mapping[str, str]) -> Result:
    """Score predictions for rows.

    Args:
        rows: Rows of one task, as `load` or `generate` yields them.
        predictions: A text for each id; rows without one are missing.

    Raises:
        DataError: If an id is unknown, or a row's own target is not right.
        ValueError: If there are no rows.
    """
    from symshift.data.dataset import fingerprint_of
    from symshift.metrics.predictions import predictions_from
    from symshift.metrics.result import DatasetInfo, System
    from symshift.metrics.scoring import score as score_rows

    if not rows:
        raise ValueError("rows=[]: nothing to score")
    if missing := {"id", "task", "input", "target"} - set(rows[0]):
        raise ValueError(f"rows lack {', '.join(sorted(missing))}")
    name, split = rows[0]["task"], rows[0].get("split", "")
    info = DatasetInfo(name=name, task=name, split=split, fingerprint=fingerprint_of(rows))
    given = predictions_from(predictions)
    return score_rows(
        rows, [given], task(name), dataset=info, systems=[System(name="predictions")]
    ).result
