"""From a user's wishes and a data set to the configuration of a run, with nothing left open."""

import dataclasses
from typing import Any

from symshift.data.dataset import Dataset
from symshift.data.plugins import load_task
from symshift.models.configuration import RunConfig, TrainConfig
from symshift.models.embedding import load_method


def resolve(
    dataset: Dataset, method: str, options: Any, train: TrainConfig, seed: int = 0
) -> RunConfig:
    """Return the configuration of a run on the training rows of a data set.

    Args:
        dataset: The data set.
        method: The embedding method.
        options: The method's options.
        train: The settings that every method has.
        seed: The seed.

    Raises:
        UsageError: If the data set has no training rows, and they are needed.
    """
    task = load_task(dataset.task_name)
    vocabulary, positions = train.vocabulary, train.encoder_positions
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
        train=dataclasses.replace(train, vocabulary=vocabulary, encoder_positions=positions),
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
