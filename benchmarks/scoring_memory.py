"""Peak memory and time of scoring copy predictions, for growing numbers of rows.

The rows and the predictions are made here, with the columns and the id lengths of real ones; the
predictions are JSON lines in another order, nine in ten right, some no text. Each number of rows is
scored in a process of its own, as `symshift score DATASET PREDICTIONS -o RESULT` does it: reading,
joining, verdicts, baselines, intervals, RESULT.json and its row table.

Measured on one core: 1,000,000 rows 339 MB and 27 s of CPU, 10,000,000 rows 1,091 MB and 287 s (29
us a row). Joining and the cells are the two peaks. A slope between small numbers of rows is a poor
forecast: freed memory goes back only in large pieces.
`--rows 10000000` checks the promise of 2 GB; it needs about 4 GB of disk.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from symshift.data.dataset import open_dataset
from symshift.data.files import sha256_of, write_json
from symshift.data.manifest import MANIFEST_VERSION
from symshift.data.schema import arrow_schema, column_types
from symshift.metrics.scoring import write_result
from symshift.metrics.submission import score_files
from symshift.tasks.copy import TASK

SHARD_ROWS = 1_000_000
GOAL_BYTES = 2_000_000_000
NAMES = "abcde"


def rows_between(start: int, stop: int) -> Iterator[dict[str, Any]]:
    """Yield rows as the task's generator makes them: strings of 5 to 10 symbols."""
    for index in range(start, stop):
        digest = blake2b(str(index).encode(), digest_size=16).hexdigest()
        rng = random.Random(index)
        symbols = rng.choices(NAMES, k=rng.randint(5, 10))
        text = " ".join(symbols)
        distinct = list(dict.fromkeys(symbols))
        yield {
            "id": f"copy-{digest[:24]}",
            "task": "copy",
            "input": text,
            "target": text,
            "symbols": distinct,
            "num_symbols": len(distinct),
            "size": len(symbols),
            "canonical_id": digest,
            "split": "test",
            "perturbation": "none",
            "shortcuts": [],
            "index": index,
            "solver": "identity 1",
        }


def write_inputs(folder: Path, num_rows: int) -> None:
    """Write a data set of one split, and predictions for it, shard by shard."""
    schema = arrow_schema(column_types({}, renamed=False))
    files = []
    (folder / "data").mkdir(parents=True)
    with (folder / "answers.jsonl").open("w") as answers:
        for start in range(0, num_rows, SHARD_ROWS):
            stop = min(start + SHARD_ROWS, num_rows)
            path = folder / "data" / f"test-{len(files):05}.parquet"
            with pq.ParquetWriter(path, schema, compression="zstd") as writer:
                for at in range(start, stop, 50_000):
                    rows = list(rows_between(at, min(at + 50_000, stop)))
                    writer.write_table(pa.Table.from_pylist(rows, schema))
                    write_answers(answers, rows)
            entry = {"path": f"data/{path.name}", "split": "test", "rows": stop - start}
            files.append({**entry, "bytes": path.stat().st_size, "sha256": sha256_of(path)})
    write_json(folder / "manifest.json", manifest_of(files))


def write_answers(stream: Any, rows: list[dict[str, Any]]) -> None:
    """Write the rows' predictions, shuffled among themselves."""
    rng = random.Random(rows[0]["index"])
    rng.shuffle(rows)
    for row in rows:
        draw = rng.random()
        text = row["target"] if draw < 0.9 else row["target"][2:] if draw < 0.98 else None
        stream.write(json.dumps({"id": row["id"], "prediction": text}) + "\n")


def manifest_of(files: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the least that a manifest must say."""
    empty: dict[str, Any] = {
        key: {} for key in ("options", "versions", "asked", "rejects", "missing")
    }
    return {
        **empty,
        "schema_version": MANIFEST_VERSION,
        "task": "copy",
        "perturbation": "none",
        "seed": 0,
        "vocabulary": {"window": [0, len(NAMES)]},
        "files": files,
        "columns": [list(pair) for pair in column_types({}, renamed=False).items()],
        "fingerprint": "made by benchmarks/scoring_memory.py",
        "candidates": 0,
        "message": "",
        "cells": [],
        "hard_rows": {},
        "solvers": {},
    }


def score_once(folder: Path) -> None:
    """Score, write the result, and print what it took."""
    start_bytes, start_s = peak_bytes(), time.perf_counter()
    scored = score_files(open_dataset(folder), [folder / "answers.jsonl"], TASK)
    write_result(scored, folder.parent / f"{folder.name}.json")
    took = {"start": start_bytes, "peak": peak_bytes(), "s": time.perf_counter() - start_s}
    print(json.dumps({**took, "counts": scored.result.counts, "cpu_s": time.process_time()}))


def peak_bytes() -> int:
    """Return the most memory that this process has had."""
    status = Path("/proc/self/status")
    if status.is_file():  # there getrusage tells of the parent, too
        line = next(line for line in status.read_text().split("\n") if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[50_000, 200_000])
    parser.add_argument("--score", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.score is not None:
        score_once(arguments.score)
        return
    print("    rows  peak MB  of it rows MB  bytes a row  seconds  CPU s  us a row")
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for num_rows in arguments.rows:
            place = Path(folder) / str(num_rows)
            write_inputs(place, num_rows)
            command = [sys.executable, __file__, "--score", str(place)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            took = json.loads(done.stdout)
            found.append((num_rows, took["peak"]))
            own = took["peak"] - took["start"]
            print(
                f"{num_rows:8} {took['peak'] / 1e6:8.0f} {own / 1e6:14.0f} {own / num_rows:12.0f}"
                f" {took['s']:8.1f} {took['cpu_s']:6.1f} {1e6 * took['cpu_s'] / num_rows:9.1f}"
            )
    if len(found) > 1:
        (few, least), (many, most) = found[0], found[-1]
        print(f"{(most - least) / (many - few):.0f} bytes for each row more")
    if any(peak > GOAL_BYTES for _, peak in found):
        raise SystemExit("more than 2 GB")


if __name__ == "__main__":
    main()
