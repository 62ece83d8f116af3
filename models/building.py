"""From a configuration to a model."""

import dataclasses
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from symshift.models.bodies.body import DECODER_ONLY, ENCODER_DECODER, Body, BodyOptions
from symshift.models.bodies.copying import CopyAttention
from symshift.models.bodies.decoder_only import DecoderOnly
from symshift.models.bodies.position import load_positions
from symshift.models.bodies.transformer import EncoderDecoder
from symshift.models.configuration import RunConfig
from symshift.models.embedding import TableShape
from symshift.models.model import FIRST_ANSWER, ReferenceModel
from symshift.models.streams import stream

GROWTH = (10, 100)
BODIES: dict[str, Callable[[BodyOptions, torch.Generator], Body[Any]]] = {
    ENCODER_DECODER: EncoderDecoder,
    DECODER_ONLY: DecoderOnly,
}


def build_model(config: RunConfig) -> ReferenceModel:
    """Return the model of a run before its first step: a function of the configuration.

    Raises:
        UsageError: If the configuration is impossible.
    """
    train = config.train
    assert train.vocabulary is not None
    codec = config.codec
    generator = stream("init", config.seed)
    # Modules of PyTorch fill themselves from the global generator before we draw their values.
    with torch.random.fork_rng(devices=[]):
        method = config.method_class(table_shape(config), config.options, generator)
        body = BODIES[train.body](train, generator)
    num_symbols = method.training_symbols(len(config.known_names))
    return ReferenceModel(method, body, codec.num_fixed - FIRST_ANSWER + num_symbols)


def needs_paths(config: RunConfig) -> bool:
    """Tell whether the model needs tree paths."""
    name = config.train.encoder_positions
    return name is not None and load_positions(name).needs_paths


def table_shape(config: RunConfig) -> TableShape:
    """Return the sizes that the run's embedding method is built for."""
    train, window = config.train, config.window
    assert train.vocabulary is not None
    return TableShape(
        num_fixed=config.codec.num_fixed,
        num_symbols=train.vocabulary,
        width=train.width,
        trained=range(window.start, window.stop + 1) if config.method_class.named_rows else None,
    )


def num_trained(module: nn.Module) -> int:
    """Return the number of a module's trained values."""
    return sum(p.numel() for p in module.parameters() if p.requires_grad)


def parameter_counts(config: RunConfig, model: ReferenceModel) -> dict[str, Any]:
    """Return numbers of values: trained ones of the input, the output and the body; stored ones.

    Copy attention is part of the body, and told apart as well.
    `growth` tells the first two and the last for 10 and 100 times as many names.
    """
    shape = table_shape(config)
    report = model.method.parameter_report(shape, config.options)
    body = num_trained(model.body)
    copying = [
        num_trained(part) for part in model.body.modules() if isinstance(part, CopyAttention)
    ]
    growth = {
        f"{factor}x names": dataclasses.asdict(
            model.method.parameter_report(
                dataclasses.replace(shape, num_symbols=factor * shape.num_symbols), config.options
            )
        )
        for factor in GROWTH
    }
    return {
        **dataclasses.asdict(report),
        "body": body,
        **({"copy_attention": sum(copying)} if copying else {}),
        "trained": report.input + report.output + body,
        "growth": growth,
    }
