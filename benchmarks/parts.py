"""What each part of the default recipe costs: seconds of a training and its vectors without it.

python benchmarks/run.py --only parts
"""

import time
from collections.abc import Sequence

import numpy as np

from dgb.cookbook import load_recipe
from dgb.data.graph import Graph
from dgb.data.load import load_graph
from dgb.reproduce.plan import PARTS
from dgb.run.train import train
from dgb.terminal import quietly
from fresh import Figures

WHOLE = next(iter(PARTS))


def measure(graphs: Sequence[str], rounds: int) -> list[Figures]:
    """Return a row for each part: medians over rounds, in which all parts take turns."""
    rows: dict[str, Figures] = {
        part: {"name": part, "kind": "ours", "against": WHOLE} for part in PARTS
    }
    for name in graphs:
        graph = load_graph(name)
        seconds(graph, ())  # what is computed once for a graph, and imported, is paid here
        found = [
            {part: seconds(graph, sets) for part, sets in PARTS.items()} for _ in range(rounds)
        ]
        for part, row in rows.items():
            row[f"{name}_s"] = round(float(np.median([turn[part] for turn in found])), 2)
    return list(rows.values())


def seconds(graph: Graph, sets: tuple[str, ...]) -> float:
    """Return what a training and its vectors take."""
    recipe = load_recipe("default", sets)
    start = time.perf_counter()
    with quietly():
        train(graph, recipe).embeddings()
    return time.perf_counter() - start
