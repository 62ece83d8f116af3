"""What there is to choose from, a line each, without importing any of it."""

import ast
import importlib.resources
import tomllib
from collections.abc import Callable
from importlib.resources.abc import Traversable

from symshift.data.errors import unknown_name
from symshift.data.plugins import plugin_names


def _plugins(package: str) -> dict[str, str]:
    """Return the first docstring line of each module of a package, read but not imported."""
    folder = importlib.resources.files(f"symshift.{package}")
    summaries = {}
    for name in plugin_names(package):
        source = folder.joinpath(f"{name.replace('-', '_')}.py").read_text("utf-8")
        docstring = ast.get_docstring(ast.parse(source)) or ""
        first = docstring.partition("\n")[0]
        summaries[name] = first.partition(": ")[2] or first
    return summaries


def _toml_files(folder: str) -> dict[str, Traversable]:
    entries = importlib.resources.files("symshift.data").joinpath(folder).iterdir()
    found = {entry.name.removesuffix(".toml"): entry for entry in entries}
    return {name: found[name] for name in sorted(found) if found[name].name.endswith(".toml")}


def _shipped(folder: str) -> dict[str, str]:
    return {
        name: tomllib.loads(entry.read_text("utf-8"))["summary"]
        for name, entry in _toml_files(folder).items()
    }


_KINDS: dict[str, Callable[[], dict[str, str]]] = {
    "tasks": lambda: _plugins("tasks"),
    "methods": lambda: _plugins("models.embeddings"),
    "presets": lambda: _shipped("presets"),
    "experiments": lambda: _shipped("experiments"),
}


def catalogue(kind: str) -> dict[str, str]:
    """Return the name and summary of every task, method, preset or experiment.

    Raises:
        UsageError: For any other kind.
    """
    if kind not in _KINDS:
        raise unknown_name("kind", kind, _KINDS)
    return _KINDS[kind]()


def shipped_toml(folder: str, kind: str, name: str) -> str:
    """Return the text of a TOML file that symshift ships.

    Args:
        folder: "presets" or "experiments".
        kind: What one of them is called in messages.
        name: Its name.

    Raises:
        UsageError: If there is none of this name.
    """
    files = _toml_files(folder)
    if name not in files:
        raise unknown_name(kind, name, files)
    return files[name].read_text("utf-8")
