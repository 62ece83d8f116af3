"""Exports data sets for other people's tools: text, prompts, an evaluation task, a hub folder."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from symshift.data.dataset import Dataset
from symshift.data.errors import UsageError, unknown_name
from symshift.data.prompts import PromptOptions
from symshift.generators.exchange.export_harness import export_harness_task
from symshift.generators.exchange.export_hub import export_hub_folder
from symshift.generators.exchange.export_prompts import export_prompts
from symshift.generators.exchange.export_report import ExportReport
from symshift.generators.exchange.export_text import TEXT_FORMATS, export_text


class _Exporter(Protocol):
    def __call__(self, dataset: Dataset, out: Path, *, overwrite: bool) -> ExportReport: ...


class _PromptExporter(Protocol):
    def __call__(
        self, dataset: Dataset, out: Path, options: PromptOptions, *, overwrite: bool
    ) -> ExportReport: ...


_WHOLE: Mapping[str, _Exporter] = {
    **{name: partial(export_text, name) for name in TEXT_FORMATS},
    "hub": export_hub_folder,
}
_PROMPTS: Mapping[str, _PromptExporter] = {
    "prompts": export_prompts,
    "lm-eval": export_harness_task,
}
FORMATS = (*_WHOLE, *_PROMPTS)
"""The formats that can be written."""


def export_dataset(
    format: str, dataset: Dataset, out: Path, *, overwrite: bool = False, **asked: Any
) -> ExportReport:
    """Write a data set in another format.

    Args:
        format: One of FORMATS.
        dataset: What to write.
        out: The folder to write; for prompts, the file.
        overwrite: Replace files of this format that are there.
        asked: Fields of PromptOptions, for the formats that ask a language model.

    Raises:
        UsageError: For an unknown format, one that cannot hold the task, or options that are not
            for it.
        DataError: If there are other files, or no row can be written.
    """
    if format in _PROMPTS:
        return _PROMPTS[format](dataset, out, PromptOptions(**asked), overwrite=overwrite)
    if format not in _WHOLE:
        raise unknown_name("format", format, FORMATS)
    if asked:
        name = next(iter(asked)).replace("_", "-")
        raise UsageError(f"--{name}: is for {' and '.join(_PROMPTS)}, not for {format}")
    return _WHOLE[format](dataset, out, overwrite=overwrite)
