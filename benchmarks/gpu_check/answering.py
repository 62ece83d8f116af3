"""Answers per second of a trained run, as `symshift predict` writes them, for batches and beams.

Part of gpu_check.sh. Each way answers all training rows twice, and the second time counts: reading
the data set and loading the model is included, starting the program is not.
"""

import argparse
import contextlib
import io
import itertools
import json
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq

from symshift.models.prediction import predict

BATCH_SIZES, BEAMS, PRECISIONS = (256, 1024), (1, 3), ("float32", "bfloat16")


def seconds_of(
    run: Path, dataset: Path, device: str, beam: int, size: int, precision: str
) -> float:
    """Return the seconds of the second of two predictions for all training rows."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
        for number in range(2):
            start = time.perf_counter()
            predict(
                run,
                dataset,
                Path(folder, f"{number}.jsonl"),
                split="train",
                beam=beam,
                batch_size=size,
                precision=precision,
                device=device,
            )
        return time.perf_counter() - start


def main() -> None:
    """Print the table as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--device", default="auto")
    arguments = parser.parse_args()
    num_rows = 0
    for path in (arguments.dataset / "data").glob("train-*.parquet"):
        num_rows += pq.read_metadata(path).num_rows
    found = []
    for precision, beam, size in itertools.product(PRECISIONS, BEAMS, BATCH_SIZES):
        spent = seconds_of(
            arguments.run, arguments.dataset, arguments.device, beam, size, precision
        )
        found.append(
            {
                "precision": precision,
                "beam": beam,
                "batch_size": size,
                "answers_per_second": num_rows / spent,
            }
        )
    print(json.dumps(found))


if __name__ == "__main__":
    main()
