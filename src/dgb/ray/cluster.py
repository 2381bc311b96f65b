"""Train and embed on a cluster, this machine or others; Ray is imported where it is used."""

import json
import logging
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dgb.errors import DGBError
from dgb.recipe import Recipe
from dgb.train.checkpoint import CHECKPOINTS

_LEADS_OUT = re.compile(r"[/\\]|^\.\.$|^[A-Za-z]:")  # of the run folder
# Ray reads these when it starts; nothing leaves the machine, and the terminal stays the run's own.
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_TRAIN_V2_ENABLED": "1",
    "RAY_TRAIN_METRICS_ENABLED": "0",
    "RAY_TRAIN_HEALTH_CHECK_INTERVAL_S": "0.5",
    "RAY_TRAIN_ENABLE_PREEMPTION_WATCHER": "0",
}


@dataclass(frozen=True)
class Cluster:
    """How to reach a cluster, and how many ranks train on it."""

    address: str | None = None  # None: start Ray on this machine alone
    workers: int | None = None  # None: one for each machine

    @property
    def words(self) -> str:
        """The options of `dgb train` that say the same."""
        address = f" --address {self.address}" if self.address else ""
        return f" --engine ray{address}" + (f" --workers {self.workers}" if self.workers else "")


def import_ray() -> Any:
    """Return Ray, or say how to install it."""
    os.environ.update({key: value for key, value in QUIET.items() if key not in os.environ})
    try:
        import ray.train.torch

        import ray
    except ImportError as error:
        raise DGBError(
            "--engine ray needs Ray: pip install 'deep-graph-bootstrapping[ray]'"
        ) from error
    return ray


def check_address(address: str) -> None:
    """Refuse an address where no cluster answers: Ray itself would try for minutes."""
    host, colon, port = address.rpartition(":")
    if "/" in host or not (host and colon and port.isdecimal()):
        raise DGBError(
            f"--address must be that of the cluster itself, such as 10.0.0.1:6379, not {address}: "
            "start dgb on one of its machines, which then holds the graph"
        )
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except (OSError, OverflowError) as error:
        raise DGBError(
            f"no Ray cluster answers at {address} ({error}); start one by `ray start --head`, or "
            "leave out --address"
        ) from error


@contextmanager
def connect_engine(
    cluster: Cluster, recipe: Recipe, num_nodes: int, folder: Path
) -> Iterator[tuple[list[dict[str, Any]], int]]:
    """Connect to a cluster for one run; what it cannot do is refused before anything is made.

    Yields its machines, as Ray describes them, and the number of ranks.
    """
    check_snapshots(folder)
    ray = import_ray()
    is_connected = ray.is_initialized()  # by the caller's own program, which keeps its connection
    if not is_connected:
        _connect(ray, cluster.address)
    try:
        from dgb.ray.training import check_ranks  # only now is it known that Ray is there

        nodes = ray.nodes()
        machines = [node for node in nodes if node["Alive"] and node["Resources"].get("CPU")]
        ranks = len(machines) if cluster.workers is None else cluster.workers
        check_ranks(recipe, num_nodes, ranks)
        yield machines, ranks
    finally:
        if not is_connected:
            ray.shutdown()


def _connect(ray: Any, address: str | None) -> None:
    options = {} if address else {"include_dashboard": False}
    try:
        # "local": never a cluster that happens to run here for something else.
        ray.init(address or "local", log_to_driver=False, logging_level=logging.ERROR, **options)
    except (ConnectionError, RuntimeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise DGBError(f"Ray does not start on {address or 'this machine'}: {reason}") from error


def check_snapshots(folder: Path) -> None:
    """Refuse a run folder whose checkpoints lie elsewhere: Ray removes the older ones of them."""
    for path in sorted((folder / CHECKPOINTS).rglob("*.json")):
        try:
            names = list(_texts(json.loads(path.read_text("utf-8"))))
        except (OSError, ValueError, RecursionError) as error:
            raise DGBError(f"{path} cannot be read ({error}); train again from the start") from None
        for name in names:
            if _LEADS_OUT.search(name):
                raise DGBError(f"{path} names what is not in its folder, {name!r}; do not use it")


def _texts(values: Any) -> Iterator[str]:
    if isinstance(values, str):
        yield values
    elif isinstance(values, dict | list):
        # Names of keys as well: which of them Ray takes for places is its own affair.
        for value in (*values, *(values.values() if isinstance(values, dict) else ())):
            yield from _texts(value)


def refuse_other_engine(folder: Path) -> None:
    """Refuse to resume in one process a run whose checkpoints are Ray's."""
    if (folder / CHECKPOINTS).exists():
        raise DGBError(
            f"{folder} was begun on Ray; resume it with `dgb train --resume {folder} --engine ray` "
            "and the same --address"
        )
