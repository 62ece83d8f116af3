import os
import signal
import threading
import time

import pytest

from symshift.generators.interrupts import interrupts_held

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")


@pytest.fixture(autouse=True)
def hears_ctrl_c():
    """A shell makes what it runs in the background deaf to Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt():
    signal.raise_signal(signal.SIGINT)


def held(*actions):
    with interrupts_held():
        for action in actions:
            action()


def test_an_interruption_waits_until_the_block_is_done():
    steps = []
    with pytest.raises(KeyboardInterrupt):
        held(interrupt, lambda: steps.append("done"))

    assert steps == ["done"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interruption_waits_even_if_another_thread_gets_the_signal():
    steps, end = [], threading.Event()
    other = threading.Thread(target=end.wait)
    other.start()  # before the signal is blocked, so that it is not blocked there
    with pytest.raises(KeyboardInterrupt):
        held(
            lambda: signal.pthread_kill(other.ident, signal.SIGINT),
            lambda: time.sleep(0.2),
            lambda: steps.append("done"),
        )
    end.set()
    other.join()

    assert steps == ["done"]


def test_an_interruption_in_a_block_within_a_block_waits_for_the_outer_one():
    steps = []
    with pytest.raises(KeyboardInterrupt):
        held(lambda: held(interrupt), lambda: steps.append("done"))

    assert steps == ["done"]


def test_an_error_inside_comes_through():
    with pytest.raises(ZeroDivisionError), interrupts_held():
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.pthread_sigmask(signal.SIG_BLOCK, set()) == set()


def test_who_is_deaf_to_interruptions_stays_so():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    held(interrupt)

    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_a_thread_that_is_not_the_main_one_holds_nothing_up():
    done = []

    def work():
        with interrupts_held():
            done.append(signal.getsignal(signal.SIGINT))

    other = threading.Thread(target=work)
    other.start()
    other.join()

    assert done == [signal.default_int_handler]
