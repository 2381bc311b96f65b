"""How threads wait that have nothing to do: epochs under each OMP_WAIT_POLICY, idle and loaded.

python benchmarks/run.py --only waiting      all of them in turns, a process each
python benchmarks/waiting.py GRAPH EPOCHS    epochs under the policy of the environment
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import torch

from fresh import Figures, measured, tell
from step import make_setup, our_step

WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")  # as in dgb.cli
POLICIES = {"`passive`, as `dgb` sets it": "passive", "not set: torch's own choice": ""}
POLICIES |= {"`active`": "active"}
OURS = next(iter(POLICIES))
IDLE, LOADED = "idle", "loaded"
EPOCHS = 10
BUSY = "while True: pass"  # what another program does with a core


def measure(graph: str, rounds: int) -> list[Figures]:
    """Return a row for each policy, idle and with a busy process for each core.

    Medians over rounds, in which the policies take turns: what else is on the machine meets all.
    """
    rows = []
    for state in (IDLE, LOADED):
        with keep_busy((os.cpu_count() or 1) if state == LOADED else 0):
            found = [
                {name: run_epochs(graph, policy) for name, policy in POLICIES.items()}
                for _ in range(rounds)
            ]
        rows += [summarise(name, state, [turn[name] for turn in found]) for name in POLICIES]
    return rows


def run_epochs(graph: str, policy: str) -> Figures:
    """Train in a fresh process: a policy counts from the import of torch on."""
    kept = {name: value for name, value in os.environ.items() if name not in WAITING}
    chosen = {"OMP_WAIT_POLICY": policy} if policy else {}
    with patch.dict(os.environ, kept | chosen, clear=True):
        return measured("waiting.py", graph, str(EPOCHS))


def summarise(name: str, state: str, found: list[Figures]) -> Figures:
    """Return the medians of one policy, or why one of its processes has none."""
    row = {"name": f"{name}, {state}", "kind": "ours", "against": f"{OURS}, {state}"}
    failed = [figures for figures in found if "failed" in figures]
    if failed:
        return row | failed[0]
    keys = ("seconds", "cpu_s")
    return row | {key: round(float(np.median([f[key] for f in found])), 3) for key in keys}


@contextmanager
def keep_busy(count: int) -> Iterator[None]:
    """Run so many processes that do nothing but count as work."""
    others = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def train(graph: str, epochs: int) -> Figures:
    """Return the seconds, and those of all cores, that epochs take after a first one."""
    step = our_step(make_setup(graph, "PPR to 1e-3"))
    step()
    start, cpu = time.perf_counter(), time.process_time()
    for _ in range(epochs):
        step()
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "cpu_s": time.process_time() - cpu}


if __name__ == "__main__":
    if torch.get_num_threads() < 2:
        raise SystemExit("one thread waits for nobody: set OMP_NUM_THREADS to two at least")
    tell(train(sys.argv[1], int(sys.argv[2])))
