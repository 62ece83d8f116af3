"""Who made a file of predictions, as PREDICTIONS.meta.json beside it says."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from symshift.data.errors import DataError
from symshift.data.files import read_json, require_regular, sha256_of
from symshift.metrics.region import require_region
from symshift.metrics.result import System
from symshift.metrics.typed_json import require_storable

_SETTINGS = (
    *("options", "output", "checkpoint", "phase", "redraw_unseen"),
    *("device", "dtype", "beam", "constrained", "batch_size"),
)


def read_system(predictions: Path, name: str | None = None) -> System:
    """Return what is known of the system that made a file of predictions.

    Args:
        predictions: The file; its `.meta.json` is read where there is one.
        name: A name to use instead of the one that the system gives itself.

    Raises:
        DataError: If the meta file is broken or a value has the wrong type.
        UsageError: If the file is no regular one.
    """
    require_regular(predictions)
    checksum = (sha256_of(predictions),)
    meta_path = next((path for path in meta_paths(predictions) if path.is_file()), None)
    if meta_path is None:
        return System(name=name or predictions.stem, predictions_sha256=checksum)
    meta = _read_meta(meta_path)
    return System(
        name=name or meta.get("name") or predictions.stem,
        method=meta.get("method") or "",
        parameters=meta.get("parameters"),
        seed=meta.get("seed"),
        table_seed=meta.get("table_seed"),
        command=meta.get("command") or "",
        trained_on=meta.get("trained_on") or {},
        settings={key: meta[key] for key in _SETTINGS if meta.get(key) is not None},
        predictions_sha256=checksum,
    )


def _read_meta(meta_path: Path) -> Mapping[str, Any]:
    meta = read_json(meta_path)
    if not isinstance(meta, dict):
        raise DataError(f"{meta_path}: expected an object")
    try:
        require_storable(meta, "meta")
    except ValueError as error:
        raise DataError(f"{meta_path}: {error}") from error
    for key, kind in (("name", str), ("method", str), ("command", str), ("trained_on", dict)):
        _check(meta_path, meta, key, kind)
    for key in ("seed", "table_seed"):
        _check(meta_path, meta, key, int)
    require_region(meta.get("trained_on") or {}, meta_path)
    return meta


def meta_paths(predictions: Path) -> tuple[Path, Path]:
    """Return where the meta file of predictions may lie; the first that is there counts."""
    beside = predictions.with_name(predictions.name + ".meta.json")
    return beside, predictions.with_suffix(".meta.json")


def _check(path: Path, meta: Mapping[str, Any], key: str, kind: type) -> None:
    value = meta.get(key)
    if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
        raise DataError(f"{path}: {key} is {value!r:.60}, expected {kind.__name__}")
