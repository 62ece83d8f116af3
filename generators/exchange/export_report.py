"""How an export ended, and where it may write: it replaces nothing but its own files."""

import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from symshift.data.errors import DataError
from symshift.data.example import SPLITS
from symshift.data.files import LOCK_NAME, require_output


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """How an export ended."""

    path: Path
    """What was written: a folder, or a file."""
    rows: Mapping[str, int]
    """Rows written, by split."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Rows left out, by reason."""
    example: str = ""
    """The first row left out, and why."""
    next_step: str = ""
    """The command that uses what was written."""

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain values."""
        return {
            "path": str(self.path),
            "rows": dict(self.rows),
            "left_out": dict(self.left_out),
            "example": self.example,
            "next_step": self.next_step,
        }

    def to_text(self) -> str:
        """Return the report as lines to read."""
        rows = ", ".join(f"{self.rows[s]} {s}" for s in SPLITS if self.rows.get(s))
        left_out = [f"left out: {count} {why}" for why, count in self.left_out.items()]
        then = [f"then: {self.next_step}"] if self.next_step else []
        return "\n".join(
            [f"{self.path}: {rows} rows", *left_out, *filter(None, [self.example]), *then]
        )


def require_only(folder: Path, own: Collection[str], overwrite: bool) -> None:
    """Refuse a folder that holds anything but an export's own files, and those without consent.

    Raises:
        DataError: Naming the first such file.
    """
    allowed = set(own) if overwrite else set()
    if strangers := sorted({path.name for path in folder.iterdir()} - allowed - {LOCK_NAME}):
        hint = "" if overwrite else " or give --overwrite"
        raise DataError(f"{folder}: holds files ({strangers[0]!r}); choose an empty folder{hint}")


@contextmanager
def whole_folder(out: Path, own: Collection[str], *, overwrite: bool) -> Iterator[Path]:
    """Yield a hidden folder to write to; it becomes `out` at the end, or vanishes on an error.

    Args:
        out: The folder.
        own: The names that it will hold; nothing else is ever removed.
        overwrite: Replace what is there under these names.

    Raises:
        DataError: If other files are there.
    """
    if out.exists():
        require_only(out, own, overwrite)
    else:
        require_output(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    hidden = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    hidden.mkdir()
    try:
        yield hidden
        if out.exists():
            shutil.rmtree(out)
        hidden.replace(out)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
