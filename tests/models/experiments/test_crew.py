import functools
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tiny_experiments import TINY, TINY_SYSTEMS

from symshift.data.errors import SymshiftError, UsageError
from symshift.models.experiments.crew import Job, work_side_by_side
from symshift.models.experiments.experiment import load_experiment
from symshift.models.experiments.pipeline import run_experiment

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")


def meet(folder: Path, mine: str, other: str) -> None:
    """Leave a file, and wait for that of the other one: alone it would wait for ever."""
    (folder / mine).touch()
    for _ in range(1_800):
        if (folder / other).exists():
            print(f"{mine} met {other}")
            return
        time.sleep(0.1)
    raise AssertionError("the other job never began")


def leave(folder: Path, name: str) -> None:
    (folder / name).touch()


def refuse(text: str) -> None:
    print("something else before")
    raise UsageError(text)


def job(tmp_path, name, function, *arguments):
    return Job(
        name=name,
        function=functools.partial(function, *arguments),
        messages=tmp_path / "messages" / f"{name}.txt",
    )


def test_jobs_run_at_the_same_time_and_write_their_messages_to_files(tmp_path):
    pairs = [("one", "two"), ("two", "one")]
    work_side_by_side(
        [job(tmp_path, mine, meet, tmp_path, mine, other) for mine, other in pairs], 2
    )
    for mine, other in pairs:
        assert (tmp_path / "messages" / f"{mine}.txt").read_text() == f"{mine} met {other}\n"


def test_no_more_than_a_number_run_at_a_time_and_all_are_done(tmp_path, capsys):
    names = ["a", "b", "c", "d", "e"]
    work_side_by_side([job(tmp_path, name, leave, tmp_path, name) for name in names], 2)
    assert all((tmp_path / name).exists() for name in names)
    running = most = 0
    for line in capsys.readouterr().err.splitlines():
        running += ("begins" in line) - ("done" in line)
        most = max(most, running)
    assert (running, most) == (0, 2)


def test_a_job_that_fails_stops_the_others_and_is_told_in_a_line(tmp_path):
    failing = job(tmp_path, "bad", refuse, "no \x1b[31msuch thing")
    endless = job(tmp_path, "endless", time.sleep, 600)
    never = job(tmp_path, "never", leave, tmp_path, "never")
    before = time.monotonic()
    with pytest.raises(SymshiftError) as raised:
        work_side_by_side([endless, failing, never], 2)
    assert time.monotonic() - before < 400
    stated = str(raised.value)
    assert stated.startswith(r"bad (exit code 2): no \x1b[31msuch thing; all its messages: ")
    assert not (tmp_path / "never").exists()


def test_a_crash_is_a_failure_too(tmp_path):
    with pytest.raises(SymshiftError, match=r"dead \(exit code 3\): no message"):
        work_side_by_side([job(tmp_path, "dead", os._exit, 3)], 2)


@posix
def test_a_killed_job_names_the_signal(tmp_path):
    with pytest.raises(
        SymshiftError, match=r"gone \(exit code -9\): ended by SIGKILL, as where mem"
    ):
        work_side_by_side([job(tmp_path, "gone", signal.raise_signal, signal.SIGKILL)], 2)


def test_names_cannot_steer_a_terminal(tmp_path, capsys):
    name = "a\x1b]0;b\nError: c"
    work_side_by_side([replace(job(tmp_path, "x", leave, tmp_path, "x"), name=name)], 2)
    begins, done = capsys.readouterr().err.splitlines()
    assert begins.startswith(r"a\x1b]0;b\nError: c: begins")
    assert done.startswith(r"a\x1b]0;b\nError: c: done")


def has_steps(log: Path) -> bool:
    return '"loss"' in log.read_text()


def site_of(folder: Path) -> bytes:
    return (folder / "site" / "leaderboard.json").read_bytes()


def test_models_that_are_trained_side_by_side_are_the_same(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    experiment = load_experiment(str(path))
    run_experiment(experiment, tmp_path / "one", device="cpu")
    run_experiment(experiment, tmp_path / "two", device="cpu", workers=2)
    assert site_of(tmp_path / "two") == site_of(tmp_path / "one")
    messages = sorted(path.name for path in (tmp_path / "two" / "messages").rglob("*.txt"))
    assert messages == ["interchangeable-0.txt", "learned-0.txt"]


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_experiment_saves_what_is_under_way_and_goes_on(tmp_path, number):
    path, out = tmp_path / "long.toml", tmp_path / "out"
    path.write_text(TINY.replace("steps = 4", "log_every = 1, steps = 10000000"))
    command = [sys.executable, "-m", "symshift.cli", "run", str(path), str(out), "--workers", "2"]
    running = subprocess.Popen(
        [*command, "--device", "cpu"], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    runs = [out / "runs" / "copying" / f"{name}-0" for name in TINY_SYSTEMS]
    for _ in range(1_800):
        if all((run / "log.jsonl").exists() and has_steps(run / "log.jsonl") for run in runs):
            break
        time.sleep(0.1)
    # Ctrl-C reaches all processes of a terminal, SIGTERM the one that it is sent to.
    os.killpg(running.pid, number) if number == signal.SIGINT else running.send_signal(number)
    _, stderr = running.communicate(timeout=180)
    assert running.returncode == 130, stderr
    assert "the same command goes on" in stderr.splitlines()[-1]
    for run in runs:
        assert list((run / "checkpoints").glob("*")), stderr
        assert "--resume" not in (out / "messages" / "copying" / f"{run.name}.txt").read_text()
