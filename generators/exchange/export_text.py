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

from tqdm import tqdm

from symshift.data import formula as formulas
from symshift.data import polish
from symshift.data.assignment import AssignmentError
from symshift.data.dataset import Dataset
from symshift.data.errors import DataError, UsageError
from symshift.data.example import SPLITS, Example
from symshift.data.files import locked_folder, whole_file
from symshift.data.formula import FormulaError
from symshift.generators.exchange.export_report import ExportReport, require_only

UNWRITABLE = "that the published reader could not read"


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


TEXT_FORMATS = {
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


def export_text(format: str, dataset: Dataset, out: Path, *, overwrite: bool) -> ExportReport:
    """Write a data set as text, one file a split.

    Args:
        format: "deepltl" or "jsonl".
        dataset: What to write.
        out: The folder to write.
        overwrite: Replace files of this format that are there.

    Raises:
        UsageError: If the format cannot hold the task.
        DataError: If the folder holds other files, or no row can be written.
    """
    style = TEXT_FORMATS[format]
    if style.tasks and dataset.task_name not in style.tasks:
        raise UsageError(f"{format} holds {' or '.join(style.tasks)}, not {dataset.task_name}")
    with locked_folder(out):
        own = style.file_names.values()
        require_only(out, own, overwrite)
        for name in own:
            (out / name).unlink(missing_ok=True)
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
