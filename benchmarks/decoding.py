"""Answers per second: with a cache against without, and constrained against free, in one run.

All ways write the same answers, the targets of the rows: what the models say is computed, then
overruled. They take turns on the same batches; a ratio is one of CPU times in one thread. "no
cache" keeps nothing: each step reads the problem and the whole answer again. "no cache, read once"
keeps the encoder's output, where there is an encoder.

The rows are formulas of sizes 1 to 35 over 5 names, or Horn theories of sizes 10 to 30 over 12; the
shapes those of benchmarks/reference_models.py, where `ltl` is the published one.
"""

import argparse
import random
import statistics
import time
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import torch
from reference_models import SHAPES, configuration
from torch import Tensor

import symshift
from symshift.data.plugins import load_task
from symshift.data.task import Task
from symshift.models.batches import Batch, batch_of
from symshift.models.bodies.body import answer_limit
from symshift.models.building import build_model, needs_paths
from symshift.models.configuration import RunConfig
from symshift.models.decoding.constraint import Constraint, constraint_of
from symshift.models.decoding.search import decode
from symshift.models.encoding import EncodedRows, encode_rows
from symshift.models.model import FIRST_ANSWER, ReferenceModel, Rows
from symshift.models.streams import cpu_threads, stream

DRAWN: dict[str, dict[str, Any]] = {
    "ltl": {"symbols": 5, "size": "1-35"},
    "prop": {"symbols": 5, "size": "1-35"},
    "horn": {"symbols": 12, "size": "10-30"},
}
BODIES = ("encoder-decoder", "decoder-only")
CACHED, CONSTRAINED, UNCACHED, READ_ONCE = (
    *("cache", "cache, constrained"),
    *("no cache", "no cache, read once"),
)
GOAL, MAX_OVERHEAD = 5.0, 1.10
CPU = torch.device("cpu")


class Dictated:
    """A model that writes the targets of its batch, whatever it says itself."""

    def __init__(self, model: ReferenceModel, way: str) -> None:
        self._model = model
        self._way = way

    def begin(self, batch: Batch, rows: Rows, max_length: int) -> "DictatedState":
        """Begin answers; without a cache, nothing is kept but what they are asked."""
        model, state = self._model, None
        if self._way not in (UNCACHED, READ_ONCE):
            state = model.begin(batch, rows, max_length)
        elif self._way == READ_ONCE:
            state = model.body._begin(model._problems(batch, rows), None)
        return DictatedState(batch, state)

    def step(self, ids_B: Tensor, state: "DictatedState", rows: Rows) -> Tensor:
        """Return the model's logits, with the target's next token far above all others."""
        model, place = self._model, state.num_written
        state.num_written += 1
        if self._way not in (UNCACHED, READ_ONCE):
            logits_BC = model.step(ids_B, state.cached, rows)
        else:
            state.written = torch.cat((state.written, ids_B[:, None]), dim=1)
            if self._way == READ_ONCE:
                hidden_BTD = model.body._decode(model._embed(state.written, rows), state.cached)
            else:
                hidden_BTD = model.body.hidden(
                    model._problems(state.batch, rows), model._embed(state.written, rows)
                )
            logits_BC = model.loss.scale * model._scores(hidden_BTD[:, -1], rows)
        following_B = state.batch.target[:, min(place + 1, state.batch.target.shape[1] - 1)]
        classes_B1 = (following_B - FIRST_ANSWER).clamp(min=0)[:, None]
        return logits_BC.scatter(1, classes_B1, 1e4)


class DictatedState:
    """A batch of answers that are being dictated."""

    def __init__(self, batch: Batch, cached: Any) -> None:
        self.batch = batch
        self.cached = cached
        self.written = batch.target[:, :0]
        self.num_written = 0

    def select(self, rows_B: Tensor) -> None:
        """Keep some rows of the batch."""
        parts = (None if part is None else part[rows_B] for part in self.batch)
        self.batch = Batch(*parts)
        self.written = self.written[rows_B]
        if self.cached is not None:
            self.cached.select(rows_B)

    def select_answers(self, rows_B: Tensor) -> None:
        """Let row i continue the answer of row rows_B[i], which has the same problem."""
        self.written = self.written[rows_B]
        if self.cached is not None:
            self.cached.select_answers(rows_B)


def configuration_of(body: str, shape: str, task: Task) -> RunConfig:
    """Return the configuration of a model for the rows of a task."""
    settings = {"body": body}
    if body == "encoder-decoder":
        settings["encoder_positions"] = "sinusoidal" if task.name == "horn" else "tree"
    return configuration("learned", task, DRAWN[task.name]["symbols"], shape, settings)


def encoded_rows(config: RunConfig, task: Task, num_rows: int) -> EncodedRows:
    """Return problems and their answers."""
    rows = islice(symshift.generate(task.name, **DRAWN[task.name]), num_rows)
    return encode_rows(task, config.codec, rows, with_paths=needs_paths(config))


def batches_of(encoded: EncodedRows, batch_size: int) -> list[tuple[Batch, Tensor]]:
    """Return the rows in batches of similar length, with their limits, as predictions do it."""
    order = np.argsort(encoded.source.lengths, kind="stable")
    limits = torch.from_numpy(answer_limit(encoded.source.lengths))
    return [
        (batch_of(encoded, rows), limits[torch.from_numpy(rows)])
        for rows in np.array_split(order, max(1, len(order) // batch_size))
    ]


def ways_of(
    model: ReferenceModel, num_symbols: int, constraint: Constraint, beam: int
) -> dict[str, Callable]:
    """Return what writes the answers to a batch, for each way."""
    rows = model.rows(num_symbols, stream("benchmark", 0))

    def way(name: str) -> Callable[[Batch, Tensor], list[list[int]]]:
        used = constraint if name == CONSTRAINED else None
        dictated: Any = Dictated(model, name)
        return lambda batch, limits_B: decode(dictated, rows, batch, limits_B, beam, used)

    names = [CACHED, CONSTRAINED, UNCACHED]
    if hasattr(model.body, "encoder"):
        names.append(READ_ONCE)
    return {name: way(name) for name in names}


def measure(
    ways: dict[str, Callable], batches: list[tuple[Batch, Tensor]], rounds: int
) -> dict[str, list[float]]:
    """Return the seconds that each way takes for all batches, in each round."""
    order, draws = [*ways], random.Random(0)
    seconds = {name: [0.0] * rounds for name in order}
    for batch, limits_B in batches:
        expected = [[i for i in ids if i > FIRST_ANSWER] for ids in batch.target.tolist()]
        for number in range(-1, rounds):  # The first is not counted.
            draws.shuffle(order)
            for name in order:
                start = time.process_time()
                written = ways[name](batch, limits_B)
                if number >= 0:
                    seconds[name][number] += time.process_time() - start
                assert written == expected, name
    return seconds


def print_table(body: str, beam: int, num_rows: int, seconds: dict[str, list[float]]) -> None:
    """Print a line for each way."""
    for name, spent in seconds.items():
        ratios = [a / b for a, b in zip(spent, seconds[CACHED], strict=True)]
        goal = {UNCACHED: f">= {GOAL}", CONSTRAINED: f"< {MAX_OVERHEAD}"}.get(name, "")
        speed = num_rows / statistics.median(spent)
        spread = f"{min(ratios):.3f}-{max(ratios):.3f}"
        print(
            f"{body:16} {beam:4} {name:20} {speed:9.0f} {statistics.median(ratios):7.3f}  {spread} "
            f"{goal}".rstrip()
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--shape", choices=SHAPES, default="ltl", help="(default ltl)")
    parser.add_argument("--rows", type=int, default=256, help="formulas (default 256)")
    parser.add_argument("--batch-size", type=int, default=256, help="(default 256)")
    parser.add_argument("--rounds", type=int, default=3, help="(default 3)")
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 3], help="(default 1 3)")
    parser.add_argument("--bodies", nargs="+", choices=BODIES, default=BODIES, help="default: both")
    parser.add_argument("--task", choices=DRAWN, default="ltl", help="(default ltl)")
    arguments = parser.parse_args()
    task = load_task(arguments.task)
    assert task.grammar is not None
    print(f"task {task.name}, shape {arguments.shape}, batches of {arguments.batch_size}")
    print("body             beam way                  answers/s   times  its range  goal")
    with torch.no_grad(), cpu_threads(1):
        for body in arguments.bodies:
            config = configuration_of(body, arguments.shape, task)
            encoded = encoded_rows(config, task, arguments.rows)
            batches = batches_of(encoded, arguments.batch_size)
            longest = int(max(limits_B.max() for _, limits_B in batches))
            constraint = constraint_of(task.grammar, config.codec, longest, CPU)
            model = build_model(config).eval()
            for beam in arguments.beams:
                ways = ways_of(model, len(config.window), constraint, beam)
                print_table(body, beam, len(encoded), measure(ways, batches, arguments.rounds))
    lengths = encoded.target.lengths - 2
    print(f"answers of {lengths.mean():.1f} tokens on average, {lengths.max()} at most")
    print(f"times: CPU seconds over those of {CACHED!r}, median over rounds")


if __name__ == "__main__":
    main()
