"""What runs on this machine, as Linux tells it in /proc."""

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path


def processes() -> Iterator[tuple[int, int, int]]:
    """Yield process, parent and session of all that run on this machine, zombies left out."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            if fields[0] != "Z":
                yield int(path.parent.name), int(fields[1]), int(fields[3])


def in_session(session: int) -> list[int]:
    return [pid for pid, _, its_session in processes() if its_session == session]


def tree(root: int) -> set[int]:
    """Return a process and all below it."""
    found, pairs = {root}, [(pid, parent) for pid, parent, _ in processes()]
    while new := {pid for pid, parent in pairs if parent in found} - found:
        found |= new
    return found


def title(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").decode(errors="replace")
    return ""


def kill(pid: int, signal_number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal_number)


def eventually(condition: Callable[[], object], timeout_s: float = 60) -> bool:
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def listening(pids: set[int]) -> set[tuple[int, str]]:
    """Return the TCP sockets that processes listen at: the process, and the address in hex."""
    addresses = {}
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A":
                addresses[f"socket:[{fields[9]}]"] = fields[1].partition(":")[0]
    found = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            for descriptor in Path(f"/proc/{pid}/fd").iterdir():
                if (target := str(descriptor.readlink())) in addresses:
                    found.add((pid, addresses[target]))
    return found
