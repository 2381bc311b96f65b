"""Meta-paths as operators and multiplied out: one epoch on made-up libraries of growing size.

Every venue prints a thousand papers, so that paper-venue-paper joins a thousand papers to each.
Both forms run in a process of their own and join results/bench-hetero.json:

    python benchmarks/hetero.py 1e4 1e5 1e6
"""

import argparse
import sys
import time
from typing import Any

import numpy as np
from scipy import sparse

import records
from dgb.cookbook import load_recipe
from dgb.data.typed.graph import HeteroGraph, make_hetero_graph, make_node_type, make_relation
from dgb.errors import DGBError
from dgb.run.train import train
from fresh import Figures, limit_memory, measured, memory_figures, memory_now, tell

SIZES = (10**4, 10**5, 10**6)
FEATURES, AUTHORS_A_PAPER, PAPERS_A_VENUE = 100, 3, 1000
RECIPE = ["train.epochs=1", "train.batch_size=8192", "hetero.max_length=2", "train.device=cpu"]


def measure(size: int) -> list[Figures]:
    """Train an epoch in both forms and write them down, each with its ratio to the operators."""
    ours = f"operators, {size:,} papers"
    rows: list[Figures] = []
    for name, flag in ((ours, "false"), (f"multiplied out, {size:,} papers", "true")):
        figures = measured("hetero.py", "--child", str(size), flag)
        rows.append({"name": name, "nodes": size, "against": ours} | figures)
    records.write("hetero", rows)
    return rows


def make_papers(size: int) -> HeteroGraph:
    """Return papers with three authors and a venue each."""
    rng = np.random.default_rng(0)
    authors, venues = size // 2, max(size // PAPERS_A_VENUE, 2)
    papers = np.arange(size)
    nodes = {
        "paper": make_node_type(papers, rng.standard_normal((size, FEATURES), dtype=np.float32)),
        "author": make_node_type(np.arange(authors)),
        "venue": make_node_type(np.arange(venues)),
    }
    ends = {"author": (authors, AUTHORS_A_PAPER), "venue": (venues, 1)}
    relations = [
        make_relation("paper", "to", name, _edges(papers, count, each, rng))
        for name, (count, each) in ends.items()
    ]
    return make_hetero_graph("papers", nodes, relations, "paper")


def _edges(papers: Any, count: int, each: int, rng: np.random.Generator) -> Any:
    row, col = np.repeat(papers, each), rng.integers(0, count, len(papers) * each)
    weight = np.ones(len(row), np.float32)
    return sparse.coo_array((weight, (row, col)), shape=(len(papers), count))


def one_epoch(size: int, flag: str) -> Figures:
    """Train an epoch and embed in this process; return seconds and memory."""
    limit_memory()
    graph = make_papers(size)
    before = memory_now()
    recipe = load_recipe("hetero", [*RECIPE, f"hetero.materialise={flag}"])
    start = time.perf_counter()
    try:
        trained = train(graph, recipe)
    except DGBError as error:  # larger than the memory
        return {"failed": str(error)}
    fitted = time.perf_counter()
    trained.embeddings()
    seconds = {"seconds": fitted - start, "embed_s": time.perf_counter() - fitted}
    return {key: round(value, 3) for key, value in seconds.items()} | memory_figures(before)


def main() -> None:
    """Measure the sizes given."""
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes", nargs="*", type=float, default=SIZES)
    for size in parser.parse_args().sizes:
        for row in measure(int(size)):
            print(row, flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        tell(one_epoch(int(sys.argv[2]), sys.argv[3]))
    else:
        main()
