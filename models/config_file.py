"""What a run's config.json must say before anything it says is believed: types and shapes."""

from collections.abc import Mapping
from typing import Any

_KINDS: Mapping[str, type] = {
    "method": str,
    "options": dict,
    "train": dict,
    "seed": int,
    "task": str,
    "task_version": int,
    "fixed_tokens": list,
    "window": list,
    "dataset": dict,
}


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def config_fault(plain: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a parsed config.json, or None.

    Options and settings are left to those that declare them.
    """
    for key, kind in _KINDS.items():
        if not _is(plain.get(key), kind):
            return f"{key} is {plain.get(key)!r:.40}, expected {kind.__name__}"
    window, train = plain["window"], plain["train"]
    if len(window) != 2 or not all(_is(end, int) for end in window):
        return f"window is {window!r:.40}, expected two positions"
    if not _is(train.get("vocabulary"), int):
        return f"train.vocabulary is {train.get('vocabulary')!r:.40}, expected int"
    for key in ("fixed_tokens", "dataset"):
        values = plain[key].values() if key == "dataset" else plain[key]
        if not all(_is(value, str) for value in values):
            return f"{key} is {plain[key]!r:.60}, expected texts"
    return None
