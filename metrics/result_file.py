"""Reading a RESULT.json, which may come from anyone: every value's type and range is checked."""

from pathlib import Path

from symshift.data.errors import DataError
from symshift.data.files import read_json
from symshift.metrics.ranges import require_ranges
from symshift.metrics.result import SCHEMA_VERSION, Result
from symshift.metrics.typed_json import typed


def read_result(path: Path | str) -> Result:
    """Read a RESULT.json.

    Raises:
        DataError: If it is missing, broken, of another version, or says what cannot be.
    """
    found = read_json(Path(path))
    version = found.get("schema_version") if isinstance(found, dict) else None
    if version != SCHEMA_VERSION:
        is_newer = type(version) is int and version > SCHEMA_VERSION
        remedy = "upgrade symshift, or write" if is_newer else "write"
        raise DataError(
            f"{path}: schema_version {version!r:.40}, this symshift reads {SCHEMA_VERSION}; "
            f"{remedy} it anew with `symshift score`"
        )
    try:
        result: Result = typed(found, Result, "result")
        require_ranges(result)
    except ValueError as error:
        raise DataError(f"{path}: {error}") from error
    return result
