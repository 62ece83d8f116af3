"""Tries before the first training what would otherwise be refused when its turn comes.

Sizes that do not fit one another, names without rows and problems that are too long show as soon as
the data are there, and models are built.
"""

from collections.abc import Mapping, Sequence

import torch

from symshift.data.dataset import Dataset
from symshift.models.building import build_model, needs_paths
from symshift.models.configuration import split_settings
from symshift.models.encoding import encode_problems
from symshift.models.prediction import answerer_of
from symshift.models.resolution import resolve
from symshift.models.streams import stream


def rehearse(
    data: Dataset, tests: Sequence[Dataset], method: str, settings: Mapping[str, str]
) -> None:
    """Build the model of a system, and let it take the problems of its tests, untrained.

    Args:
        data: What it is to be trained on.
        tests: The data sets that it is to answer.
        method: Its embedding method.
        settings: Texts of `--set key=value`.

    Raises:
        UsageError: If there is no such model, or it cannot take some problem.
    """
    config = resolve(data, method, *split_settings(method, settings))
    model = build_model(config)
    model.method.phases(config.train.steps)
    for test in tests:
        answerer = answerer_of(model, config, test, torch.float32)
        inputs = test.columns("test", ["input"])["input"]
        with_paths = needs_paths(config)
        answerer.require(
            encode_problems(answerer.task, answerer.codec, inputs, with_paths=with_paths)
        )
        with torch.no_grad():
            model.rows(len(answerer.codec.window), stream("prediction-table", 0))
