"""The golden runs: `python -m tests.golden.measure NAME THREADS` prints one, as JSON.

`python -m tests.golden.measure renew` writes them anew, after a change that is meant to change
numbers.
"""

import hashlib
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from dgb.arrays import Array
from dgb.cookbook import load_recipe
from dgb.data.graph import Graph
from dgb.data.load import load_graph
from dgb.data.typed.graph import HeteroGraph
from dgb.evaluate.scores import score_embeddings
from dgb.recipe import Recipe
from dgb.run.train import train
from dgb.train.monitor import read_metrics
from tests.conftest import make_blocks, with_dense_features
from tests.hetero import make_library

FOLDER = Path(__file__).parent
SMALL = ("encoder.width=64", "heads.hidden=48", "heads.width=32", "train.epochs=5")
# What the recipe had when these were kept: another choice of rates is no change of the code.
KEPT = (
    *("view1.nfd_drop_rate=0.7", "view2.nfd_drop_rate=0.7"),
    *("diffusion.kernel=ppr", "diffusion.error=0.001"),
)
RUNS = {
    "cora": ("paper-cora", KEPT),
    "cora-rows": (
        "paper-cora",
        (*KEPT, "train.batch_size=700", "train.epochs=2", "embed.smooth=0.1"),
    ),
    "dense": ("paper", ("encoder.layers=2", "diffusion.kernel=heat", "heads.batch_norm=false")),
    "library": ("hetero", ()),
    "relations": ("relations", ()),
}
ROWS = 6  # whose vectors are kept


def golden(name: str) -> dict[str, Any]:
    """Return a golden run as it is kept."""
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return found


def measure(name: str, threads: int = 1) -> dict[str, Any]:
    """Train a golden run on this machine; return losses, some vectors, and a digest of all bits."""
    base, sets = RUNS[name]
    recipe = load_recipe(base, [*SMALL, *sets, f"train.threads={threads}"])
    with TemporaryDirectory() as folder:
        z, scores = _trained(name, recipe, Path(folder))
        losses = [line["loss"] for line in read_metrics(Path(folder))]
    return {
        "losses": losses,
        "rows": np.round(z[:ROWS].astype(float), 6).tolist(),
        "columns": np.round(z.astype(float).mean(axis=0), 6).tolist(),
        "scores": scores,
        "sha256": hashlib.sha256(np.ascontiguousarray(z).tobytes()).hexdigest(),
    }


def _trained(name: str, recipe: Recipe, folder: Path) -> tuple[Array, dict[str, float]]:
    graph = _graph(name)
    if isinstance(graph, HeteroGraph):
        return train(graph, recipe, folder).embeddings(), {}
    found = train(graph, recipe, folder)
    z = found.embeddings()
    return z, {"validation": score_embeddings(z, graph, recipe.probe, 0)["probe"]["validation"]}


def _graph(name: str) -> Graph | HeteroGraph:
    if name in ("library", "relations"):
        return make_library()
    return with_dense_features(make_blocks(90)) if name == "dense" else load_graph("cora")


def renew() -> None:
    """Write all golden runs as this machine computes them."""
    for name in RUNS:
        found = {key: value for key, value in measure(name).items() if key != "sha256"}
        text = json.dumps(found, indent=1)
        (FOLDER / f"{name}.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    if sys.argv[1] == "renew":
        renew()
    else:
        print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
