"""Time of a training step with each embedding method over one with `learned`, in one run.

All models do the same steps on the same batches of LTL formulas, in turns: a round is one step of
each, in an order drawn anew, and gives a ratio for each method. "learned again" is a second model
of the same kind: how far it is from 1 is the noise. It is process CPU time in one thread.

The shape `ltl` is the published one (reference_models.py), with batches of 64 in place of 768. The
paper reports 1.13 for `interchangeable`, against the same baseline as here.
"""

import argparse
import random
import statistics
import time
from itertools import islice

import torch
from reference_models import SHAPES, configuration

import symshift
from symshift.data.plugins import load_task, plugin_names
from symshift.models.configuration import RunConfig
from symshift.models.encoding import EncodedRows, encode_rows
from symshift.models.streams import cpu_threads, own_global_stream
from symshift.models.training.trainer import Trainer

NUM_SYMBOLS = 5
BATCH_SIZE = 64
MAX_BATCHES = 64
SHARED = {
    "batch_size": str(BATCH_SIZE),
    "dropout": "0.1",
    "encoder_positions": "tree",
    "decoder_positions": "rotary",
}
PUBLISHED_OPTIONS = {"interchangeable": {"symbol_dim": "5"}, "alpha-renaming": {"pool": "10"}}
BASELINE, AGAIN = "learned", "learned again"
GOALS = {"interchangeable": 1.05}
CPU = torch.device("cpu")


def configuration_of(method: str, shape: str) -> RunConfig:
    """Return the configuration of a model for LTL formulas over NUM_SYMBOLS propositions."""
    settings = {**SHARED, **PUBLISHED_OPTIONS.get(method, {})}
    return configuration(method, load_task("ltl"), NUM_SYMBOLS, shape, settings)


def encoded_formulas(num_rows: int) -> EncodedRows:
    """Return formulas of sizes 1 to 35 and their traces, as numbers that fit all methods."""
    config = configuration_of(BASELINE, "small")
    rows = [*islice(symshift.generate("ltl", symbols=NUM_SYMBOLS, size="1-35"), num_rows)]
    return encode_rows(load_task("ltl"), config.codec, rows, with_paths=True)


def measure(trainers: dict[str, Trainer], num_rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each model's step in each round; the first round is not counted."""
    order, draws = [*trainers], random.Random(0)
    seconds: dict[str, list[float]] = {name: [] for name in order}
    for _ in range(1 + num_rounds):
        draws.shuffle(order)
        for name in order:
            start = time.process_time()
            trainers[name].step()
            seconds[name].append(time.process_time() - start)
    return {name: spent[1:] for name, spent in seconds.items()}


def line(name: str, spent: list[float], baseline: list[float]) -> str:
    """Return a line of the table."""
    low, median, high = statistics.quantiles(
        [a / b for a, b in zip(spent, baseline, strict=True)], n=4, method="inclusive"
    )
    goal = f"{GOALS[name]:5.2f}" if name in GOALS else ""
    ms = 1e3 * statistics.median(spent)
    return f"{name:16} {ms:9.1f} {median:7.3f}  {low:.3f}-{high:.3f} {goal}".rstrip()


def main() -> None:
    """Print the table."""
    known = plugin_names("models.embeddings")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=20, help="steps of each model (default 20)")
    parser.add_argument("--methods", nargs="+", choices=known, default=known, help="default: all")
    parser.add_argument("--shape", choices=SHAPES, default="ltl", help="(default ltl)")
    arguments = parser.parse_args()
    if arguments.steps < 2:
        parser.error("--steps: at least 2 have a spread")
    encoded = encoded_formulas(BATCH_SIZE * min(1 + arguments.steps, MAX_BATCHES))
    with own_global_stream(CPU), cpu_threads(1):
        trainers = {
            name: Trainer(configuration_of(method, arguments.shape), encoded, CPU)
            for name, method in {
                BASELINE: BASELINE,
                AGAIN: BASELINE,
                **{method: method for method in arguments.methods if method != BASELINE},
            }.items()
        }
        seconds = measure(trainers, arguments.steps)
    print(f"shape {arguments.shape}, {arguments.steps} steps of each model in turns")
    print("method           ms a step   times  its quartiles   goal")
    for name, spent in seconds.items():
        print(line(name, spent, seconds[BASELINE]))
    print(f"times: the step over that of {BASELINE} in the same round, median")


if __name__ == "__main__":
    main()
