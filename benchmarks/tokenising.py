"""Rows of a data set as numbers, against the obvious way: all rows, token by token, in lists.

Prints rows a second of CPU time in one thread, and what the same start costs once the cache has the
rows. Both ways are compared number by number. The last line is the time of an epoch's order.
"""

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import torch

from symshift.data.dataset import Dataset, open_dataset
from symshift.data.plugins import load_task
from symshift.generators.generation import generate_dataset
from symshift.models.batches import BatchOrder
from symshift.models.cache_folder import FOLDER_VARIABLE
from symshift.models.encoding import END, START, Codec, EncodedRows, pack_path
from symshift.models.ragged import Ragged
from symshift.models.token_cache import encoded_split

Result = TypeVar("Result")
SPLIT = "train"


def obvious(dataset: Dataset, codec: Codec, with_paths: bool) -> EncodedRows:
    """Encode all rows into lists, then into arrays."""
    task = load_task(dataset.task_name)
    sources, targets, paths = [], [], []
    for row in dataset.rows(SPLIT):
        tokens = task.encode_input(row.input)
        sources.append([*codec.encode(tokens), END])
        targets.append([START, *codec.encode(task.encode_target(row.target)), END])
        if with_paths:
            paths.append([*map(pack_path, task.tree_paths(tokens) or ()), 0])
    return EncodedRows(
        source=Ragged.of(sources),
        target=Ragged.of(targets),
        paths=Ragged.of(paths) if with_paths else None,
    )


def timed(make: Callable[[], Result]) -> tuple[Result, float]:
    """Return what a function returns, and its seconds of CPU time."""
    start = time.process_time()
    return make(), time.process_time() - start


def is_same(one: Ragged | None, other: Ragged | None) -> bool:
    """Tell whether two hold the same rows."""
    if one is None or other is None:
        return one is other
    same = torch.equal(one.values.long(), other.values.long())
    return same and torch.equal(one.sizes, other.sizes)


def compare(path: Path) -> None:
    """Print the table of a data set."""
    dataset = open_dataset(path)
    task = load_task(dataset.task_name)
    codec = Codec(task.fixed_tokens, dataset.window)
    first = next(iter(dataset.rows(SPLIT)))
    with_paths = task.tree_paths(task.encode_input(first.input)) is not None

    def kept() -> EncodedRows:
        return encoded_split(open_dataset(path), SPLIT, task, codec, with_paths=with_paths)

    ways = {
        "obvious": lambda: obvious(dataset, codec, with_paths),
        "encoded and kept": kept,
        "from the cache": kept,
    }
    done = {name: timed(way) for name, way in ways.items()}
    plain, baseline = done["obvious"]
    print(f"{len(plain)} rows of {task.name}, {'with' if with_paths else 'without'} tree paths")
    print("way                rows a second     times")
    for name, (rows, seconds) in done.items():
        for part in ("source", "target", "paths"):
            assert is_same(getattr(rows, part), getattr(plain, part)), f"{name} differs in {part}"
        print(f"{name:18} {len(rows) / seconds:13,.0f} {baseline / seconds:9.1f}")
    order = BatchOrder(plain, batch_size=64, pool_batches=50, seed=0)
    print(f"order of an epoch: {timed(lambda: order.rows(1))[1]:.3f} s")


def main() -> None:
    """Print a table for a data set, or for one that is made."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("dataset", nargs="?", type=Path, help="(default: LTL formulas, made here)")
    parser.add_argument("--rows", type=int, default=10_000, help="of these (default 10,000)")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with TemporaryDirectory() as folder:
        os.environ[FOLDER_VARIABLE] = str(Path(folder) / "cache")
        path = arguments.dataset or Path(folder) / "ltl"
        if not arguments.dataset:
            wishes = {"train": arguments.rows, "symbols": 5, "size": "1-35"}
            generate_dataset("ltl", path, wishes)
        compare(path)


if __name__ == "__main__":
    main()
