"""Ctrl-C and SIGTERM between two steps, so that what is saved is never half a step."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopRequest:
    """Whether somebody asked to stop."""

    def __init__(self) -> None:
        self.is_made = False
        """True from the first signal on."""

    def note(self, number: int, frame: FrameType | None) -> None:
        """Note a signal; a second Ctrl-C interrupts at once.

        SIGTERM never does: `torchrun` passes on one that its processes may have had themselves.
        """
        if self.is_made and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.is_made = True


@contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Yield what notes SIGINT and SIGTERM inside the context, instead of an interruption.

    Only the main thread gets signals; elsewhere nothing changes.
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before = {number: signal.signal(number, request.note) for number in SIGNALS}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
