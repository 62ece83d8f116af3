"""Exports prompts for any language model, a JSON line each, without the answers.

Each line has the row's `id`, its `task`, chat `messages` and the same as one plain `prompt`.
Whoever asks a model writes its answers as {"id": ..., "prediction": ...} and has them scored.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tqdm import tqdm

from symshift.data.dataset import Dataset
from symshift.data.errors import DataError
from symshift.data.example import Example
from symshift.data.files import require_output, whole_file, write_json
from symshift.data.prompts import STOP, PromptOptions, Prompts, described, prompts_for
from symshift.generators.exchange.export_report import ExportReport

META_VERSION = 1


def export_prompts(
    dataset: Dataset, out: Path, options: PromptOptions, *, overwrite: bool
) -> ExportReport:
    """Write the prompts for a split, and `OUT.meta.json` beside them.

    Raises:
        UsageError: If the split or the examples are not there.
        DataError: If the file is there, and may not be replaced.
    """
    require_output(out)
    if out.exists() and not overwrite:
        raise DataError(f"{out}: is there already; choose another name or give --overwrite")
    prompts = prompts_for(dataset, options)
    num_rows = dataset.num_rows(options.split)
    rows = tqdm(dataset.rows(options.split), total=num_rows, unit="row", disable=None)
    with whole_file(out) as hidden, hidden.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(json.dumps(_line(prompts, row), ensure_ascii=False) + "\n")
    meta = {
        "schema_version": META_VERSION,
        **described(dataset, options, prompts),
        "instructions": prompts.instructions,
        "stop": STOP,
        "rows": num_rows,
    }
    write_json(out.with_name(out.name + ".meta.json"), meta)
    return ExportReport(
        path=out,
        rows={options.split: num_rows},
        next_step=f"write answers as JSON lines, then symshift score {dataset.path} ANSWERS.jsonl "
        f"--split {options.split}",
    )


def _line(prompts: Prompts, row: Example) -> Mapping[str, Any]:
    return {
        "id": row.id,
        "task": row.task,
        "messages": prompts.messages(row.input),
        "prompt": prompts.text(row.input),
    }
