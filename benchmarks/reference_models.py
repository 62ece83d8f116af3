"""The reference models that benchmarks build: their shapes, and their configuration.

The shape `ltl` is the one of Interchangeable Token Embeddings (arXiv 2410.17161).
"""

from collections.abc import Mapping

from symshift.data.task import Task
from symshift.data.vocabulary import Window
from symshift.models.configuration import RunConfig, split_settings

SHAPES: Mapping[str, Mapping[str, str]] = {
    "ltl": {"width": "128", "num_heads": "8", "ff_width": "1024"},
    "small": {"width": "64", "num_heads": "4", "ff_width": "128"},
}
LAYERS: Mapping[str, str] = {"ltl": "8", "small": "2"}
"""Of the encoder and of the decoder, each."""


def configuration(
    method: str, task: Task, num_symbols: int, shape: str, settings: Mapping[str, str]
) -> RunConfig:
    """Return the configuration of a model of a shape for the first names.

    Args:
        method: The embedding method.
        task: The task.
        num_symbols: How many names there are.
        shape: One of SHAPES.
        settings: Texts of `--set key=value` beside those of the shape.
    """
    rows = {"vocabulary": str(num_symbols), "decoder_layers": LAYERS[shape]}
    if settings.get("body") != "decoder-only":
        rows["encoder_layers"] = LAYERS[shape]
    options, train = split_settings(method, {**rows, **SHAPES[shape], **settings})
    return RunConfig(
        method=method,
        options=options,
        train=train,
        seed=0,
        task=task.name,
        task_version=task.version,
        fixed_tokens=task.fixed_tokens,
        window=Window.first(num_symbols),
        dataset={"name": "drawn here", "fingerprint": ""},
    )
