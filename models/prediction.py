"""Predictions of a trained run for a data set, with a file beside them that says how they came."""

import json
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from symshift.data.dataset import Dataset, open_dataset
from symshift.data.errors import DataError, UsageError
from symshift.data.files import require_output, whole_file, write_json
from symshift.data.options import to_plain
from symshift.data.plugins import load_task
from symshift.models import redrawing
from symshift.models.building import needs_paths, parameter_counts, table_shape
from symshift.models.configuration import RunConfig, versions
from symshift.models.decoding.answering import Answerer
from symshift.models.decoding.search import MAX_BEAM
from symshift.models.encoding import Codec, EncodedRows, encode_problems
from symshift.models.loading import load_model
from symshift.models.memory import memory_explained
from symshift.models.model import ReferenceModel, Rows
from symshift.models.streams import cpu_threads, pick_device, pick_dtype, stream
from symshift.models.training.checkpoints import RunFolder
from symshift.models.variants import system_name

META_VERSION = 1


def predict(
    run_path: Path,
    dataset_path: Path,
    output_path: Path,
    *,
    split: str = "test",
    beam: int = 1,
    constrained: bool = False,
    table_seed: int = 0,
    checkpoint: int | str | None = None,
    redraw_unseen: str = "none",
    batch_size: int = 256,
    device: str = "auto",
    precision: str = "float32",
    threads: int | None = None,
    name: str | None = None,
    command: str = "",
) -> dict[str, Any]:
    """Write a model's predictions as JSON lines, and `OUTPUT.meta.json` beside them.

    Where rows are drawn, or drawn anew, it is once for the whole evaluation; call it with several
    seeds of the table for their mean and range.

    Args:
        run_path: The folder of a finished run.
        dataset_path: The data set.
        output_path: The file to write.
        split: The rows to answer.
        beam: Answers that are kept at each step, at most MAX_BEAM; 1 is greedy.
        constrained: Whether only well-formed answers are written, as the task's grammar has them.
        table_seed: The seed of the drawn rows.
        checkpoint: The step of one, or "best" or "last"; the final weights if not given.
        redraw_unseen: One of redrawing.REDRAWS: fresh values for rows that were never trained.
        batch_size: Problems in a batch.
        device: One of streams.DEVICES.
        precision: As in TrainConfig.
        threads: As in TrainConfig; that of the run if not given.
        name: What the trained model is called; the method, if not given. Its phase and what is
            re-drawn are added.
        command: The command line, to be stored.

    Returns:
        What OUTPUT.meta.json says.

    Raises:
        UsageError: If the data set is of another task or uses names that have no rows, or there is
            nothing to redraw, or the task states no grammar of its answers.
        DataError: If the run or the data set is broken or unfinished.
        SymshiftError: If memory is short.
    """
    require_output(output_path)
    _require_sizes(beam, batch_size)
    folder, dataset = RunFolder(run_path), open_dataset(dataset_path)
    config = folder.read_config()
    _require_same_task(config, dataset)
    where = pick_device(device)
    weights = folder.weights(checkpoint)
    model = load_model(config, weights.tensors, run_path / weights.file)
    draws = stream("redraw-unseen", table_seed)
    redrawing.redraw_unseen(model.method, table_shape(config), redraw_unseen, draws)
    model.to(where)
    dtype = pick_dtype(precision, where)
    answerer = answerer_of(model, config, dataset, dtype, constrained)
    columns = dataset.columns(split, ["id", "input"])
    encoded = encode_problems(
        answerer.task, answerer.codec, columns["input"], with_paths=needs_paths(config)
    ).to(where)
    with torch.no_grad(), cpu_threads(config.train.threads if threads is None else threads):
        table = model.rows(len(answerer.codec.window), stream("prediction-table", table_seed))
        texts = _texts(answerer, table, encoded, beam, batch_size)
    write_lines(output_path, columns["id"], texts)
    phase = model.method.phase(weights.step, config.train.steps)
    meta = {
        **_origin(config, model, dataset, split),
        "name": system_name(name or config.method, phase, redraw_unseen, constrained),
        "checkpoint": weights.file,
        "step": weights.step,
        "phase": phase or None,
        "redraw_unseen": redraw_unseen,
        "table_seed": table_seed,
        "beam": beam,
        "constrained": constrained,
        "batch_size": batch_size,
        "device": where.type,
        "dtype": str(dtype).removeprefix("torch."),
        "command": command,
    }
    write_json(meta_path(output_path), meta)
    return meta


def _origin(
    config: RunConfig, model: ReferenceModel, dataset: Dataset, split: str
) -> dict[str, Any]:
    """Return what a meta file says of the model and of the rows."""
    return {
        "schema_version": META_VERSION,
        "method": config.method,
        "options": to_plain(config.options),
        "output": model.method.output,
        "seed": config.seed,
        "parameters": parameter_counts(config, model),
        "trained_on": dict(config.dataset),
        "dataset": {"name": dataset.name, "fingerprint": dataset.fingerprint, "split": split},
        "versions": versions(),
    }


def meta_path(output_path: Path) -> Path:
    """Return where the file beside predictions lies: OUTPUT.meta.json."""
    return output_path.with_name(output_path.name + ".meta.json")


def _require_same_task(config: RunConfig, dataset: Dataset) -> None:
    if dataset.task_name != config.task:
        raise UsageError(
            f"{dataset.path} is a data set of task {dataset.task_name}, the model was trained on "
            f"{config.task}"
        )
    if load_task(config.task).fixed_tokens != config.fixed_tokens:
        raise DataError(f"the tokens of task {config.task} have changed: train the model again")


def _require_sizes(beam: int, batch_size: int) -> None:
    if not 1 <= beam <= MAX_BEAM:
        raise UsageError(f"--beam {beam}: keep at least 1 and at most {MAX_BEAM} answers")
    if batch_size < 1:
        raise UsageError(f"--batch-size {batch_size}: give at least 1 row")


def answerer_of(
    model: ReferenceModel,
    config: RunConfig,
    dataset: Dataset,
    dtype: torch.dtype,
    constrained: bool = False,
) -> Answerer:
    """Return what writes answers, with an id for each name that the model has rows for.

    Where rows are drawn, those are the names of the data set.

    Raises:
        UsageError: If the answers are to follow a grammar, and the task states none.
    """
    names = config.known_names if model.method.named_rows else dataset.window
    codec = Codec(config.fixed_tokens, names)
    task = load_task(config.task)
    if constrained and task.grammar is None:
        raise UsageError(f"task {task.name} states no grammar of its answers: omit --constrained")
    grammar = task.grammar if constrained else None
    return Answerer(model=model, task=task, codec=codec, dtype=dtype, grammar=grammar)


def _texts(
    answerer: Answerer, table: Rows, encoded: EncodedRows, beam: int, batch_size: int
) -> list[str]:
    """Return the answers in the order of the rows, with a progress bar."""
    texts = [""] * len(encoded)
    batches = answerer.answers(table, encoded, beam=beam, batch_size=batch_size)
    sizes = f"with --batch-size {batch_size} and --beam {beam}: give smaller ones"
    with memory_explained(sizes), tqdm(total=len(encoded), unit="row", disable=None) as bar:
        for batch in batches:
            for number, text in batch:
                texts[number] = text
            bar.update(len(batch))
    return texts


def write_lines(path: Path, ids: list[str], texts: list[str]) -> None:
    """Write predictions as JSON lines, all or none."""
    with whole_file(path) as hidden, hidden.open("w", encoding="utf-8", newline="\n") as file:
        for row_id, text in zip(ids, texts, strict=True):
            record = {"id": row_id, "prediction": text}
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
