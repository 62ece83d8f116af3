"""Candidates made on a Ray cluster: the same rows as with local workers, on many machines.

Needs the extra `ray`. A cluster that runs already is used (RAY_ADDRESS, or the one started on this
machine with `ray start`); otherwise one is started here, bound to the loopback address. What a lost
node had to do is done again elsewhere.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from symshift.data.errors import MissingToolError, SymshiftError
from symshift.generators.pool import Chunk

LOOK_AHEAD = 2
MAX_RETRIES = 5


class RayEngine:
    """Runs chunks of candidates as Ray tasks; use it as a context manager."""

    def __init__(self, num_workers: int | None = None) -> None:
        """Connect to a cluster, or start one on this machine.

        Args:
            num_workers: Chunks at work at the same time; one for each CPU of the cluster if not
                given.

        Raises:
            MissingToolError: If Ray is not installed.
            SymshiftError: If the cluster does not answer.
        """
        try:
            import ray
        except ModuleNotFoundError:
            raise MissingToolError("--engine ray needs Ray: pip install 'symshift[ray]'") from None
        self._ray: Any = ray
        self._num_workers = num_workers

    def __enter__(self) -> "RayEngine":
        settings: dict[str, Any] = {"log_to_driver": False, "logging_level": "warning"}
        if "RAY_ADDRESS" not in os.environ:
            settings |= {"include_dashboard": False, "_node_ip_address": "127.0.0.1"}
        try:
            self._ray.init(**settings)
        except (ConnectionError, RuntimeError) as error:
            raise SymshiftError(f"no Ray cluster: {error}") from error
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
            SymshiftError: If a chunk is lost again and again. What `function` raises comes
                through as it is.
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
                waiting.append(remote.remote(function, chunk))
            if not waiting:
                return
            yield self._result(waiting.popleft())

    def _result(self, reference: Any) -> list[Any]:
        errors = self._ray.exceptions
        try:
            results: list[Any] = self._ray.get(reference)
            return results
        except errors.RayTaskError as error:
            raise error.cause or error from None
        except errors.RayError as error:
            raise SymshiftError(f"Ray lost a chunk of candidates: {error}") from error


def _run(function: Callable[[Any, int], Any], chunk: Chunk[Any, int]) -> list[Any]:
    return [function(chunk.context, item) for item in chunk.items]
