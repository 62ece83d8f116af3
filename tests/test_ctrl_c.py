"""Ctrl-C: exit code 130 and the command that resumes, whenever it comes, and no traceback."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")

# Says when the program imports the first of what it needs.
READY = """
import sys
from symshift.cli import main

class Tell:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            sys.meta_path.remove(self)
            print("ready", flush=True)

sys.meta_path.insert(0, Tell())
main()
"""
# Is interrupted where Python swallows exceptions, while a command imports what it needs.
SWALLOWED = """
import signal, sys, weakref
from symshift.cli import main

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "pyarrow":
            sys.meta_path.remove(self)
            passing = Interrupt()
            reference = weakref.ref(passing, lambda _: signal.raise_signal(signal.SIGINT))
            del passing

sys.meta_path.insert(0, Interrupt())
main()
"""
GENERATE = ["generate", "copy", "d", "--test", "3000", "--size", "8-9", "--workers", "2"]


def start(folder, command, handler=signal.SIG_DFL):
    """Start a process in a group of its own.

    A shell makes what it runs in the background deaf to Ctrl-C, hence the handler.
    """
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "COLUMNS": "80"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, handler),
    )


def interrupt(process):
    """Do what a terminal does: tell the whole group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # if it ended just before
        os.killpg(process.pid, signal.SIGINT)
    return process.communicate(timeout=60)[1]


@pytest.mark.parametrize("delay_ms", [0, 50, 100, 200, 400])
@pytest.mark.parametrize("command", [GENERATE, ["list", "methods"]], ids=["generate", "list"])
def test_ctrl_c_while_the_program_starts_leaves_no_traceback(tmp_path, command, delay_ms):
    process = start(tmp_path, ["-c", READY, *command])
    assert process.stdout.readline() == "ready\n"
    time.sleep(delay_ms / 1000)
    err = interrupt(process)

    assert process.returncode in (0, 130)
    assert "Traceback" not in err
    assert "Exception ignored" not in err
    assert process.returncode == 0 or f"symshift {command[0]}" in err


def test_ctrl_c_is_not_lost_in_an_import(tmp_path):
    process = start(tmp_path, ["-c", SWALLOWED, "verify", "d"])
    err = process.communicate(timeout=60)[1]

    assert process.returncode == 130
    assert err == "interrupted; to go on where it stopped: symshift verify d\n"


def test_what_starts_deaf_to_ctrl_c_stays_so(tmp_path):
    process = start(tmp_path, ["-c", READY, "list", "methods"], signal.SIG_IGN)
    assert process.stdout.readline() == "ready\n"
    err = interrupt(process)

    assert (process.returncode, err) == (0, "")


def test_hardly_anything_is_imported_before_ctrl_c_is_heard():
    code = "import sys, symshift.cli; sys.exit('click' in sys.modules or 'numpy' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_ctrl_c_ends_with_130_and_the_command_that_resumes(tmp_path):
    command = ["-m", "symshift.cli", "generate", "copy", "d"]
    wishes = ["--train", "300000", "--size", "8-9", "--symbols", "9", "--workers", "2"]
    process = start(tmp_path, [*command, *wishes])
    while not list(tmp_path.glob("d/.partial/block-*")):
        time.sleep(0.05)
    err = interrupt(process)

    assert process.returncode == 130
    assert "symshift generate copy d --train 300000" in err
    assert "Traceback" not in err
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("a process was left behind")
