"""From a configuration to a model."""

import torch

from symshift.models.configuration import RunConfig
from symshift.models.embedding import ParameterReport, TableShape
from symshift.models.model import FIRST_ANSWER, ReferenceModel
from symshift.models.position import load_positions
from symshift.models.streams import stream
from symshift.models.transformer import BodyShape, Transformer


def build_model(config: RunConfig) -> ReferenceModel:
    """Return the model of a run before its first step: a function of the configuration.

    Raises:
        UsageError: If the configuration is impossible.
    """
    train = config.train
    assert train.vocabulary is not None
    codec = config.codec
    table = TableShape(num_fixed=codec.num_fixed, num_symbols=train.vocabulary, width=train.width)
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
        method = config.method_class(table, config.options, generator)
        transformer = Transformer(body, generator)
    num_symbols = method.training_symbols(len(config.known_names))
    return ReferenceModel(method, transformer, codec.num_fixed - FIRST_ANSWER + num_symbols)


def needs_paths(config: RunConfig) -> bool:
    """Tell whether the model needs tree paths."""
    return load_positions(config.train.encoder_positions).needs_paths


def parameter_counts(model: ReferenceModel) -> dict[str, int]:
    """Return numbers of values: trained ones of the input, the output and the body; stored ones."""
    report: ParameterReport = model.method.parameter_report()
    body = sum(p.numel() for p in model.body.parameters() if p.requires_grad)
    return {
        "input": report.input,
        "output": report.output,
        "body": body,
        "stored": report.stored,
        "trained": report.input + report.output + body,
    }
