"""Exports a task for lm-evaluation-harness: a YAML file, a module that scores, and the rows.

Plain prompts of the harness are those of data.prompts to the letter, whatever `--num_fewshot`:
its examples are drawn already and taken from the first. Each document carries the row's `id`, by
which `symshift score` joins the harness's `samples_*.jsonl`.
"""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from symshift.data.dataset import Dataset
from symshift.data.files import write_text
from symshift.data.prompts import (
    BLANK_LINE,
    MAX_NEW_TOKENS,
    STOP,
    PromptOptions,
    described,
    drawn_shots,
    instructions_for,
    num_drawable,
    prompts_for,
    question,
)
from symshift.data.schema import to_table
from symshift.generators.exchange.export_report import ExportReport, whole_folder

TASK_VERSION = 1
NUM_EXAMPLES = 32
"""How many examples are drawn for `--num_fewshot`, where there are as many."""
_METRICS = {"correct": True, "exact": True, "invalid": False}

_MODULE = '''\
"""What lm-evaluation-harness calls: the rows in this folder, and the verdicts of symshift."""

from pathlib import Path

import datasets
import symshift

DATA = Path(__file__).parent / "data"
SPLITS = {splits}


def dataset(**_):
    """Return the rows to ask about, and the examples."""
    files = {{split: sorted(map(str, DATA.glob(split + "*.parquet"))) for split in SPLITS}}
    return datasets.load_dataset("parquet", data_files=files)


def process_results(doc, results):
    """Judge one answer: the first text, where a filter kept several."""
    answer = results[0] if results else None
    if isinstance(answer, list):
        answer = answer[0] if answer else None
    text = answer if isinstance(answer, str) else None
    verdict = symshift.task("{task}").check(doc, text).verdict.value
    return {{
        "correct": float(verdict in ("exact", "correct")),
        "exact": float(verdict == "exact"),
        "invalid": float(verdict == "invalid"),
    }}
'''


def export_harness_task(
    dataset: Dataset, out: Path, options: PromptOptions, *, overwrite: bool
) -> ExportReport:
    """Write the folder for `lm_eval --include_path OUT --tasks symshift_NAME`.

    Raises:
        UsageError: If the split or the examples are not there.
        DataError: If the folder holds other files, or a shard is broken.
    """
    name = harness_name(dataset)
    num_drawn = max(options.shots, min(NUM_EXAMPLES, num_drawable(dataset, options.shots_split)))
    shots = drawn_shots(dataset, options, num_drawn)
    splits = [options.split, *(["fewshot"] if shots else [])]
    config = _configuration(name, dataset, options, bool(shots))
    own = (f"{name}.yaml", "utils.py", "data", "__pycache__")
    with whole_folder(out, own, overwrite=overwrite) as hidden:
        (hidden / "data").mkdir()
        for path in dataset.files(options.split):
            shutil.copyfile(path, hidden / "data" / path.name)
        if shots:
            schema: pa.Schema = pq.read_schema(dataset.files(options.shots_split)[0])
            pq.write_table(to_table(shots, schema), hidden / "data" / "fewshot.parquet")
        write_text(
            hidden / "utils.py", _MODULE.format(splits=json.dumps(splits), task=dataset.task_name)
        )
        write_text(hidden / f"{name}.yaml", config)
    return ExportReport(
        path=out,
        rows={options.split: dataset.num_rows(options.split)},
        next_step=f"lm_eval --model hf --model_args pretrained=MODEL --include_path {out} "
        f"--tasks {name} --log_samples --output_path RESULTS",
    )


def harness_name(dataset: Dataset) -> str:
    """Return what the harness calls a data set, such as symshift_ltl_35."""
    slug = re.sub(r"[^a-z0-9]+", "_", dataset.name.lower()).strip("_")
    return f"symshift_{slug or dataset.task_name}"


def _configuration(name: str, dataset: Dataset, options: PromptOptions, has_shots: bool) -> str:
    config: dict[str, Any] = {
        "task": name,
        "output_type": "generate_until",
        "test_split": options.split,
        # The harness takes a 0 here for a ban on --num_fewshot.
        **({"num_fewshot": options.shots} if options.shots else {}),
        **({"fewshot_split": "fewshot"} if has_shots else {}),
        "fewshot_config": {"sampler": "first_n"},
        "description": instructions_for(dataset.task_name) + BLANK_LINE,
        "doc_to_text": question("{{input}}"),
        "doc_to_target": "target",
        "target_delimiter": " ",
        "fewshot_delimiter": BLANK_LINE,
        "generation_kwargs": {
            "until": [STOP],
            "do_sample": False,
            "max_gen_toks": MAX_NEW_TOKENS,
        },
        "metric_list": [
            {"metric": metric, "aggregation": "mean", "higher_is_better": is_better}
            for metric, is_better in _METRICS.items()
        ],
        "metadata": {
            "version": TASK_VERSION,
            **described(dataset, options, prompts_for(dataset, options)),
        },
    }
    # JSON values are YAML values, which spares a YAML library; only a tag is none.
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in config.items()]
    functions = (
        "custom_dataset: !function utils.dataset",
        "process_results: !function utils.process_results",
    )
    return "\n".join([lines[0], *functions, *lines[1:]]) + "\n"
