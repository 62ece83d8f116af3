"""Exports data sets as text, a file a split: DeepLTL's two lines an example, or JSON lines.

DeepLTL's files are train.txt, val.txt and test.txt, in Polish notation (data.polish). Rows that
its published reader could not read are left out and counted, never rewritten.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from tqdm import tqdm

from symshift.data import formula as formulas
from symshift.data import polish
from symshift.data.assignment import AssignmentError
from symshift.data.dataset import Dataset
from symshift.data.errors import DataError, UsageError, unknown_name
from symshift.data.example import SPLITS, Example
from symshift.data.files import LOCK_NAME, locked_folder, whole_file
from symshift.data.formula import FormulaError

UNWRITABLE = "that the published reader could not read"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """How an export ended."""

    path: Path
    """The folder."""
    rows: Mapping[str, int]
    """Rows written, by split."""
    left_out: Mapping[str, int]
    """Rows left out, by reason."""
    example: str = ""
    """The first row left out, and why."""

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain values."""
        return {
            "path": str(self.path),
            "rows": dict(self.rows),
            "left_out": dict(self.left_out),
            "example": self.example,
        }

    def to_text(self) -> str:
        """Return the report as lines to read."""
        rows = ", ".join(f"{self.rows[s]} {s}" for s in SPLITS if self.rows.get(s))
        left_out = [f"left out: {count} {why}" for why, count in self.left_out.items()]
        return "\n".join([f"{self.path}: {rows} rows", *left_out, *filter(None, [self.example])])


def _deepltl(row: Example) -> str:
    """Return a row as DeepLTL's two lines.

    Raises:
        FormulaError: If the published reader could not read it.
        AssignmentError: The same.
    """
    formula = polish.show_formula(formulas.parse(row.input))
    return f"{formula}\n{polish.target_to_polish(row.task, row.target)}\n"


def _jsonl(row: Example) -> str:
    return json.dumps(dict(row), ensure_ascii=False) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Format:
    write: Callable[[Example], str]
    file_names: Mapping[str, str]
    tasks: tuple[str, ...] | None


FORMATS = {
    "deepltl": _Format(
        write=_deepltl,
        file_names={"train": "train.txt", "validation": "val.txt", "test": "test.txt"},
        tasks=("ltl", "prop"),
    ),
    "jsonl": _Format(
        write=_jsonl,
        file_names={split: f"{split}.jsonl" for split in SPLITS},
        tasks=None,
    ),
}
"""How each format writes a row, and where."""


def export_dataset(
    format: str, dataset: Dataset, out: Path, *, overwrite: bool = False
) -> ExportReport:
    """Write a data set in another format, one file a split.

    Args:
        format: "deepltl" or "jsonl".
        dataset: What to write.
        out: The folder to write.
        overwrite: Replace files of this format that are there.

    Raises:
        UsageError: For an unknown format, or one that cannot hold the task.
        DataError: If the folder holds other files, or no row can be written.
    """
    if format not in FORMATS:
        raise unknown_name("format", format, FORMATS)
    style = FORMATS[format]
    if style.tasks and dataset.task_name not in style.tasks:
        raise UsageError(f"{format} holds {' or '.join(style.tasks)}, not {dataset.task_name}")
    with locked_folder(out):
        _clear(out, style, overwrite)
        rows: Counter[str] = Counter()
        refused = _Refused()
        for split in dataset.splits:
            rows[split] = _write(dataset, split, out / style.file_names[split], style, refused)
        if not rows.total():
            raise DataError(f"{dataset.path}: no row can be written as {format}: {refused.example}")
    left_out = {UNWRITABLE: refused.count} if refused.count else {}
    return ExportReport(path=out, rows=rows, left_out=left_out, example=refused.example)


@dataclass(slots=True)
class _Refused:
    """Rows that a format cannot hold."""

    count: int = 0
    example: str = ""


def _clear(out: Path, style: _Format, overwrite: bool) -> None:
    own = set(style.file_names.values()) if overwrite else set()
    if strangers := sorted({path.name for path in out.iterdir()} - own - {LOCK_NAME}):
        hint = "" if overwrite else " or give --overwrite"
        raise DataError(f"{out}: holds files ({strangers[0]!r}); choose an empty folder{hint}")
    for name in own:
        (out / name).unlink(missing_ok=True)


def _write(dataset: Dataset, split: str, path: Path, style: _Format, refused: _Refused) -> int:
    """Write a split and return how many rows; with none, there is no file."""
    texts = _texts(dataset, split, style, refused)
    if (first := next(texts, None)) is None:
        return 0
    rows = 0
    with whole_file(path) as hidden, hidden.open("w", encoding="utf-8", newline="\n") as file:
        for text in chain([first], texts):
            file.write(text)
            rows += 1
    return rows


def _texts(dataset: Dataset, split: str, style: _Format, refused: _Refused) -> Iterator[str]:
    total = dataset.num_rows(split)
    for row in tqdm(dataset.rows(split), total=total, unit="row", disable=None, desc=split):
        try:
            yield style.write(row)
        except (FormulaError, AssignmentError) as error:
            refused.count += 1
            refused.example = refused.example or f"such as {row.id}: {error}"
