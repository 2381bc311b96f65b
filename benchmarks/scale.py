"""The rates that docs/scale.md computes with: one core, and Ray's store between two raylets.

Seconds of one core are processor time, so that other work on the machine counts little.
"""

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy import sparse

from dgb.ray.cluster import import_ray

ROWS, BLOCKS, COLUMNS = 2**16, 16, 16  # as a block of papers100M is cut, with fewer rows
DEGREE = 29  # of papers100M
WIDE = 2**26  # numbers of a block in the store: 256 MB


def core_seconds(work: Callable[[], Any], times: int = 3) -> float:
    """Return the least processor time of some runs, on one thread."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def hop_rate() -> float:
    """Return non-zeros times columns that one core multiplies in a second of a task's hop."""
    from dgb.ray.blocks import Csr
    from dgb.ray.propagation import add_term

    rng = np.random.default_rng(0)
    part = ROWS * DEGREE // BLOCKS
    row = []
    for _ in range(BLOCKS):
        places = rng.integers(0, ROWS, (2, part), dtype=np.int32)
        made = sparse.csr_array((rng.random(part, np.float32), tuple(places)), shape=(ROWS, ROWS))
        row.append(Csr(made.indptr, made.indices, made.data, made.shape))
    now = [rng.random((ROWS, COLUMNS), np.float32) for _ in range(BLOCKS)]
    return part * BLOCKS * COLUMNS / core_seconds(lambda: add_term(row, now[0], now[1], 0.1, *now))


def product_rate() -> float:
    """Return multiplications and additions that one core does in a second of a dense product."""
    a, b = torch.rand(4096, 512), torch.rand(512, 256)
    return 2 * 4096 * 512 * 256 / core_seconds(lambda: a @ b, 20)


def draw_rate() -> float:
    """Return the numbers that one core draws in a second."""
    generator = torch.Generator().manual_seed(0)
    return 2**22 / core_seconds(lambda: torch.rand(2**22, generator=generator), 5)


def size_of(block: Any) -> int:
    """Return the size of a block, for which it has to be there."""
    return int(block.nbytes)


def store_rates() -> dict[str, float]:
    """Return bytes a second into the store, and from one raylet's store to the other's."""
    ray = import_ray()
    from ray.cluster_utils import Cluster
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    size = {"object_store_memory": 2**31, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, **size})
    there = cluster.add_node(num_cpus=1, **size).node_id
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    place = NodeAffinitySchedulingStrategy(there, soft=False)
    look = ray.remote(scheduling_strategy=place)(size_of)
    ray.get(look.remote(np.zeros(1)))  # the process is there
    block, rates = np.ones(WIDE, np.float32), {"put": 0.0, "transfer": 0.0}
    for _ in range(3):
        start = time.perf_counter()
        ref = ray.put(block)
        middle = time.perf_counter()
        ray.get(look.remote(ref))
        end = time.perf_counter()
        rates["put"] = max(rates["put"], block.nbytes / (middle - start))
        rates["transfer"] = max(rates["transfer"], block.nbytes / (end - middle))
    ray.shutdown()
    cluster.shutdown()
    return rates


if __name__ == "__main__":
    torch.set_num_threads(1)
    import_ray()
    rates = {"hop": hop_rate(), "product": product_rate(), "draw": draw_rate(), **store_rates()}
    print(json.dumps({name: f"{rate:.3g} a second" for name, rate in rates.items()}, indent=2))
