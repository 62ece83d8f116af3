"""The worker pool, with toy functions that crash, hang, eat memory and raise."""

import ctypes
import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from symshift.data.errors import SymshiftError, UsageError
from symshift.generators.pool import (
    LOOK_AHEAD,
    Chunk,
    LostItemError,
    WorkerPool,
    WorkersNotStartedError,
    num_usable_cpus,
)

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")


def add(context: int, item: int) -> int:
    return context + item


def slow_first(context: None, item: int) -> int:
    time.sleep(0.3 if item == 0 else 0)
    return item


def worker_of(context: None, item: int) -> int:
    return os.getpid()


def once(context: str, item: int, do: Callable[[], object]) -> int:
    """Do something the first time that item 5 comes up; a file remembers."""
    mark = Path(context) / "done"
    if item == 5 and not mark.exists():
        mark.touch()
        do()
    return item


def crash_once(context: str, item: int) -> int:
    return once(context, item, os.abort)


def segfault_once(context: str, item: int) -> int:
    return once(context, item, lambda: ctypes.string_at(0))


def hang_once(context: str, item: int) -> int:
    return once(context, item, lambda: time.sleep(60))


def hang_in_native_code_once(context: str, item: int) -> int:
    return once(context, item, lambda: hashlib.pbkdf2_hmac("sha256", b"", b"", 1 << 30))


def crash_at_five(context: None, item: int) -> int:
    if item == 5:
        os.abort()
    return item


def hang_at_five(context: None, item: int) -> int:
    if item == 5:
        time.sleep(60)
    return item


def eat_at_five(context: None, item: int) -> int:
    if item == 5:
        return len(bytearray(4 << 30))
    return item


def raise_at_five(context: type[Exception], item: int) -> int:
    if item == 5:
        raise context("five is not allowed")
    return item


def chunks(context: Any, *, num: int, size: int) -> Iterator[Chunk[Any, int]]:
    for start in range(0, num, size):
        yield Chunk(context=context, items=range(start, min(start + size, num)))


def test_results_come_in_the_order_of_chunks_and_items() -> None:
    with WorkerPool(2, timeout_s=60) as pool:
        found = list(pool.map(slow_first, chunks(None, num=20, size=3)))
        again = list(pool.map(add, chunks(100, num=4, size=2)))

    assert [item for each in found for item in each] == list(range(20))
    assert [len(each) for each in found] == [3] * 6 + [2]
    assert again == [[100, 101], [102, 103]]


def test_no_chunks_and_empty_chunks_are_no_trouble() -> None:
    with WorkerPool(1, timeout_s=60) as pool:
        assert list(pool.map(add, iter(()))) == []
        assert list(pool.map(add, iter([Chunk(context=0, items=())]))) == [[]]


def test_chunks_are_taken_as_late_as_possible() -> None:
    taken = 0

    def source() -> Iterator[Chunk[Any, int]]:
        nonlocal taken
        for chunk in chunks(None, num=40, size=2):
            taken += 1
            yield chunk

    with WorkerPool(2, timeout_s=60) as pool:
        results = pool.map(worker_of, source())
        assert taken == 0
        for answered, _ in enumerate(results):
            assert taken <= answered + 2 * LOOK_AHEAD

    assert taken == 20


@posix
@pytest.mark.parametrize("function", [crash_once, segfault_once])
def test_chunk_that_was_lost_to_a_crash_is_tried_again(
    tmp_path: Path, function: Callable[[str, int], int]
) -> None:
    with WorkerPool(2, timeout_s=60) as pool:
        found = list(pool.map(function, chunks(str(tmp_path), num=12, size=3)))

    assert [item for each in found for item in each] == list(range(12))


@posix
@pytest.mark.parametrize("function", [hang_once, hang_in_native_code_once])
def test_chunk_that_was_lost_to_a_hang_is_tried_again(
    tmp_path: Path, function: Callable[[str, int], int]
) -> None:
    with WorkerPool(2, timeout_s=0.5) as pool:
        found = list(pool.map(function, chunks(str(tmp_path), num=8, size=2)))

    assert [item for each in found for item in each] == list(range(8))


@posix
@pytest.mark.parametrize(
    ("function", "timeout_s", "memory_mb", "reason"),
    [
        (crash_at_five, 60, None, "crash (exit code -6)"),
        (hang_at_five, 0.3, None, "timeout"),
        (eat_at_five, 60, 2048, "memory"),
    ],
)
def test_item_that_is_lost_again_alone_is_named_with_the_reason(
    function: Callable[[None, int], int], timeout_s: float, memory_mb: int | None, reason: str
) -> None:
    done: list[object] = []

    with WorkerPool(2, timeout_s, memory_mb) as pool, pytest.raises(LostItemError) as caught:
        done += pool.map(function, chunks(None, num=12, size=3))

    assert (caught.value.item, caught.value.reason) == (5, reason)
    assert "item 5" in str(caught.value)
    assert isinstance(caught.value, SymshiftError)


@pytest.mark.parametrize("kind", [UsageError, TimeoutError])
def test_ordinary_exception_comes_through_as_it_is(kind: type[Exception]) -> None:
    done: list[int] = []

    with WorkerPool(2, timeout_s=60) as pool, pytest.raises(kind, match="five is not allowed"):
        done.extend(
            item
            for results in pool.map(raise_at_five, chunks(kind, num=12, size=2))
            for item in results
        )

    assert done == [0, 1, 2, 3]


def test_exception_of_the_source_comes_through() -> None:
    def source() -> Iterator[Chunk[Any, int]]:
        yield Chunk(context=0, items=[1])
        raise ZeroDivisionError

    with WorkerPool(1, timeout_s=60) as pool, pytest.raises(ZeroDivisionError):
        list(pool.map(add, source()))


def test_pool_goes_on_after_an_abandoned_and_a_failed_map() -> None:
    with WorkerPool(2, timeout_s=60) as pool:
        for _ in pool.map(worker_of, chunks(None, num=100, size=1)):
            break
        with pytest.raises(ZeroDivisionError):
            list(pool.map(raise_at_five, chunks(ZeroDivisionError, num=9, size=1)))

        assert list(pool.map(add, chunks(1, num=2, size=2))) == [[1, 2]]


def test_workers_that_cannot_start_are_one_readable_error() -> None:
    with (
        WorkerPool(1, timeout_s=60, memory_mb=1) as pool,
        pytest.raises(SymshiftError, match="memory"),
    ):
        list(pool.map(add, chunks(1, num=2, size=2)))


def test_wrong_use_is_refused() -> None:
    for arguments in ((0, 1.0), (1, 0.0), (1, 1.0, 0)):
        with pytest.raises(ValueError, match="positive"):
            WorkerPool(*arguments)
    with pytest.raises(ValueError, match="not open"):
        next(WorkerPool(1, 1.0).map(add, iter(())))


def test_usable_cpus_are_counted_on_every_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    assert num_usable_cpus() >= 1
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert num_usable_cpus() >= 1
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert num_usable_cpus() == 1


def test_lost_item_error_survives_pickling() -> None:
    import pickle

    error = pickle.loads(pickle.dumps(LostItemError(7, "timeout")))

    assert (error.item, error.reason) == (7, "timeout")


SCRIPT = """
import sys, time
from symshift.generators.pool import Chunk, WorkerPool
from busy import work

if __name__ == "__main__":
    with WorkerPool(2, timeout_s=60) as pool:
        for results in pool.map(work, (Chunk(context=None, items=[n]) for n in range(100))):
            print(*results, flush=True)
"""
BUSY = """
import hashlib, os

def work(context, item):
    if item > 1:
        hashlib.pbkdf2_hmac("sha256", b"", b"", 1 << 30)  # native code, minutes long
    return os.getpid()
"""


@pytest.fixture
def busy_parent(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], set[int]]]:
    """Start a process with two busy workers; return it and the ids of the workers."""
    (tmp_path / "main.py").write_text(SCRIPT)
    (tmp_path / "busy.py").write_text(BUSY)
    parent = subprocess.Popen(
        [sys.executable, "main.py"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=hear_ctrl_c,
    )
    assert parent.stdout is not None
    workers = {int(parent.stdout.readline()) for _ in range(2)}
    time.sleep(0.3)
    yield parent, workers
    parent.kill()
    parent.communicate()


def members(session: int) -> list[str]:
    """Return the processes that are left of a session, zombies aside."""
    found = subprocess.run(
        ["ps", "-s", str(session), "-o", "stat=,pid=,args="], capture_output=True, text=True
    )
    return [line for line in found.stdout.splitlines() if not line.startswith("Z")]


def hear_ctrl_c() -> None:
    """Undo what a shell does to what it runs in the background: it is deaf to Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def wait_until_empty(session: int) -> list[str]:
    deadline = time.monotonic() + 5
    while (left := members(session)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


@posix
def test_nothing_is_left_when_the_parent_is_killed(
    busy_parent: tuple[subprocess.Popen[str], set[int]],
) -> None:
    parent, workers = busy_parent
    assert len(members(parent.pid)) >= 1 + len(workers)

    parent.send_signal(signal.SIGKILL)
    parent.wait()

    assert wait_until_empty(parent.pid) == []


@posix
def test_interrupt_from_the_keyboard_stops_everything_quickly_and_quietly(
    busy_parent: tuple[subprocess.Popen[str], set[int]],
) -> None:
    parent, _ = busy_parent
    start = time.monotonic()

    os.killpg(parent.pid, signal.SIGINT)  # as a terminal does: to all of them
    _, errors = parent.communicate(timeout=20)

    assert time.monotonic() - start < 15
    assert wait_until_empty(parent.pid) == []
    assert errors.count("KeyboardInterrupt") == 1  # the parent's own
    assert "Process pebble" not in errors


@posix
def test_interrupt_while_workers_start_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(SCRIPT)
    (tmp_path / "busy.py").write_text(BUSY)
    for delay_s in (0.2, 0.4):
        parent = subprocess.Popen(
            [sys.executable, "main.py"],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=hear_ctrl_c,
        )
        time.sleep(delay_s)
        os.killpg(parent.pid, signal.SIGINT)
        _, errors = parent.communicate(timeout=20)

        assert parent.returncode != 0
        assert wait_until_empty(parent.pid) == []
        assert errors.count("Traceback") <= 1, errors  # the script's own


def test_an_item_that_is_tried_alone_costs_the_pool_no_worker(tmp_path):
    # The pool replaces the worker that hung while another pool tries the item alone.
    chunks = [Chunk(context=str(tmp_path), items=[item]) for item in (5, 6, 7, 8)]
    with WorkerPool(1, 2) as pool:
        for chunk in chunks:
            assert list(pool.map(hang_once, iter([chunk]))) == [chunk.items]


class Raced(WorkerPool):
    """Workers of which some die so early that their end is known before their beginning."""

    def __init__(self, num_raced: int) -> None:
        super().__init__(2, 60)
        self.num_raced = num_raced

    def _alone(self, pool: Any, function: Any, single: Chunk[Any, Any]) -> list[Any]:
        if single.items[0] == 5 and self.num_raced:
            self.num_raced -= 1
            raise WorkersNotStartedError("all workers expired")
        return super()._alone(pool, function, single)


@posix
def test_item_that_ends_its_worker_at_once_is_still_tried_alone(tmp_path: Path) -> None:
    with Raced(2) as pool:
        done = [*pool.map(crash_once, chunks(str(tmp_path), num=12, size=3))]
    assert [item for each in done for item in each] == list(range(12))
    assert pool.num_raced == 0


@posix
def test_workers_that_never_start_are_told_in_the_end(tmp_path: Path) -> None:
    with Raced(3) as pool, pytest.raises(WorkersNotStartedError):
        list(pool.map(crash_once, chunks(str(tmp_path), num=12, size=3)))
