"""Worker processes that survive a crash and a hang: one lost item costs a retry, not the run.

Wall-clock time and memory are limited only as a safety net, since neither is the same on two
machines. What is lost to one of them, or to a crash of native code, is tried again alone; what is
lost again stops the run, by name. So no limit of this kind ever decides what a data set holds.
"""

import concurrent.futures
import contextlib
import logging
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, TypeVar

import pebble

from symshift.data.errors import SymshiftError
from symshift.generators.interrupts import interrupts_held

C = TypeVar("C")
I = TypeVar("I")  # noqa: E741 - context, item, result
R = TypeVar("R")

LOOK_AHEAD = 2
"""Chunks under way for each worker, at most."""
_OUT_OF_MEMORY = 86
_MAX_BROKEN = 3
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Chunk(Generic[C, I]):
    """Work for one worker: the function is called with the context and each item in turn."""

    context: C
    """What all items share; it is pickled once for the chunk."""
    items: Sequence[I]
    """The items."""


class LostItemError(SymshiftError):
    """An item that ended its worker twice, the second time alone."""

    def __init__(self, item: object, reason: str) -> None:
        super().__init__(f"item {item!r} was lost twice: {reason}. The same command resumes")
        self.item = item
        self.reason = reason

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.item, self.reason)


class WorkersNotStartedError(SymshiftError):
    """Workers that ended before any of them began a task."""


def num_usable_cpus() -> int:
    """Return the number of CPUs that this process may use, at least 1."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class WorkerPool:
    """A fixed number of worker processes, as a context manager.

    Workers are started with "spawn", ignore Ctrl-C, and end with their parent, however it ends.
    """

    def __init__(self, num_workers: int, timeout_s: float, memory_mb: int | None = None) -> None:
        """Describe the workers; they start when the pool is entered.

        Args:
            num_workers: How many, at least 1.
            timeout_s: Seconds of wall-clock time for one item; a chunk has as many times more.
            memory_mb: Address space of a worker in MiB, or None for no limit. Where the system
                cannot limit it (Windows), the limit is left out and noted in the log.

        Raises:
            ValueError: If a number is not positive.
        """
        if num_workers < 1 or timeout_s <= 0 or (memory_mb is not None and memory_mb < 1):
            raise ValueError(f"{num_workers=}, {timeout_s=}, {memory_mb=}: each must be positive")
        self.num_workers = num_workers
        self.timeout_s = timeout_s
        self.memory_mb = memory_mb
        self._open = contextlib.ExitStack()
        self._pool: pebble.ProcessPool | None = None

    def __enter__(self) -> "WorkerPool":
        self._pool = self._open.enter_context(self._workers(self.num_workers))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pool = None
        self._open.__exit__(kind, error, trace)

    def map(
        self, function: Callable[[C, I], R], chunks: Iterator[Chunk[C, I]]
    ) -> Iterator[list[R]]:
        """Yield, for each chunk, the results of its items; chunks and items keep their order.

        Args:
            function: A function of a module's top level, called in a worker as
                `function(context, item)`.
            chunks: Taken one by one, as late as possible: at most LOOK_AHEAD for each worker are
                taken and not yet answered.

        Raises:
            LostItemError: If an item ended its worker, and again when it was tried alone.
            SymshiftError: If the workers cannot start. Whatever `function` raises comes through
                as it is.
        """
        pool = self._pool
        if pool is None:
            raise ValueError("map() is called on a pool that is not open")
        waiting: deque[tuple[Chunk[C, I], concurrent.futures.Future[list[R]]]] = deque()
        source = iter(chunks)
        try:
            while True:
                while len(waiting) < LOOK_AHEAD * self.num_workers:
                    chunk = next(source, None)
                    if chunk is None:
                        break
                    waiting.append((chunk, self._schedule(pool, function, chunk)))
                if not waiting:
                    return
                chunk, future = waiting.popleft()
                results, reason = self._outcome(future)
                if reason:
                    _LOG.warning("a chunk of %d items was lost: %s", len(chunk.items), reason)
                    concurrent.futures.wait([other for _, other in waiting])
                    results = self._one_by_one(function, chunk)
                yield results
        finally:
            with interrupts_held():
                for _, future in waiting:
                    future.cancel()

    def _one_by_one(self, function: Callable[[C, I], R], chunk: Chunk[C, I]) -> list[R]:
        results: list[R] = []
        num_broken = 0
        while len(results) < len(chunk.items):
            try:
                with self._workers(1) as pool:
                    for item in chunk.items[len(results) :]:
                        single = Chunk(context=chunk.context, items=[item])
                        results += self._alone(pool, function, single)
            except WorkersNotStartedError:
                # Pebble takes a worker that dies at once for one that never began its task.
                num_broken += 1
                if num_broken == _MAX_BROKEN:
                    raise
        return results

    def _alone(
        self, pool: pebble.ProcessPool, function: Callable[[C, I], R], single: Chunk[C, I]
    ) -> list[R]:
        """Return the result of a chunk of one item, which is tried twice."""
        found, reason = self._outcome(self._schedule(pool, function, single))
        if reason:  # its worker is gone, so that this one is fresh
            found, reason = self._outcome(self._schedule(pool, function, single))
        if reason:
            raise LostItemError(single.items[0], reason)
        return found

    def _schedule(
        self, pool: pebble.ProcessPool, function: Callable[[C, I], R], chunk: Chunk[C, I]
    ) -> "concurrent.futures.Future[list[R]]":
        timeout_s = self.timeout_s * max(1, len(chunk.items))
        try:
            with interrupts_held():
                return pool.schedule(_run, args=(function, chunk), timeout=timeout_s)
        except RuntimeError as error:
            raise _not_started() from error

    def _outcome(self, future: "concurrent.futures.Future[list[R]]") -> tuple[list[R], str]:
        """Return the results, or the reason why there are none."""
        try:
            return future.result(), ""
        except TimeoutError as error:
            if error.__cause__ is not None:  # raised by the function: it comes with its traceback
                raise
            return [], "timeout"
        except pebble.ProcessExpired as error:
            if error.exitcode == _OUT_OF_MEMORY:
                return [], "memory"
            return [], f"crash (exit code {error.exitcode})"
        except BrokenProcessPool as error:
            raise _not_started() from error

    @contextlib.contextmanager
    def _workers(self, count: int) -> Iterator[pebble.ProcessPool]:
        pool = pebble.ProcessPool(
            max_workers=count,
            initializer=_start,
            initargs=(self.memory_mb,),
            context=multiprocessing.get_context("spawn"),
        )
        try:
            with interrupts_held():
                assert pool.active  # starts it
            yield pool
        finally:
            with interrupts_held():
                pool.stop()  # type: ignore[no-untyped-call]
                # Joining takes away the locks that a worker which is just starting looks for. Only
                # this pool's own: another may have just replaced one that it lost.
                for worker in [*pool._pool_manager.worker_manager.workers.values()]:
                    worker.terminate()
                pool.join()


def _not_started() -> WorkersNotStartedError:
    return WorkersNotStartedError(
        "the worker processes ended before their first task: a script that is run as a file "
        "needs `if __name__ == '__main__':`, and the memory limit must leave room to start"
    )


def _start(memory_mb: int | None) -> None:
    """Prepare a worker process."""
    # Pebble's handler waits for Python code, which a worker in native code never reaches.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    end_with_parent()
    if memory_mb is not None:
        _limit_memory(memory_mb << 20)


def end_with_parent() -> None:
    """Let this process, which another one started, end as soon as that one does."""
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _limit_memory(num_bytes: int) -> None:
    try:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        if hard != resource.RLIM_INFINITY:
            num_bytes = min(num_bytes, hard)
        resource.setrlimit(resource.RLIMIT_AS, (num_bytes, hard))
    except (ImportError, ValueError, OSError) as error:
        _LOG.info("the memory of workers is not limited here: %s", error)


def _run(function: Callable[[C, I], R], chunk: Chunk[C, I]) -> list[R]:
    """Do a chunk's work in a worker."""
    try:
        return [function(chunk.context, item) for item in chunk.items]
    except MemoryError:
        os._exit(_OUT_OF_MEMORY)
