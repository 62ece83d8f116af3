import threading
import time

import pytest

from symshift.generators import writer
from symshift.generators.generation import plan
from symshift.generators.writer import write_dataset

ray = pytest.importorskip("ray")
cluster_utils = pytest.importorskip("ray.cluster_utils")

WISHES = {"symbols": 6, "size": "5-9", "train": 6000, "test": 100}


@pytest.fixture
def cluster(monkeypatch):
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setattr(writer, "CHUNK_CANDIDATES", 64)
    nodes = cluster_utils.Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 1,
            "include_dashboard": False,
            "node_ip_address": "127.0.0.1",
            "object_store_memory": 100 << 20,
        },
    )
    monkeypatch.setenv("RAY_ADDRESS", nodes.address)
    yield nodes
    nodes.shutdown()


@pytest.mark.slow
def test_a_node_that_dies_in_mid_run_changes_no_byte(tmp_path, Serial, contents, cluster):
    from symshift.generators.ray_engine import RayEngine

    recipe, demand = plan("copy", WISHES)
    write_dataset(recipe, demand, tmp_path / "single", Serial())
    second = cluster.add_node(num_cpus=1, object_store_memory=100 << 20)

    def kill_soon():
        while not list((tmp_path / "ray" / ".partial").glob("block-*")):
            time.sleep(0.02)
        cluster.remove_node(second, allow_graceful=False)

    killer = threading.Thread(target=kill_soon, daemon=True)
    with RayEngine() as engine:
        assert ray.cluster_resources()["CPU"] == 2
        (tmp_path / "ray").mkdir()
        killer.start()
        write_dataset(recipe, demand, tmp_path / "ray", engine)
        killer.join(timeout=30)
        assert not killer.is_alive()

    assert contents(tmp_path / "ray") == contents(tmp_path / "single")


@pytest.mark.slow
def test_what_a_candidate_raises_comes_through(cluster):
    from symshift.data.errors import UsageError
    from symshift.generators.pool import Chunk
    from symshift.generators.ray_engine import RayEngine

    with RayEngine() as engine, pytest.raises(UsageError, match="number 3"):
        list(engine.map(refuse_three, iter([Chunk(context=None, items=range(5))])))


def refuse_three(context, item):
    from symshift.data.errors import UsageError

    if item == 3:
        raise UsageError("number 3")
    return item
