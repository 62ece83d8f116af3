"""What a manifest must say before anything it says is believed: types, ranges, places."""

import re
from collections.abc import Mapping
from typing import Any

from symshift.data.example import SPLITS

MANIFEST_VERSION = 1
_PLACE = re.compile(r"data/[A-Za-z0-9_-][A-Za-z0-9._-]*\.parquet")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "task": str,
    "options": dict,
    "perturbation": str,
    "seed": (int, type(None)),
    "versions": dict,
    "vocabulary": dict,
    "files": list,
    "columns": list,
    "fingerprint": str,
    "asked": dict,
    "candidates": int,
    "rejects": dict,
    "missing": dict,
    "message": str,
    "cells": list,
    "hard_rows": dict,
    "solvers": dict,
}


def _name(kind: type | tuple[type, ...]) -> str:
    return kind.__name__ if isinstance(kind, type) else " or ".join(k.__name__ for k in kind)


def _is(value: Any, kind: type | tuple[type, ...]) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def manifest_fault(manifest: Any) -> str | None:
    """Return what is wrong with a parsed manifest.json, or None.

    A manifest may come from anyone, so the files that it names must lie in its own folder.
    """
    if not isinstance(manifest, dict):
        return f"is {type(manifest).__name__}, expected an object"
    if manifest.get("schema_version") != MANIFEST_VERSION:
        found = manifest.get("schema_version")
        return f"schema_version {found!r:.40}, this symshift reads {MANIFEST_VERSION}"
    for key, kind in _KINDS.items():
        if not _is(manifest.get(key), kind):
            return f"{key} is {manifest.get(key)!r:.40}, expected {_name(kind)}"
    window = manifest["vocabulary"].get("window")
    if not (_is(window, list) and len(window) == 2 and all(_is(end, int) for end in window)):
        return f"vocabulary.window is {window!r:.40}, expected two positions"
    for pair in manifest["columns"]:
        if not (_is(pair, list) and len(pair) == 2 and all(_is(part, str) for part in pair)):
            return f"columns has {pair!r:.40}, expected a name and a type"
    return _files_fault(manifest["files"])


def _files_fault(files: list[Any]) -> str | None:
    places = set()
    for at, file in enumerate(files):
        if not isinstance(file, dict):
            return f"files[{at}] is {file!r:.40}, expected an object"
        place, split = file.get("path"), file.get("split")
        if not isinstance(place, str) or not _PLACE.fullmatch(place) or place in places:
            return f"files[{at}].path is {place!r:.60}, expected another one of data/*.parquet"
        if split not in SPLITS:
            return f"files[{at}].split is {split!r:.40}, expected one of {', '.join(SPLITS)}"
        for key in ("rows", "bytes"):
            if not _is(file.get(key), int) or file[key] < 1:
                return f"files[{at}].{key} is {file.get(key)!r:.40}, expected a positive number"
        if not (_is(file.get("sha256"), str) and _SHA256.fullmatch(file["sha256"])):
            return f"files[{at}].sha256 is {file.get('sha256')!r:.40}, expected 64 hex digits"
        places.add(place)
    return None
