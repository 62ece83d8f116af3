import json
import os
import runpy
import subprocess
import sys
import types

import pytest
import yaml
from exchange_files import copies

from symshift.data.dataset import open_dataset
from symshift.data.errors import UsageError
from symshift.data.prompts import PromptOptions, prompts_for
from symshift.generators.exchange.exporting import export_dataset
from symshift.metrics.submission import score_files
from symshift.tasks.copy import TASK as COPY

TRAIN = ["a", "b a", "a b", "c a", "b b"]
TEST = ["c b", "a c", "c c b", "b c c", "a b c", "c b a"]


@pytest.fixture
def dataset(tmp_path):
    return open_dataset(copies(tmp_path, train=TRAIN, test=TEST))


class Loader(yaml.SafeLoader):
    """Reads the harness's tag for functions as text."""


Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


def configuration(folder):
    [path] = folder.glob("*.yaml")
    return yaml.load(path.read_text(), Loader=Loader)


def test_the_task_is_named_for_the_data_set_and_asks_as_the_prompts_do(dataset, tmp_path):
    report = export_dataset("lm-eval", dataset, tmp_path / "out", shots=2)
    config = configuration(tmp_path / "out")
    prompts = prompts_for(dataset, PromptOptions(shots=2))

    assert config["task"] == "symshift_set"
    assert f"--tasks {config['task']}" in report.next_step
    assert config["num_fewshot"] == 2
    asked = config["doc_to_text"].replace("{{input}}", "a b")
    assert prompts.text("a b").startswith(config["description"])
    assert prompts.text("a b").endswith(asked)
    assert config["generation_kwargs"]["until"] == ["\n"]
    assert config["metadata"]["prompt"] == "prompt-v1"


def test_a_data_set_without_examples_has_no_few_shot_split(tmp_path):
    alone = open_dataset(copies(tmp_path, test=TEST))
    export_dataset("lm-eval", alone, tmp_path / "out")
    assert "fewshot_split" not in configuration(tmp_path / "out")

    with pytest.raises(UsageError, match="no train rows"):
        export_dataset("lm-eval", alone, tmp_path / "other", shots=1)


def test_the_scorer_judges_the_first_text_of_whatever_filters_leave(dataset, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", types.ModuleType("datasets"))
    export_dataset("lm-eval", dataset, tmp_path / "out")
    process_results = runpy.run_path(str(tmp_path / "out" / "utils.py"))["process_results"]
    row = next(iter(dataset.rows("test")))
    right = {"correct": 1.0, "exact": 1.0, "invalid": 0.0}

    assert process_results(row, [row.target]) == right
    assert process_results(row, [[row.target, "other"]]) == right
    for none in ([], [[]], [None], [[None]], [7]):
        assert process_results(row, none) == {"correct": 0.0, "exact": 0.0, "invalid": 1.0}


def harness(tmp_path, task, *options):
    pytest.importorskip("lm_eval", reason="needs the extra harness")
    from tiny_language_models import save_tiny_model

    model = save_tiny_model(tmp_path / "tiny")
    out = tmp_path / "results"
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf")}
    done = subprocess.run(
        [
            *(sys.executable, "-m", "lm_eval", "--model", "hf", "--device", "cpu"),
            *("--model_args", f"pretrained={model},dtype=float32", "--batch_size", "4"),
            *("--include_path", str(tmp_path / "out"), "--tasks", task),
            *("--log_samples", "--output_path", str(out), "--gen_kwargs", "max_gen_toks=8"),
            *options,
        ],
        capture_output=True,
        text=True,
        env={**os.environ, **offline},
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    [samples], [results] = out.rglob("samples_*.jsonl"), out.rglob("results_*.json")
    lines = [json.loads(line) for line in samples.read_text().splitlines()]
    return lines, json.loads(results.read_text())["results"][task]


@pytest.mark.slow
def test_the_real_harness_asks_the_same_prompts_and_agrees_with_score(dataset, tmp_path):
    export_dataset("lm-eval", dataset, tmp_path / "out")
    samples, figures = harness(tmp_path, "symshift_set", "--num_fewshot", "3")

    prompts = prompts_for(dataset, PromptOptions(shots=3))
    rows = {row.id: row for row in dataset.rows("test")}
    assert {sample["doc"]["id"] for sample in samples} == rows.keys()
    for sample in samples:
        row = rows[sample["doc"]["id"]]
        assert sample["arguments"]["gen_args_0"]["arg_0"] == prompts.text(row.input)
    answers = tmp_path / "answers.jsonl"
    lines = (
        json.dumps({"id": sample["doc"]["id"], "prediction": sample["filtered_resps"][0]})
        for sample in samples
    )
    answers.write_text("\n".join(lines))
    counts = score_files(dataset, [answers], COPY).result.counts
    assert figures["invalid,none"] == counts["invalid"] / len(TEST)
    assert figures["correct,none"] == (counts["exact"] + counts["correct"]) / len(TEST)
