"""Candidates made on a Ray cluster: the same rows as with local workers, on many machines.

Needs the extra `ray`. Each Ray task hands its chunk to a worker pool of its own (pool), so that a
candidate that hangs or crashes is retried alone and named, as on one machine; what a lost node had
to do, Ray does again elsewhere.
"""

import platform
from collections import deque
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import TracebackType
from typing import Any

import numpy as np

import symshift
from symshift.data.errors import MissingToolError, SymshiftError
from symshift.generators.pool import LOOK_AHEAD, Chunk, WorkerPool, num_usable_cpus
from symshift.generators.ray_cluster import enter_cluster

START_TIMEOUT_S = 60.0
MAX_RETRIES = 5
"""How often Ray does a chunk again whose node or process it lost."""


class RayEngine:
    """Runs chunks of candidates as Ray tasks; use it as a context manager."""

    def __init__(
        self,
        num_workers: int | None,
        timeout_s: float,
        memory_mb: int | None = None,
        *,
        start_timeout_s: float = START_TIMEOUT_S,
    ) -> None:
        """Describe the workers; the cluster is joined or started when the engine is entered.

        Args:
            num_workers: Chunks at work at the same time; one for each CPU of the cluster if not
                given.
            timeout_s: Seconds of wall-clock time for one item, as in WorkerPool.
            memory_mb: Address space of a worker in MiB, as in WorkerPool.
            start_timeout_s: Seconds of wall-clock time that the cluster has to answer.

        Raises:
            MissingToolError: If Ray is not installed.
        """
        try:
            import ray
        except ModuleNotFoundError:
            raise MissingToolError("--engine ray needs Ray: pip install 'symshift[ray]'") from None
        self._ray: Any = ray
        self._num_workers = num_workers
        self._limits = (timeout_s, memory_mb)
        self._start_timeout_s = start_timeout_s

    def __enter__(self) -> "RayEngine":
        enter_cluster(self._num_workers or num_usable_cpus(), self._start_timeout_s)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ray.shutdown()

    def map(
        self, function: Callable[[Any, int], Any], chunks: Iterator[Chunk[Any, int]]
    ) -> Iterator[list[Any]]:
        """Yield the results of each chunk, in the order of the chunks, which are taken lazily.

        Raises:
            LostItemError: If an item ended its worker, and again when it was tried alone.
            SymshiftError: If a node has other versions, or a chunk is lost again and again. What
                `function` raises comes through as it is.
        """
        remote = self._ray.remote(max_retries=MAX_RETRIES)(_run)
        at_once = self._num_workers or int(self._ray.cluster_resources().get("CPU", 1))
        waiting: deque[Any] = deque()
        source = iter(chunks)
        while True:
            while len(waiting) < LOOK_AHEAD * at_once:
                chunk = next(source, None)
                if chunk is None:
                    break
                waiting.append(remote.remote(function, chunk, self._limits, _versions()))
            if not waiting:
                return
            yield self._result(waiting.popleft())

    def _result(self, reference: Any) -> list[Any]:
        errors = self._ray.exceptions
        try:
            results: list[Any] = self._ray.get(reference)
            return results
        except errors.RayError as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, Exception) and not isinstance(cause, errors.RayError):
                raise cause from error
            reason = str(cause or error).partition("\n")[0]
            raise SymshiftError(f"Ray failed at a chunk of candidates: {reason}") from error


def _versions() -> dict[str, str]:
    return {
        "symshift": symshift.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


def _run(
    function: Callable[[Any, int], Any],
    chunk: Chunk[Any, int],
    limits: tuple[float, int | None],
    versions: dict[str, str],
) -> list[Any]:
    """Do a chunk's work on a node."""
    if (here := _versions()) != versions:
        raise SymshiftError(
            f"node {platform.node()} has {here}, not {versions}: install the same on all nodes"
        )
    [results] = _pool(*limits).map(function, iter([chunk]))
    return results


@lru_cache(maxsize=1)
def _pool(timeout_s: float, memory_mb: int | None) -> WorkerPool:
    """Return the pool of this process of Ray, which ends with it."""
    return WorkerPool(1, timeout_s, memory_mb).__enter__()
