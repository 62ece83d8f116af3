"""Training a reference model on a data set: from a user's wishes to a finished run."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from symshift.data.dataset import Dataset, open_dataset
from symshift.data.errors import UsageError
from symshift.data.files import locked_folder
from symshift.data.plugins import load_task
from symshift.data.task import Task
from symshift.models.building import needs_paths, parameter_counts, table_shape
from symshift.models.configuration import RunConfig, TrainConfig, split_settings
from symshift.models.decoding.answering import Answerer
from symshift.models.embedding import load_method
from symshift.models.encoding import encode_rows
from symshift.models.streams import cpu_threads, own_global_stream, pick_device
from symshift.models.training.checkpoints import RunFolder, RunLog
from symshift.models.training.loop import Loop, say, show_shares
from symshift.models.training.monitor import Monitor
from symshift.models.training.trainer import Trainer
from symshift.models.training.validation import Validation, chance_levels, validation_sample


def train(
    dataset_path: Path,
    run_path: Path,
    method: str,
    *,
    settings: Mapping[str, str] | None = None,
    device: str = "auto",
    seed: int = 0,
    resume: bool = False,
) -> RunConfig:
    """Train a reference model, or go on with a run; one that is finished is left as it is.

    Args:
        dataset_path: The data set.
        run_path: The folder of the run.
        method: The embedding method.
        settings: Texts of `--set key=value`, for the training and for the method.
        device: One of streams.DEVICES.
        seed: The seed of first values, order of rows, tables and dropout.
        resume: Go on with the run that is in the folder, if there is one.

    Returns:
        The run's configuration.

    Raises:
        UsageError: For anything unknown or impossible, or a folder that holds another run.
        DataError: If the data set or the run is broken.
        RunInterrupted: After Ctrl-C or SIGTERM; a checkpoint has been written.
    """
    options, shared = split_settings(method, settings or {})
    where = pick_device(device)
    dataset = open_dataset(dataset_path)
    task = load_task(dataset.task_name)
    config = _resolve(dataset, task, method, options, shared, seed)
    folder = RunFolder(run_path)
    _require_fit(folder, config, resume=resume)
    if folder.is_finished():
        say(f"{run_path}: finished before, nothing to do")
        return config
    with locked_folder(run_path), own_global_stream(where), cpu_threads(config.train.threads):
        rows = dataset.rows("train")
        encoded = encode_rows(task, config.codec, rows, with_paths=needs_paths(config))
        trainer = Trainer(config, encoded, where)
        # Before anything is written: what is refused leaves no folder to clean up.
        trainer.require_table()
        validation = _validation(trainer, dataset, task)
        folder.write_config(
            {**config.to_json(), "parameters": parameter_counts(config, trainer.model)}
        )
        _fit(trainer, folder, dataset, task, validation)
    return config


def _resolve(
    dataset: Dataset, task: Task, method: str, options: Any, shared: TrainConfig, seed: int
) -> RunConfig:
    """Return the configuration with nothing left open."""
    vocabulary, positions = shared.vocabulary, shared.encoder_positions
    if vocabulary is None:
        named = load_method(method).named_rows
        vocabulary = dataset.window.stop + 1 if named else len(dataset.window)
    if positions == "auto":
        first = next(iter(dataset.rows("train")))
        are_trees = task.tree_paths(task.encode_input(first.input)) is not None
        positions = "tree" if are_trees else "sinusoidal"
    return RunConfig(
        method=method,
        options=options,
        train=dataclasses.replace(shared, vocabulary=vocabulary, encoder_positions=positions),
        seed=seed,
        task=task.name,
        task_version=task.version,
        fixed_tokens=task.fixed_tokens,
        window=dataset.window,
        dataset={
            "name": dataset.name,
            "fingerprint": dataset.fingerprint,
            **dataset.ranges("train"),
        },
    )


def _require_fit(folder: RunFolder, config: RunConfig, *, resume: bool) -> None:
    """Refuse a folder that holds anything but the same run, to be resumed."""
    if folder.is_empty():
        return
    there = folder.read_config()
    if changed := there.differences(config):
        raise UsageError(f"{folder.path} holds another run ({changed}); name another folder")
    if not resume and not folder.is_finished():
        raise UsageError(f"{folder.path} holds an unfinished run: add --resume to go on with it")


def _fit(
    trainer: Trainer,
    folder: RunFolder,
    dataset: Dataset,
    task: Task,
    validation: Validation | None,
) -> None:
    """Do the steps that are left, and write the weights."""
    checkpoint = folder.latest()
    with RunLog(folder.log_path, checkpoint.step if checkpoint else None) as log:
        if checkpoint:
            trainer.restore(checkpoint)
            say(f"going on behind step {checkpoint.step} of {trainer.config.train.steps}")
        if validation:
            targets = dataset.columns("train", ["target"])["target"]
            chance = chance_levels(task, targets, validation.sample)
            say(f"chance level, {len(validation.sample)} validation rows: {show_shares(chance)}")
            if not checkpoint:
                log.write(0, chance=chance)
        batch = validation.first_batch() if validation else None
        monitor = Monitor(shape=table_shape(trainer.config), batch=batch)
        Loop(trainer, folder, log, validation, monitor).run()
    folder.write_final(trainer.model.state_dict())


def _validation(trainer: Trainer, dataset: Dataset, task: Task) -> Validation | None:
    config = trainer.config
    sample = validation_sample(dataset, config.train.validation_rows)
    if not sample:
        say("no validation rows: the model is not tried on any")
        return None
    encoded = encode_rows(task, config.codec, sample, with_paths=needs_paths(config))
    answerer = Answerer(model=trainer.model, task=task, codec=config.codec, dtype=trainer.dtype)
    answerer.require(encoded)
    return Validation(answerer=answerer, sample=sample, encoded=encoded.to(trainer.device))
