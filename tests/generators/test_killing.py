"""A run that is killed at any moment, workers and all, ends with the bytes of one that was not."""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from symshift.data.dataset import open_dataset
from symshift.data.errors import DataError
from symshift.generators.verification import first_problems

KILLS = 30
# Small blocks, so that a killed run has blocks to go on from.
SCRIPT = """
import sys

from symshift.cli import main
from symshift.generators import writer

if __name__ == "__main__":
    writer.BLOCK_CANDIDATES, writer.CHUNK_CANDIDATES = 128, 32
    main()
"""
WISHES = {
    "copy": ["--train", "6000", "--test", "300", "--size", "5-9", "--symbols", "6"],
    "ltl": ["--train", "800", "--test", "60", "--size", "3-7", "--symbols", "3"],
    "horn": ["--train", "800", "--test", "60", "--symbols", "8", "--depth", "0-2", "--decorrelate"],
}


@pytest.fixture
def start(tmp_path):
    """Return a function that starts a run in a process group of its own."""
    script = tmp_path / "run.py"
    script.write_text(SCRIPT)
    running = []

    def start(task, out):
        command = [sys.executable, str(script), "generate", task, str(out), *WISHES[task]]
        process = subprocess.Popen(
            [*command, "--workers", "2"], stderr=subprocess.DEVNULL, start_new_session=True
        )
        running.append(process)
        return process

    yield start
    for process in running:
        kill(process)


def kill(process):
    """Kill a run, its workers and whatever else it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_for_a_block(process, folder):
    """Wait until a run has written a block, or ended."""
    there = len(blocks(folder))
    while process.poll() is None and len(blocks(folder)) == there:
        time.sleep(0.01)


def blocks(folder):
    return list(folder.glob(".partial/block-*"))


def visible(folder):
    """Return the bytes of every file that a reader would pick up."""
    places = [path for path in folder.rglob("*") if path.is_file()]
    names = {path.relative_to(folder): path for path in places}
    return {
        name.as_posix(): path.read_bytes()
        for name, path in names.items()
        if not any(part.startswith(".") for part in name.parts)
    }


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs process groups")
@pytest.mark.parametrize("task", ["copy", pytest.param("ltl", marks=pytest.mark.spot), "horn"])
def test_a_run_killed_at_thirty_moments_ends_with_the_same_bytes(tmp_path, start, task):
    began = time.monotonic()
    assert start(task, tmp_path / "whole").wait() == 0
    duration_s = time.monotonic() - began
    whole, cut = visible(tmp_path / "whole"), tmp_path / "cut"
    moments = random.Random(0)
    num_resumed = 0
    for number in range(KILLS):
        num_resumed += len(blocks(cut)) > 0
        process = start(task, cut)
        if number % 2:
            wait_for_a_block(process, cut)
        time.sleep(moments.uniform(0, 0.3 if number % 2 else duration_s))
        kill(process)
        there = visible(cut) if cut.exists() else {}

        assert there.items() <= whole.items()
        if "manifest.json" in there:
            assert there == whole
            shutil.rmtree(cut)  # so that the next run has something to do
        else:
            with pytest.raises(DataError, match=r"manifest\.json"):
                open_dataset(cut)
    assert start(task, cut).wait() == 0

    assert visible(cut) == whole
    assert not (cut / ".partial").exists()
    assert first_problems(open_dataset(cut)) == []
    assert num_resumed >= KILLS // 10
