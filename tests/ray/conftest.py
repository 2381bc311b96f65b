"""Two machines on this one: raylets of a small cluster."""

from collections.abc import Iterator
from typing import Any

import pytest

# Without what looks on: each is a process with imports of its own.
STORE = {"object_store_memory": 200 * 2**20, "include_dashboard": False}
STORE |= {"include_log_monitor": False, "no_monitor": True}
# A node that dies without a word is found out by its silence: half a minute by default.
SYSTEM = {"health_check_period_ms": 500, "health_check_failure_threshold": 4}
SYSTEM |= {"health_check_initial_delay_ms": 1000, "health_check_timeout_ms": 2000}
# Workers give way to everything else by default: next to other tests they would hardly run.
SYSTEM |= {"worker_niceness": 0}


@pytest.fixture(scope="package")
def cluster() -> Iterator[Any]:
    pytest.importorskip("ray")
    from dgb.ray.cluster import import_ray

    ray = import_ray()
    from ray.cluster_utils import Cluster

    made = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 2, "_system_config": SYSTEM, **STORE}
    )
    # Before there is a second machine: Ray may choose either for this process, and one is to die.
    ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
    made.add_node(num_cpus=2, **STORE)
    yield made
    ray.shutdown()
    made.shutdown()


def living() -> list[dict[str, Any]]:
    """Return the machines of the cluster that are alive, as Ray describes them."""
    import ray

    return [node for node in ray.nodes() if node["Alive"]]


@pytest.fixture
def machines(cluster: Any) -> list[dict[str, Any]]:
    while len(living()) < 2:
        cluster.add_node(num_cpus=2, **STORE)
    return living()
