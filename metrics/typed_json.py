"""Dataclasses as JSON, and back with every type checked."""

import dataclasses
import math
import re
import types
import typing
from collections.abc import Mapping
from typing import Any

MAX_DEPTH = 20
_EXACT_FLOATS = 1 << 53
_SURROGATE = re.compile("[\ud800-\udfff]")


def plain(value: Any) -> Any:
    """Return a dataclass, and all in it, as values of JSON."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def typed(value: Any, kind: Any, where: str) -> Any:
    """Return a JSON value as the type that a field declares.

    Args:
        value: What was read from JSON.
        kind: The type: one of JSON's, a dataclass, a Mapping or tuple of such, or one or None.
        where: Its place, for messages.

    Raises:
        ValueError: If it is of another type; the message names the place.
    """
    if isinstance(kind, types.UnionType):
        rest = [k for k in typing.get_args(kind) if k is not type(None)]
        return None if value is None else typed(value, rest[0], where)
    if dataclasses.is_dataclass(kind):
        return _record(value, kind, where)
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is Mapping and isinstance(value, dict):
        return {
            typed(key, str, where): typed(item, args[1], f"{where}.{key}")
            for key, item in value.items()
        }
    if origin is tuple and isinstance(value, list):
        return tuple(typed(item, args[0], f"{where}[{at}]") for at, item in enumerate(value))
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
        return kind(**{k: typed(v, hints[k], f"{where}.{k}") for k, v in value.items()})
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
