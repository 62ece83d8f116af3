"""Jobs side by side, each in a process of its own that writes its messages to a file.

Ctrl-C and SIGTERM reach every job, and all are waited for: a training saves before it ends. Where
one job fails the others are stopped in the same way.
"""

import multiprocessing
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from pathlib import Path

from symshift.data import console
from symshift.data.errors import RunInterrupted, SymshiftError
from symshift.data.terminal import printable
from symshift.generators.pool import end_with_parent
from symshift.models.training.interruption import StopRequest, stop_requests
from symshift.models.training.journal import say

_LOOK_S = 0.5
"""A signal does not end a wait, so the wait ends by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Something to do in a process of its own."""

    name: str
    """Its name, for messages."""
    function: Callable[[], object]
    """What to do: a bound method or a function of a module's top level, which can be pickled."""
    messages: Path
    """The file to which it writes what it has to say."""


def work_side_by_side(jobs: Sequence[Job], workers: int) -> None:
    """Do all jobs, in their order and a number of them at a time.

    Raises:
        RunInterrupted: After Ctrl-C or SIGTERM, when all jobs have ended.
        SymshiftError: If a job fails; the text has its last message.
    """
    with stop_requests() as stop:
        crew = _Crew(jobs)
        try:
            crew.work(workers, stop)
        finally:
            crew.dismiss()
    if stop.is_made:
        raise RunInterrupted("all that was under way has been saved; the same command goes on")


class _Crew:
    def __init__(self, jobs: Sequence[Job]) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._waiting = deque(jobs)
        self._at_work: dict[int, tuple[Job, SpawnProcess]] = {}

    def work(self, workers: int, stop: StopRequest) -> None:
        while (self._waiting or self._at_work) and not stop.is_made:
            while self._waiting and len(self._at_work) < workers:
                self._start(self._waiting.popleft())
            for sentinel in wait(self._at_work, timeout=_LOOK_S):
                assert isinstance(sentinel, int)
                job, process = self._at_work.pop(sentinel)
                process.join()
                if process.exitcode and not stop.is_made:
                    raise _failed(job, process.exitcode)
                say(f"{job.name}: done; {len(self._at_work) + len(self._waiting)} left")

    def dismiss(self) -> None:
        """Stop those that are still at work, and wait until they have saved."""
        for _, process in self._at_work.values():
            process.terminate()
        for _, process in self._at_work.values():
            process.join()

    def _start(self, job: Job) -> None:
        job.messages.parent.mkdir(parents=True, exist_ok=True)
        process = self._context.Process(target=_work, args=(job, sys.argv[1:]))
        process.start()
        self._at_work[process.sentinel] = job, process
        say(f"{job.name}: begins; its messages: {job.messages}")


def _work(job: Job, arguments: Sequence[str]) -> None:
    """Do a job in the process that was started for it."""
    end_with_parent()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what is half written is removed
    with job.messages.open("ab") as file:
        for number in (1, 2):
            os.dup2(file.fileno(), number)
    sys.exit(console.reported(job.function, arguments))


def _failed(job: Job, code: int) -> SymshiftError:
    lines = job.messages.read_text("utf-8", "replace").splitlines() or ["no message"]
    last = printable(lines[-1].removeprefix("Error: "))
    if code < 0:
        name = signal.Signals(-code).name
        last = f"ended by {name}, as where memory runs out; the same command goes on"
    return SymshiftError(f"{job.name} (exit code {code}): {last}; all its messages: {job.messages}")
