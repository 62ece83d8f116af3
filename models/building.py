"""From a configuration to a model."""

import dataclasses
from typing import Any

import torch

from symshift.models.configuration import RunConfig
from symshift.models.embedding import TableShape
from symshift.models.model import FIRST_ANSWER, ReferenceModel
from symshift.models.position import load_positions
from symshift.models.streams import stream
from symshift.models.transformer import BodyShape, Transformer

GROWTH = (10, 100)


def build_model(config: RunConfig) -> ReferenceModel:
    """Return the model of a run before its first step: a function of the configuration.

    Raises:
        UsageError: If the configuration is impossible.
    """
    train = config.train
    assert train.vocabulary is not None
    codec = config.codec
    body = BodyShape(
        width=train.width,
        num_heads=train.num_heads,
        ff_width=train.ff_width,
        encoder_layers=train.encoder_layers,
        decoder_layers=train.decoder_layers,
        dropout=train.dropout,
        encoder_positions=train.encoder_positions,
        decoder_positions=train.decoder_positions,
    )
    generator = stream("init", config.seed)
    # Modules of PyTorch fill themselves from the global generator before we draw their values.
    with torch.random.fork_rng(devices=[]):
        method = config.method_class(table_shape(config), config.options, generator)
        transformer = Transformer(body, generator)
    num_symbols = method.training_symbols(len(config.known_names))
    return ReferenceModel(method, transformer, codec.num_fixed - FIRST_ANSWER + num_symbols)


def needs_paths(config: RunConfig) -> bool:
    """Tell whether the model needs tree paths."""
    return load_positions(config.train.encoder_positions).needs_paths


def table_shape(config: RunConfig) -> TableShape:
    """Return the sizes that the run's embedding method is built for."""
    train, window = config.train, config.window
    assert train.vocabulary is not None
    return TableShape(
        num_fixed=config.codec.num_fixed,
        num_symbols=train.vocabulary,
        width=train.width,
        trained=range(window.start, window.stop) if config.method_class.named_rows else None,
    )


def parameter_counts(config: RunConfig, model: ReferenceModel) -> dict[str, Any]:
    """Return numbers of values: trained ones of the input, the output and the body; stored ones.

    `growth` tells the first two and the last for 10 and 100 times as many names.
    """
    shape = table_shape(config)
    report = model.method.parameter_report(shape, config.options)
    body = sum(p.numel() for p in model.body.parameters() if p.requires_grad)
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
        "trained": report.input + report.output + body,
        "growth": growth,
    }
