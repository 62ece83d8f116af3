"""Ctrl-C while threads and processes are started, fed and stopped: it waits until that is done.

KeyboardInterrupt can come between any two steps of Python code. Inside a queue or a condition it
leaves a lock or a waiting thread behind (cpython#92530 is one such place), and the next one who
needs that waits for ever. Blocking the signal alone does not help: the system then hands it to
another thread, and Python raises in the main thread all the same.
"""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Keep Ctrl-C waiting; processes and threads that are started meanwhile never get it."""
    with _noted(), _blocked():
        yield


@contextlib.contextmanager
def _noted() -> Iterator[None]:
    """Raise at the end what an interruption inside would have raised."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    noted: list[FrameType | None] = []
    signal.signal(signal.SIGINT, lambda _, frame: noted.append(frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if noted:
            handler(signal.SIGINT, noted[0])


@contextlib.contextmanager
def _blocked() -> Iterator[None]:
    """Block the signal, which is what new processes and threads inherit."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # once it runs: when it starts, it lets SIGINT through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
