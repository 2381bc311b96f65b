"""PPR applied to the features: ours against PyG's GDC, exact and by push.

Each contender runs in a process of its own; the error is that of S X in the Frobenius norm against
ours to 1e-10 in double precision, which is itself checked by the residual of Eq. 6:

    python benchmarks/diffusion.py GRAPH CONTENDER REFERENCE
"""

import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch

import pyg_diffusion
from dgb.arrays import Array
from dgb.data.blocks import Blocks, make_blocks
from dgb.data.graph import Graph
from dgb.data.load import load_graph
from dgb.recipe import DiffusionRecipe
from dgb.views.features import row_normalise
from dgb.views.operators import make_diff
from fresh import Figures, limit_memory, measured, memory_figures, memory_now, tell
from pyg_diffusion import Apply

ALPHA = 0.05
SECONDS, LONG_SECONDS = 300.0, 3600.0  # after which a contender is stopped
GENERATED = "blocks-1e5"
BLOCKS = Blocks(nodes=100_000, edges=1_000_000, features=128)
OURS = {
    "ours to 1e-3": DiffusionRecipe(alpha=ALPHA, error=1e-3),
    "ours to 1e-6": DiffusionRecipe(alpha=ALPHA, error=1e-6),
    "ours, top-128": DiffusionRecipe(alpha=ALPHA, top_k=128),
}
# Every other contender, and which of ours makes what it makes.
AGAINST = {
    "GDC exact, dense S": "ours to 1e-6",
    "GDC exact, top-128": "ours, top-128",
    "GDC push, eps 1e-3": "ours to 1e-3",
    "GDC push, eps 1e-4": "ours to 1e-3",
}
# An explicit S takes nodes × edges of time, or nodes² of memory: not for the generated graph.
LEFT_OUT = {GENERATED: ("ours, top-128", "GDC exact, dense S", "GDC exact, top-128")}
LONG = {"pubmed": ("GDC exact, dense S", "GDC exact, top-128", "GDC push, eps 1e-4")}


def measure(graph: str, *, is_long: bool) -> tuple[list[Figures], float]:
    """Return a row of figures a contender, and the residual of the reference."""
    left_out = (*LEFT_OUT.get(graph, ()), *(() if is_long else LONG.get(graph, ())))
    names = [name for name in (*OURS, *AGAINST) if name not in left_out]
    with tempfile.TemporaryDirectory() as folder:
        place = graph
        if graph == GENERATED:
            place = str(Path(folder) / graph)
            make_blocks(Path(place), BLOCKS)
        reference = Path(folder) / "reference.npy"
        residual = write_reference(load_graph(place), reference)
        limit = LONG_SECONDS if is_long else SECONDS
        return [_row(name, place, reference, limit) for name in names], residual


def write_reference(graph: Graph, path: Path) -> float:
    """Write S X in double precision; return ‖(I − (1 − α) T) S X − α X‖ / ‖α X‖, 0 if it is right.

    It bounds the error as well, by that share of ‖X‖: ‖(I − (1 − α) T)⁻¹‖ is at most 1 / α.
    """
    x = torch.from_numpy(_features(graph)).double()
    diff = make_diff(graph.adjacency, DiffusionRecipe(alpha=ALPHA, error=1e-10), torch.float64)
    z = diff.multiply(x)
    t = diff.transition  # type: ignore[union-attr]
    rest = z - (1 - ALPHA) * t.multiply(z) - ALPHA * x
    np.save(path, z.numpy())
    return float(rest.norm() / (ALPHA * x).norm())


def _row(name: str, place: str, reference: Path, seconds: float) -> Figures:
    kind, against = ("ours", name) if name in OURS else ("peer", AGAINST[name])
    row = {"name": name, "kind": kind, "against": against}
    if "push" in name and not find_spec("numba"):
        return row | {"failed": "needs numba: pip install 'deep-graph-bootstrapping[bench]'"}
    return row | measured("diffusion.py", place, name, str(reference), seconds=seconds)


def make_apply(graph: Graph, contender: str) -> Apply:
    """Build what a contender needs and return its product with a block of columns."""
    if contender in OURS:
        return make_diff(graph.adjacency, OURS[contender]).multiply
    if contender == "GDC exact, dense S":
        return pyg_diffusion.exact(graph.adjacency, ALPHA)
    if contender == "GDC exact, top-128":
        return pyg_diffusion.exact_top_k(graph.adjacency, ALPHA, 128)
    return pyg_diffusion.push(graph.adjacency, ALPHA, float(contender.split()[-1]))


def apply_once(place: str, contender: str, reference: str) -> Figures:
    """Build S and apply it to the features of a graph, in this process."""
    limit_memory()
    compiled = {"compile_s": pyg_diffusion.compile_push()} if "push" in contender else {}
    before = memory_now()
    graph = load_graph(place)
    x = torch.from_numpy(_features(graph))
    start = time.perf_counter()
    apply = make_apply(graph, contender)
    built = time.perf_counter()
    z = apply(x).numpy()
    done = time.perf_counter()
    times = {"build_s": built - start, "apply_s": done - built, "seconds": done - start}
    return (
        {key: round(value, 4) for key, value in times.items()}
        | compiled
        | memory_figures(before)
        | {"error": _error(z, np.load(reference)), "mass": _mass(apply, graph)}
    )


def _error(z: Array, exact: Array) -> float:
    return float(np.linalg.norm(z - exact) / np.linalg.norm(exact))


def _mass(apply: Apply, graph: Graph) -> float:
    """Return the share of the visits of a PPR walk that S holds: the whole S leaves D^½ 1 as is."""
    root = np.sqrt(graph.adjacency.sum(axis=1)).astype(np.float32)
    kept = apply(torch.from_numpy(root)[:, None]).numpy()[:, 0]
    return round(float(np.mean(kept[root > 0] / root[root > 0])), 4)


def _features(graph: Graph) -> Array:
    x = row_normalise(graph.x)
    return np.ascontiguousarray(x.toarray() if hasattr(x, "toarray") else x)


if __name__ == "__main__":
    tell(apply_once(*sys.argv[1:4]))
