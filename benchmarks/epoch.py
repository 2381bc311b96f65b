"""An epoch of ours against the floor, a plain PyG version, BGRL and DGI: time and memory.

Times are taken in turns in one process, memory in a process for each contender:

    python benchmarks/epoch.py GRAPH CONTENDER
"""

import sys
import time
from collections.abc import Mapping

import numpy as np

from dgb.data.load import load_graph
from fresh import Figures, limit_memory, measured, memory_figures, memory_now, tell
from peers import bgrl_step, dgi_step
from step import DIFFUSIONS, Step, floor, loss_difference, make_setup, our_step, plain_step

OURS = "ours, PPR to 1e-3"  # the default recipe's diffusion, against which the others are held
PLAIN = "plain PyG"
CONTENDERS = (
    *(f"ours, {diffusion}" for diffusion in DIFFUSIONS),
    *("floor", "floor, maps not merged"),
    *(PLAIN, "BGRL with PyG", "DGI with PyG"),
)
DENSE_LIMIT = 10_000  # nodes; above, a step with a dense S takes long and is left to --long
EPOCHS = 3  # whose peak of memory is taken


def make_step(graph: str, contender: str) -> Step:
    """Return a function that takes an epoch of a contender on a graph."""
    match contender:
        case "floor" | "floor, maps not merged":
            return floor(load_graph(graph).num_nodes, merged=contender == "floor")
        case "plain PyG":
            return plain_step(make_setup(graph, "PPR to 1e-6"))
        case "BGRL with PyG":
            return bgrl_step(load_graph(graph))
        case "DGI with PyG":
            return dgi_step(load_graph(graph))
        case _:
            return our_step(make_setup(graph, contender.removeprefix("ours, ")))


def kind(contender: str) -> str:
    """Tell ours, the floor (a bound, no method) and peers apart."""
    return contender.partition(",")[0] if contender.startswith(("ours", "floor")) else "peer"


def milliseconds(steps: Mapping[str, Step], rounds: int) -> dict[str, float]:
    """Return the median time of each step, taken in turns so that all share the machine's moods."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for turn in range(rounds + 2):
        for name, step in steps.items():
            start = time.perf_counter()
            step()
            if turn >= 2:  # the first two warm the caches
                times[name].append(time.perf_counter() - start)
    return {name: round(1000 * float(np.median(t)), 2) for name, t in times.items()}


def measure(graph: str, rounds: int, *, is_long: bool) -> list[Figures]:
    """Return a row of figures for every contender that a graph of this size allows."""
    is_small = load_graph(graph).num_nodes <= DENSE_LIMIT
    names = [name for name in CONTENDERS if name != PLAIN or is_small or is_long]
    times = milliseconds({name: make_step(graph, name) for name in names}, rounds)
    return [
        {"name": name, "kind": kind(name), "against": OURS, "ms": times[name]}
        | measured("epoch.py", graph, name)
        for name in names
    ]


def loss_differences(graph: str) -> dict[str, float]:
    """Return how far our losses are from those of the plain version, over five steps."""
    return {name: loss_difference(graph, name) for name in ("PPR top-128", "PPR to 1e-6")}


def take_epochs(graph: str, contender: str) -> Figures:
    """Take a few epochs in this process and return its memory, without that of the preparation."""
    limit_memory()
    before = memory_now()
    step = make_step(graph, contender)
    memory_now()
    for _ in range(EPOCHS):
        step()
    return memory_figures(before)


if __name__ == "__main__":
    tell(take_epochs(*sys.argv[1:3]))
