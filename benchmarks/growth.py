"""How time and memory grow with the graph: one epoch on generated graphs of 10³ nodes and more.

Every size runs in a process of its own and joins results/bench-growth.json as soon as it is
measured; the same size measured again takes the place of the former:

    python benchmarks/growth.py 1e3 1e4 1e5 1e6
    python benchmarks/growth.py 1e7 --folder /where/25/GB/are/free
"""

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import numpy as np

import records
from dgb.cookbook import load_recipe
from dgb.data.blocks import Blocks, make_blocks
from dgb.data.load import load_graph
from dgb.run.train import train
from dgb.train.monitor import read_metrics
from fresh import Figures, limit_memory, measured, memory_figures, memory_now, tell

SIZES = (10**3, 10**4, 10**5, 10**6)
DEGREE = 10  # edges a node
FEATURES = 128
RECIPE = ["encoder.width=256", "heads.hidden=128", "heads.width=128", "train.batch_size=8192"]
RECIPE += ["diffusion.alpha=0.1", "diffusion.error=1e-3", "train.epochs=1", "train.device=cpu"]
RECIPE += ["train.memory_gb=12"]  # 10⁷ nodes need more, and are kept on disk
FITTED = {
    "epoch_s": "an epoch",
    "total_s": "load, prepare, epoch and embed",
    "above_mb": "memory above imports",
    "anonymous_above_mb": "anonymous memory above imports",
}
STATUS = Path("/proc/self/status")
SECONDS = 6 * 3600.0  # after which a size is given up
LARGE = 10**5  # nodes from which fixed costs no longer count


def measure(size: int, folder: Path | None = None) -> Figures:
    """Make a graph of this many nodes, train an epoch on it, and write the point down."""
    blocks = Blocks(nodes=size, edges=DEGREE * size, features=FEATURES)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        make_blocks(Path(place) / "graph", blocks)
        figures = measured("growth.py", "--child", place, seconds=SECONDS)
    point = {"name": f"{size:,}", "nodes": size} | figures
    rows = [row for row in records.read("growth").get("rows", []) if row["nodes"] != size]
    records.write("growth", [point], exponents=exponents([*rows, point]))
    return point


def exponents(rows: list[Figures]) -> dict[str, dict[str, float]]:
    """Return the slopes of log figure over log nodes, over all points and over the large ones."""
    large = [row for row in rows if row["nodes"] >= LARGE]
    slopes: dict[str, dict[str, float]] = {}
    for part, points in {"all": rows, f"from {LARGE:,} nodes": large}.items():
        slopes[part] = {}
        for key in FITTED:
            known = [row for row in points if row.get(key)]
            if len(known) > 1:
                slopes[part][key] = round(fit(known, key)[0], 3)
    return slopes


def fit(rows: list[Figures], key: str) -> tuple[float, float]:
    """Return exponent and log of the factor of the power law nearest to a figure's points."""
    nodes, figures = (np.log([row[name] for row in rows]) for name in ("nodes", key))
    slope, start = np.polyfit(nodes, figures, 1)
    return float(slope), float(start)


def one_epoch(place: Path) -> Figures:
    """Load, train an epoch and embed in this process; return seconds and memory of each."""
    limit_memory()
    import_module("torch._dynamo")  # torch loads it with the first optimiser: no cost of the graph
    before = memory_now()
    with watched_anonymous() as anonymous:
        start = time.perf_counter()
        graph = load_graph(place / "graph")
        loaded = time.perf_counter()
        (place / "run").mkdir()
        trained = train(graph, load_recipe("paper", RECIPE), place / "run")
        fitted = time.perf_counter()
        trained.embeddings()
        done = time.perf_counter()
    epoch = read_metrics(place / "run")[-1]["seconds"]
    seconds = {"load_s": loaded - start, "prepare_s": fitted - loaded - epoch, "epoch_s": epoch}
    seconds |= {"embed_s": done - fitted, "total_s": done - start}
    rounded = {key: round(value, 4) for key, value in seconds.items()}
    return {"edges": graph.num_edges} | rounded | memory_figures(before) | anonymous


@contextmanager
def watched_anonymous(every: float = 0.2) -> Iterator[dict[str, float]]:
    """Fill in the most anonymous memory seen in the meantime; the kernel keeps no peak of it."""
    found: dict[str, float] = {}
    if not STATUS.exists():  # no Linux
        yield found
        return
    before, is_over = anonymous_mb(), threading.Event()
    seen = [before]

    def watch() -> None:
        while not is_over.wait(every):
            seen.append(anonymous_mb())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield found
    finally:
        is_over.set()
        watcher.join()
        most = max(*seen, anonymous_mb())
        found |= {"anonymous_mb": most, "anonymous_above_mb": round(most - before, 1)}


def anonymous_mb() -> float:
    """Return the memory of this process that is no file's (Linux), in MB."""
    lines = STATUS.read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("RssAnon:")]
    return round(int(line.split()[1]) / 2**10, 1)


def main() -> None:
    """Measure the sizes given."""
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes", nargs="*", type=float, default=SIZES)
    parser.add_argument("--folder", type=Path, help="where the graphs are written meanwhile")
    options = parser.parse_args()
    for size in options.sizes:
        print(measure(int(size), options.folder), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        tell(one_epoch(Path(sys.argv[2])))
    else:
        main()
