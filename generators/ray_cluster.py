"""Joins the Ray cluster that is named, or starts one here, bound to the loopback address.

Ray waits for a cluster that does not answer for minutes, in native code that neither Ctrl-C nor a
signal handler interrupts, and sometimes ends the process. So each cluster is tried in a process
of its own first, which can be killed.
"""

import logging
import os
import subprocess
import sys
import tempfile
from typing import Any

from symshift.data.errors import SymshiftError

OBJECT_STORE_BYTES = 128 << 20
"""Results on their way are small; more than this may not fit into a container's shared memory."""
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_TRIAL = "import sys; from symshift.generators.ray_cluster import connect; connect(*sys.argv[1:])"
_LOG = logging.getLogger(__name__)


def enter_cluster(num_cpus: int, timeout_s: float) -> None:
    """Connect to the cluster of RAY_ADDRESS, or start one on this machine if there is none.

    Args:
        num_cpus: Tasks at the same time, for a cluster that is started.
        timeout_s: Seconds of wall-clock time that the cluster has to answer.

    Raises:
        SymshiftError: If it does not.
    """
    address = os.environ.get("RAY_ADDRESS", "")
    name = f"Ray cluster at {address}" if address else "Ray cluster started on this machine"
    reason = _reason_against(address, num_cpus, timeout_s)
    if not reason:
        try:
            connect(address, num_cpus)
        except (ConnectionError, RuntimeError, ValueError) as error:
            reason = str(error)
    if reason:
        raise SymshiftError(f"no answer from the {name}: {reason}")


def connect(address: str, num_cpus: int | str) -> None:
    """Connect this process to a cluster, or start one if the address is empty.

    Raises:
        ConnectionError: If the cluster is not what was asked for; Ray raises others as well.
    """
    import ray
    from ray._private import ray_constants

    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    if not address:
        settings |= {
            "num_cpus": int(num_cpus),
            "include_dashboard": False,
            "object_store_memory": OBJECT_STORE_BYTES,
        }
    # Ray puts the machine's own address in place of the loopback address, which a cluster that is
    # bound to the loopback address does not answer. This is the switch behind
    # RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER, whose variable is read only when Ray is imported.
    before = ray_constants.ENABLE_RAY_CLUSTER
    if not address or address.rpartition(":")[0].strip("[]") in _LOOPBACK:
        ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        context: Any = ray.init(address=address or "local", **settings)
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before
    bound = context.address_info["node_ip_address"]
    if not address and bound not in _LOOPBACK:
        ray.shutdown()
        raise ConnectionError(f"Ray bound it to {bound} and not to the loopback address")


def _reason_against(address: str, num_cpus: int, timeout_s: float) -> str:
    """Try a cluster in a process of its own; return why it cannot be used, or nothing."""
    command = [sys.executable, "-c", _TRIAL, address, str(num_cpus)]
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,  # no pipe: processes of Ray would keep it open
                timeout=timeout_s,
                start_new_session=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"nothing within {timeout_s:g} s"
        said.seek(0)
        text = said.read().strip()
    if done.returncode == 0:
        return ""
    _LOG.debug("Ray said: %s", text)
    if "Unauthenticated" in text:
        return "it wants its token: set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN as on its nodes"
    return text.rpartition("\n")[2] or f"the trial ended with exit code {done.returncode}"
