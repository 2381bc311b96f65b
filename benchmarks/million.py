"""A graph of a million nodes, from its files to scores: time, memory and accuracy next to SGC.

python benchmarks/million.py --folder DIR      # DIR needs about 4 GB and keeps graph and run
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path
from subprocess import Popen
from typing import Any

import torch

import records
from dgb.cookbook import load_recipe
from dgb.data.blocks import Blocks, make_blocks
from dgb.data.graph import Graph
from dgb.data.load import load_graph
from dgb.evaluate.labels import choose_split
from dgb.evaluate.probe import linear_probe
from dgb.recipe import Probe
from dgb.views.features import row_normalise
from dgb.views.operators import make_adj

SEEN_HOPS = range(1, 5)  # of SGC, among which validation chooses
MORE_HOPS = (6, 8)  # told as well, because the best of 1 to 4 may not be SGC's best
SYSTEMS = {"dgb": "DGB", "random": "the same encoder, untrained", "raw": "features alone"}


def measure(nodes: int, folder: Path, *, is_trained: bool) -> None:
    """Make the graph, train on it with the command that a user would, and score SGC next to it."""
    graph_folder, run = folder / "graph", folder / "run"
    if not graph_folder.exists():
        make_blocks(graph_folder, Blocks(nodes=nodes, edges=10 * nodes))
    cost = read_cost(run) if is_trained else train(graph_folder, run)
    scores = json.loads((run / "scores.json").read_text("utf-8"))
    rows = [
        {"name": name, "validation": probe["validation"], "test": probe["test"]}
        for key, name in SYSTEMS.items()
        for probe in [scores[key]["probe"]]
    ]
    rows += smoothed(load_graph(graph_folder), load_recipe("large").probe)
    records.write("million", rows, cost=cost, nodes=nodes)


def train(graph: Path, run: Path) -> dict[str, float]:
    """Run `dgb train` in a process of its own; return its minutes and its peak of memory."""
    start_dgb = "import sys; from dgb.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", start_dgb, "train", str(graph), "--recipe", "large"]
    start = time.perf_counter()
    process = Popen([*command, "--out", str(run)])
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit("dgb train failed")
    minutes = (time.perf_counter() - start) / 60
    cost = {"minutes": round(minutes, 2), "peak_gb": round(used.ru_maxrss * 1024 / 1e9, 2)}
    (run / "cost.json").write_text(json.dumps(cost) + "\n", "utf-8")
    return cost


def read_cost(run: Path) -> dict[str, float]:
    """Return what a run that was trained before took."""
    cost: dict[str, float] = json.loads((run / "cost.json").read_text("utf-8"))
    return cost


def smoothed(graph: Graph, recipe: Probe) -> list[dict[str, Any]]:
    """Score adj^k X; test accuracy is told of the k alone that validation chose."""
    assert graph.labels is not None
    adj, x = make_adj(graph.adjacency), torch.from_numpy(row_normalise(graph.x))
    probes, split = {}, choose_split(graph, 0)
    for hops in range(1, max(MORE_HOPS) + 1):
        x = adj.multiply(x)
        if hops in SEEN_HOPS or hops in MORE_HOPS:
            probes[hops] = linear_probe(x.numpy(), graph.labels, split, recipe)
            print(f"SGC, {hops} hops: {probes[hops].validation:.4f}", flush=True)
    chosen = max(SEEN_HOPS, key=lambda hops: probes[hops].validation)
    return [
        {"name": f"SGC, {hops} hops", "validation": probe.validation}
        | ({"test": probe.test} if hops == chosen else {})
        for hops, probe in probes.items()
    ]


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=float, default=1e6)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--trained", action="store_true", help="score the run that lies there")
    options = parser.parse_args()
    measure(int(options.nodes), options.folder, is_trained=options.trained)
    print(json.dumps(records.read("million")["rows"], indent=1))


if __name__ == "__main__":
    main()
