"""Ray, for real: a cluster of this process, and one of two nodes of which one is killed."""

import contextlib
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from processes import eventually, in_session, kill, listening, processes, title, tree

from symshift.data.errors import SymshiftError, UsageError
from symshift.generators import ray_engine
from symshift.generators.pool import Chunk, LostItemError
from symshift.generators.ray_engine import RayEngine
from tests.generators.test_pool import hang_at_five, hang_once, raise_at_five

pytest.importorskip("ray", reason="Ray cannot be imported: pip install 'symshift[ray]'")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]

LTL = ("ltl", "--train", "12000", "--size", "1-35", "--seed", "3")
COPY = ("copy", "--train", "3000", "--seed", "3")
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
TWO_NODES = """
import json, sys
from ray.cluster_utils import Cluster
cluster = Cluster()
for _ in range(2):
    node = cluster.add_node(
        node_ip_address="127.0.0.1", num_cpus=1, include_dashboard=False,
        object_store_memory=100 << 20,
    )
[raylet] = node.all_processes["raylet"]
print(json.dumps({"address": cluster.address, "second": raylet.process.pid}), flush=True)
sys.stdin.read()
cluster.shutdown()
"""


@pytest.fixture(autouse=True, scope="module")
def _own_token() -> Iterator[None]:
    """Keep Ray from making a token in the home directory, and from anybody else's cluster."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_TOKEN", uuid.uuid4().hex)
        for name in ("RAY_ADDRESS", "RAY_AUTH_MODE"):  # Ray sets the second
            patch.setenv(name, "")
            patch.delenv(name)
        yield


@pytest.fixture
def two_nodes() -> Iterator[dict[str, Any]]:
    """Two nodes on the loopback address: where they are, and the process of the second."""
    host = subprocess.Popen(
        [sys.executable, "-c", TWO_NODES],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "RAY_AUTH_MODE": "token"},
    )
    try:
        assert host.stdout is not None
        yield json.loads(host.stdout.readline())
    finally:
        with contextlib.suppress(subprocess.TimeoutExpired):
            host.communicate(timeout=30)
        for pid in in_session(host.pid):
            kill(pid, signal.SIGKILL)
        host.wait()
        assert eventually(lambda: not in_session(host.pid))


def tasks_at_work(raylet: int) -> set[int]:
    """Return the processes of a node that Ray runs a task in; Ray writes so in their titles."""
    return {pid for pid in tree(raylet) if title(pid).startswith("ray::_run")}


def generate(
    command: tuple[str, ...], out: Path, *more: str, **environment: str
) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "symshift.cli", "generate", *command, *more, "--", str(out)],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def content(folder: Path) -> dict[str, str]:
    """Return the hash of each file of a data set, and its fingerprint."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    hashes = {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return {**hashes, "fingerprint": manifest["fingerprint"]}


@pytest.fixture(scope="module")
def local_ltl(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    out = tmp_path_factory.mktemp("local") / "ltl"
    assert generate(LTL, out, "--workers", "1").wait() == 0
    return content(out)


def frozen_at_work(raylet: int) -> set[int]:
    """Stop all processes of a node at a moment when it has a task; return them, none if never."""
    node: set[int] = set()

    def caught() -> bool:
        nonlocal node
        node = tree(raylet)
        for pid in node:
            kill(pid, signal.SIGSTOP)
        if tasks_at_work(raylet):
            return True
        for pid in node:
            kill(pid, signal.SIGCONT)
        return False

    return node if eventually(caught) else set()


def run_with_a_node_killed(nodes: dict[str, Any], out: Path) -> None:
    """Generate on two nodes, and kill the second one while it works."""
    here = {"RAY_ADDRESS": nodes["address"], "RAY_AUTH_MODE": "token"}
    run = generate(LTL, out, "--engine", "ray", **here)
    try:
        first_block = out / ".partial"
        assert eventually(lambda: list(first_block.glob("*.parquet")), 120), run.poll()
        node = frozen_at_work(nodes["second"])
        assert node, "the second node did nothing"
        for pid in node:
            kill(pid, signal.SIGKILL)
        assert run.poll() is None, "the run was over"
        assert not (out / "manifest.json").exists()
        assert eventually(lambda: not node & {pid for pid, _, _ in processes()})
        _, said = run.communicate(timeout=240)
        assert run.returncode == 0, said
    finally:
        run.kill()
        run.wait()


def test_node_killed_at_work_changes_no_byte(
    two_nodes: dict[str, Any], local_ltl: dict[str, str], tmp_path: Path
) -> None:
    run_with_a_node_killed(two_nodes, tmp_path / "ltl")

    assert content(tmp_path / "ltl") == local_ltl


@pytest.mark.parametrize("command", [LTL, COPY])
def test_cluster_of_this_machine_makes_the_bytes_of_one_local_worker(
    command: tuple[str, ...], local_ltl: dict[str, str], tmp_path: Path
) -> None:
    assert generate(command, tmp_path / "ray", "--engine", "ray").wait() == 0
    if command == COPY:
        assert generate(command, tmp_path / "local", "--workers", "1").wait() == 0
    expected = content(tmp_path / "local") if command == COPY else local_ltl

    assert content(tmp_path / "ray") == expected


@pytest.mark.parametrize("answers", [False, True])
def test_named_cluster_that_is_none_is_one_line_in_time(
    answers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        if not answers:
            silent.close()
        monkeypatch.setenv("RAY_ADDRESS", address)
        began = time.monotonic()
        with (
            pytest.raises(SymshiftError, match=f"{address}: nothing within 10 s") as caught,
            RayEngine(1, timeout_s=60, start_timeout_s=10),
        ):
            pass

    assert time.monotonic() - began < 20
    assert "\n" not in str(caught.value)


def test_malformed_address_is_one_line(tmp_path: Path) -> None:
    run = generate(COPY, tmp_path / "copy", "--engine", "ray", RAY_ADDRESS="nowhere")
    _, said = run.communicate(timeout=60)

    assert run.returncode == 1
    assert said.startswith("Error: no answer from the Ray cluster at nowhere: ")
    assert said.count("\n") == 1


def test_engine_keeps_to_loopback_guards_candidates_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def chunks(context: Any) -> Iterator[Chunk[Any, int]]:
        return (Chunk(context=context, items=range(start, start + 3)) for start in (0, 3, 6))

    before = tree(os.getpid())
    with RayEngine(2, timeout_s=2) as engine:
        done: list[list[int]] = []
        with pytest.raises(UsageError, match="five is not allowed"):
            done.extend(engine.map(raise_at_five, chunks(UsageError)))
        assert done == [[0, 1, 2]]

        found = list(engine.map(hang_once, chunks(str(tmp_path))))
        assert found == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
        with pytest.raises(LostItemError, match="item 5 was lost twice: timeout"):
            list(engine.map(hang_at_five, chunks(None)))

        monkeypatch.setattr(ray_engine, "_versions", lambda: {"symshift": "another"})
        with pytest.raises(SymshiftError, match="install the same on all nodes"):
            list(engine.map(raise_at_five, chunks(UsageError)))

        of_ray = tree(os.getpid()) - before
        open_to = listening(of_ray | {os.getpid()})
        assert {address for _, address in open_to} <= LOOPBACK
        assert len(open_to) >= 3
        assert not [pid for pid, _ in open_to if "dashboard/dashboard.py" in title(pid)]
    assert eventually(lambda: not of_ray & {pid for pid, _, _ in processes()})
