"""Exports a folder that is ready to be uploaded to a hub of data sets; nothing is uploaded.

It is a data set as it was (`symshift verify` and `symshift score` take it), its card with what
readers need besides, `eval.yaml`, which names it as a benchmark to the Hugging Face hub, and
CITATION.cff.
"""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from symshift.data.dataset import Dataset
from symshift.data.files import write_text
from symshift.data.plugins import load_task
from symshift.generators.card import LICENSE, card_text
from symshift.generators.exchange.export_report import ExportReport, whole_folder

OWN_NAMES = ("CITATION.cff", "README.md", "data", "eval.yaml", "manifest.json")
FRAMEWORK = "symshift"
"""What scores answers; the hub shows a benchmark once it knows the name."""

_USE = """\
## Scoring answers

Write answers as JSON lines, `{{"id": "...", "prediction": "..."}}`, download this folder, then

    symshift score FOLDER ANSWERS.jsonl -o result.json{split}

which decides for each answer whether it is right at all; comparing it with `target` would miss the
other right answers. The rows of the training split may be learned from, the others may not.

## Citation

See CITATION.cff.
"""


def export_hub_folder(dataset: Dataset, out: Path, *, overwrite: bool) -> ExportReport:
    """Write a data set with a card, eval.yaml and CITATION.cff.

    Raises:
        DataError: If the folder holds other files, or a shard is broken.
    """
    with whole_folder(out, OWN_NAMES, overwrite=overwrite) as hidden:
        (hidden / "data").mkdir()
        for split in dataset.splits:
            for path in dataset.files(split):
                shutil.copyfile(path, hidden / "data" / path.name)
        shutil.copyfile(dataset.path / "manifest.json", hidden / "manifest.json")
        write_text(hidden / "README.md", _card(dataset))
        write_text(hidden / "eval.yaml", _evaluation(dataset, out.resolve().name))
        write_text(hidden / "CITATION.cff", _citation(dataset.manifest, dataset.name))
    rows = {split: dataset.num_rows(split) for split in dataset.splits}
    return ExportReport(
        path=out, rows=rows, next_step=f"hf upload OWNER/NAME {out} --repo-type dataset"
    )


def _asked_split(dataset: Dataset) -> str:
    return "test" if "test" in dataset.splits else dataset.splits[-1]


def _card(dataset: Dataset) -> str:
    """Return the data set's own card, which its owner may have changed, and how to use it."""
    path, split = dataset.path / "README.md", _asked_split(dataset)
    own = path.read_text(encoding="utf-8") if path.is_file() else card_text(dataset.manifest)
    option = "" if split == "test" else f" --split {split}"
    return f"{own.rstrip()}\n\n{_USE.format(split=option)}"


def _evaluation(dataset: Dataset, name: str) -> str:
    # JSON strings are YAML strings, which spares a YAML library.
    task = load_task(dataset.task_name)
    lines = [
        f"name: {json.dumps(name, ensure_ascii=False)}",
        f"description: {json.dumps(task.summary)}",
        f"evaluation_framework: {FRAMEWORK}",
        "tasks:",
        f"- id: {task.name}",
        "  config: default",
        f"  split: {_asked_split(dataset)}",
    ]
    return "\n".join(lines) + "\n"


def _citation(manifest: Mapping[str, Any], name: str) -> str:
    is_imported = "imported_from" in manifest
    authors = "The publisher of the imported rows" if is_imported else "The symshift authors"
    lines = [
        "cff-version: 1.2.0",
        'message: "If you use this data set, please cite it, and symshift."',
        "type: dataset",
        f"title: {json.dumps(name, ensure_ascii=False)}",
        f"version: {json.dumps(manifest['fingerprint'])}",
        *([] if is_imported else [f"license: {LICENSE.upper()}"]),
        "authors:",
        f"- name: {json.dumps(authors)}",
    ]
    return "\n".join(lines) + "\n"
