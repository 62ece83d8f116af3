"""Look-up by file name: `tasks/NAME.py` is the task NAME, and nothing else has to be edited."""

import functools
import importlib
import importlib.util
import pkgutil
from types import ModuleType
from typing import cast

from symshift.data.errors import unknown_name
from symshift.data.task import Task


def plugin_names(package: str) -> tuple[str, ...]:
    """Return the names of the modules in a package of symshift, without importing them.

    Args:
        package: Such as "tasks" or "models.embeddings"; `_` in a file name stands for `-`.
    """
    spec = importlib.util.find_spec(f"symshift.{package}")
    paths = spec.submodule_search_locations if spec else None
    found = (module.name for module in pkgutil.iter_modules(paths))
    return tuple(sorted(name.replace("_", "-") for name in found if not name.startswith("_")))


def plugin(package: str, kind: str, name: str) -> ModuleType:
    """Import the module of a package that carries a name.

    Raises:
        UsageError: If there is none; the nearest name is offered.
    """
    if name not in (names := plugin_names(package)):
        raise unknown_name(kind, name, names)
    return importlib.import_module(f"symshift.{package}.{name.replace('-', '_')}")


@functools.cache
def load_task(name: str) -> Task:
    """Return the task with this name.

    Raises:
        UsageError: If there is none; the nearest name is offered.
    """
    return cast(Task, plugin("tasks", "task", name).TASK)
