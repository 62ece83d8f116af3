"""Tokens per second of training, beside a plain rendering of the published setup, in one run.

Both train the same model, from the same weights, on the same rows: what ours does and the plain way
does not is sorting rows by length, and how a step is computed (plain_model.py, plain_training.py).
They take turns: a turn is an epoch over the rows, a round a turn of each, in an order drawn anew. A
token is one of a problem or an answer that is no padding, so an epoch has as many for both, and the
ratio of a round is one of times: process CPU time in one thread, or the clock's on a GPU.

Utilisation is the model's own arithmetic in a second over that of a large product of matrices of
the same type, measured here. It counts what real tokens need (`model_flops`), so padding and what
is computed twice lower it. On a GPU, ours multiplies in bfloat16 and the plain way, as published,
in float32; `--set precision=float32` shows the rest of the difference.

The shape `ltl` is the published one (reference_models.py), with its batches of 768 on a GPU and of
64 on a CPU. Without `--data` the rows are formulas drawn here.
"""

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from plain_training import PlainTrainer, plain_rows
from reference_models import SHAPES, configuration

import symshift
from symshift.data.errors import SymshiftError
from symshift.data.plugins import load_task
from symshift.models.building import num_trained
from symshift.models.configuration import RunConfig
from symshift.models.encoding import EncodedRows, encode_rows
from symshift.models.streams import cpu_threads, own_global_stream, pick_device
from symshift.models.training.trainer import Trainer

NUM_SYMBOLS = 5
GOALS = {"cpu": 1.3, "cuda": 2.0}
BATCH_SIZES = {"cpu": 64, "cuda": 768}
NUM_BATCHES, NUM_ROUNDS = {"cpu": 8, "cuda": 16}, 8
PUBLISHED = {
    "dropout": "0.1",
    "encoder_positions": "tree",
    "decoder_positions": "rotary",
    "symbol_dim": "5",
    "lr": "1e-3",
    "warmup_steps": "1000",
    "steps": "52000",
}
OURS, PLAIN = "ours", "plain"
Seconds = dict[str, list[float]]


def configuration_of(shape: str, settings: Mapping[str, str]) -> RunConfig:
    """Return the configuration of both models; settings go before those of the paper."""
    task = load_task("ltl")
    return configuration("interchangeable", task, NUM_SYMBOLS, shape, {**PUBLISHED, **settings})


def encoded_formulas(config: RunConfig, data: Path | None, num_rows: int) -> EncodedRows:
    """Return formulas over NUM_SYMBOLS propositions and their traces, of a data set or drawn."""
    rows: Iterable[Any]
    if data is not None:
        rows = symshift.load(str(data), "train")
    else:
        rows = symshift.generate("ltl", symbols=NUM_SYMBOLS, size="1-35")
    return encode_rows(load_task("ltl"), config.codec, islice(rows, num_rows), with_paths=True)


def num_tokens(encoded: EncodedRows) -> int:
    """Return the tokens of an epoch: those that are read of problems and written of answers."""
    return int(encoded.source.lengths.sum() + (encoded.target.lengths - 1).sum())


def model_flops(config: RunConfig, encoded: EncodedRows) -> float:
    """Return the additions and multiplications of matrix products in an epoch of training.

    Two for each weight and token that it meets, and those of the attention, of which causal ones
    count in full, as usual; the backward pass takes twice as many as the forward pass.
    """
    train, source_B, answer_B = config.train, encoded.source.lengths, encoded.target.lengths - 1
    width, ff = train.width, 2 * train.width * train.ff_width
    square = width * width
    encoder = 2 * (4 * square + ff) * source_B + 4 * width * source_B**2
    read = 2 * 2 * square * source_B
    decoder = 2 * (6 * square + ff) * answer_B + 4 * width * answer_B * (answer_B + source_B)
    num_classes = config.codec.num_fixed + len(config.window) - 2
    head = 2 * width * num_classes * answer_B
    assert train.encoder_layers is not None
    assert train.decoder_layers is not None
    layers_B = train.encoder_layers * encoder + train.decoder_layers * (read + decoder)
    return 3.0 * float((layers_B + head).sum())


def waited(device: torch.device) -> float:
    """Return the time, once everything that was asked for is done."""
    if device.type == "cpu":
        return time.process_time()
    torch.cuda.synchronize(device)
    return time.perf_counter()


def peak_flops(device: torch.device, dtype: torch.dtype) -> float:
    """Return the additions and multiplications in a second of a large product of matrices."""
    size, repeats = (768, 4) if device.type == "cpu" else (8192, 20)
    left, right = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
    spent = []
    for _ in range(5):
        start = waited(device)
        for _ in range(repeats):
            left @ right
        spent.append(waited(device) - start)
    return 2.0 * size**3 * repeats / min(spent)


def measure(
    steps: Mapping[str, Callable[[], None]],
    device: torch.device,
    num_batches: int,
    num_rounds: int,
) -> Seconds:
    """Return the seconds of each way's epoch in each round; the first round is not counted."""
    order, draws = [*steps], random.Random(0)
    seconds: Seconds = {name: [] for name in order}
    for _ in range(1 + num_rounds):
        draws.shuffle(order)
        for name in order:
            start = waited(device)
            for _ in range(num_batches):
                steps[name]()
            seconds[name].append(waited(device) - start)
    return {name: spent[1:] for name, spent in seconds.items()}


def trainers_of(
    config: RunConfig, encoded: EncodedRows, device: torch.device
) -> tuple[Trainer, PlainTrainer]:
    """Return both models in training, with the same weights."""
    ours = Trainer(config, encoded, device)
    plain = PlainTrainer(config, plain_rows(encoded), device)
    plain.model.load(ours.model.state_dict())
    return ours, plain


def report(arguments: argparse.Namespace, settings: Mapping[str, str]) -> dict[str, Any]:
    """Measure, and return what is printed."""
    device = pick_device(arguments.device)
    batch_size = arguments.batch_size or BATCH_SIZES[device.type]
    config = configuration_of(arguments.shape, {"batch_size": str(batch_size), **settings})
    num_batches = arguments.batches or NUM_BATCHES[device.type]
    encoded = encoded_formulas(config, arguments.data, batch_size * num_batches)
    if len(encoded) < batch_size * num_batches:
        raise SymshiftError(f"--data: {len(encoded)} rows, fewer than the batches need")
    with own_global_stream(device), cpu_threads(1 if device.type == "cpu" else 0):
        ours, plain = trainers_of(config, encoded, device)
        steps = {OURS: ours.step, PLAIN: plain.step}
        seconds = measure(steps, device, num_batches, arguments.rounds)
        dtypes = {OURS: ours.dtype, PLAIN: torch.float32}
        peaks = {name: peak_flops(device, dtype) for name, dtype in dtypes.items()}
    flops, tokens = model_flops(config, encoded), num_tokens(encoded)
    ratios = [b / a for a, b in zip(seconds[OURS], seconds[PLAIN], strict=True)]
    quartiles = statistics.quantiles(ratios, n=4, method="inclusive")
    medians = {name: statistics.median(spent) for name, spent in seconds.items()}
    return {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        "torch": torch.__version__,
        "shape": arguments.shape,
        "settings": {"batch_size": str(batch_size), **settings},
        "parameters": num_trained(ours.model),
        "rounds": arguments.rounds,
        "steps_a_round": num_batches,
        "tokens_a_step": tokens / num_batches,
        "flops_a_token": flops / tokens,
        "tokens_per_second": {name: tokens / spent for name, spent in medians.items()},
        "peak_flops": peaks,
        "utilisation": {name: flops / spent / peaks[name] for name, spent in medians.items()},
        "dtypes": {name: str(dtype).removeprefix("torch.") for name, dtype in dtypes.items()},
        "times": dict(zip(("low", "median", "high"), quartiles, strict=True)),
        "goal": GOALS[device.type],
    }


def print_table(found: dict[str, Any]) -> None:
    """Print what was measured."""
    print(
        f"shape {found['shape']}, {found['parameters']:,} parameters, on {found['device']}, "
        f"batches of {found['settings']['batch_size']}, {found['rounds']} rounds of "
        f"{found['steps_a_round']} steps, {found['tokens_a_step']:.0f} tokens a step"
    )
    print("way    tokens/s  type      of the peak")
    for name, speed in found["tokens_per_second"].items():
        share = f"{100 * found['utilisation'][name]:.1f} % of "
        peak = f"{found['peak_flops'][name] / 1e12:.3g} TFLOP/s"
        print(f"{name:6} {speed:8.0f}  {found['dtypes'][name]:9} {share}{peak}")
    low, median, high = found["times"].values()
    print(f"times the plain way {median:.3f}, quartiles {low:.3f}-{high:.3f}, goal {found['goal']}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="auto", choices=("auto", *GOALS), help="default: auto")
    parser.add_argument("--shape", choices=SHAPES, default="ltl", help="(default ltl)")
    parser.add_argument("--batch-size", type=int, help="(default 64, on a GPU 768)")
    parser.add_argument("--batches", type=int, help="steps of an epoch (default 8, on a GPU 16)")
    parser.add_argument("--rounds", type=int, default=NUM_ROUNDS, help=f"(default {NUM_ROUNDS})")
    parser.add_argument("--data", type=Path, help="a data set of ltl over the names a to e")
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE of ours, repeatable")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    arguments = parser.parse_args()
    if arguments.rounds < 2:
        parser.error("--rounds: at least 2 have a spread")
    settings = dict(text.partition("=")[::2] for text in arguments.set)
    try:
        found = report(arguments, settings)
    except SymshiftError as error:
        sys.exit(str(error))
    if arguments.json:
        print(json.dumps(found, indent=2))
    else:
        print_table(found)


if __name__ == "__main__":
    main()
