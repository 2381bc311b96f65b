"""How much memory a run will take, told before it begins, and what to set where it lacks."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from scipy import sparse

from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.recipe import Recipe
from dgb.run.machine import free_gb
from dgb.views.columns import Store
from dgb.views.inputs import has_row_batches
from dgb.views.view import parse_view

FLOAT, ENTRY = 4, 8  # bytes of a number, and of a non-zero with its column
GB = 1e9
SCRATCH = "scratch"  # of a run folder: what row batches are kept in while a run lasts
BATCH = 8192  # rows that are suggested for a step


def estimate(graph: Graph, recipe: Recipe, *, is_on_disk: bool) -> dict[str, float]:
    """Return the GB that a run takes beside the graph itself, by what takes them."""
    n, d, width = graph.num_nodes, graph.num_features, recipe.encoder.width
    is_batched = has_row_batches(recipe.train, n)
    rows = recipe.train.batch_size if is_batched else n
    held = 0 if is_on_disk else n * d * FLOAT
    columns = min(d, Store(recipe.train.columns).width(n))
    parts = {
        "operators": _operators(graph, recipe),
        "features": _features(graph, is_batched=is_batched),
        # Both views, and for each hop the two terms before, the sum and the columns themselves.
        "views": (2 * held + 4 * n * columns * FLOAT) if is_batched else 4 * n * d * FLOAT,
        "a step": rows * _numbers_a_row(recipe) * FLOAT,
        "embeddings": (0 if is_on_disk else 2 * n * width * FLOAT + held) + n // 5 * width * FLOAT,
    }
    parts["views"], parts["embeddings"] = _not_at_once(parts["views"], parts["embeddings"])
    return {name: size / GB for name, size in parts.items()}


def _not_at_once(views: float, embeddings: float) -> tuple[float, float]:
    """Count the larger one: the views are gone when embeddings are computed."""
    return (views, 0.0) if views > embeddings else (0.0, embeddings)


def _operators(graph: Graph, recipe: Recipe) -> float:
    nonzeros, n = int(graph.adjacency.nnz), graph.num_nodes
    needed = set(recipe.embed.operator.split("+"))
    needed |= {parse_view(view).operator for view in (recipe.view1, recipe.view2)}
    total = ENTRY * (nonzeros + n) if "adj" in needed else 0.0
    if "diff" in needed:
        total += ENTRY * nonzeros + 3 * ENTRY * n * recipe.diffusion.top_k
    return total + (ENTRY * (nonzeros + n) if recipe.embed.smooth else 0.0)


def _features(graph: Graph, *, is_batched: bool) -> float:
    if sparse.issparse(graph.x):
        return float(3 * ENTRY * graph.x.nnz)
    return 0.0 if is_batched else float(graph.x.size * FLOAT)


def _numbers_a_row(recipe: Recipe) -> float:
    """Return what a row of a step leaves behind for its gradient, in both views and networks."""
    width, hidden, out = recipe.encoder.width, recipe.heads.hidden, recipe.heads.width
    online = 2 * (3 * width + 6 * hidden + 2 * out)
    target = 2 * width + 3 * hidden + 2 * out
    return online + target


def choose_scratch(graph: Graph, recipe: Recipe, folder: Path | None) -> Path | None:
    """Return where P X̃ of row batches is kept: None is memory; a run that fits nowhere is refused.

    The choice changes no number of the result.
    """
    keep = recipe.train.keep
    if keep == "disk" and folder is None:
        raise DGBError("train.keep=disk needs a run folder; use `dgb train`, or train.keep=memory")
    can_use_disk = folder is not None and has_row_batches(recipe.train, graph.num_nodes)
    places = {"auto": (False, True), "memory": (False,), "disk": (True,)}[keep]
    for is_on_disk in places:
        if (can_use_disk or not is_on_disk) and fits(graph, recipe, is_on_disk=is_on_disk):
            assert folder is not None or not is_on_disk
            return folder / SCRATCH if folder and is_on_disk else None
    raise DGBError(_refusal(graph, recipe, is_on_disk=places[-1] and can_use_disk))


def fits(graph: Graph, recipe: Recipe, *, is_on_disk: bool) -> bool:
    """Tell whether a run fits into the memory that it may take."""
    limit = limit_gb(recipe)
    return limit is None or sum(estimate(graph, recipe, is_on_disk=is_on_disk).values()) <= limit


def limit_gb(recipe: Recipe) -> float | None:
    """Return the memory that a run may take, by setting or what is free; None where unknown."""
    return recipe.train.memory_gb or free_gb()


def _refusal(graph: Graph, recipe: Recipe, *, is_on_disk: bool) -> str:
    parts = estimate(graph, recipe, is_on_disk=is_on_disk)
    listed = ", ".join(f"{name} {size:.1f}" for name, size in parts.items() if size >= 0.05)
    limit = limit_gb(recipe) or 0.0
    source = "train.memory_gb allows" if recipe.train.memory_gb else "are free"
    return (
        f"this run would take about {sum(parts.values()):.1f} GB beside the graph ({listed}), and "
        f"{limit:.1f} GB {source}; {_advice(graph, recipe)}"
    )


def _advice(graph: Graph, recipe: Recipe) -> str:
    """Return the least change of settings with which the run fits."""
    changes: dict[str, Any] = {}
    steps = [("batch_size", BATCH), ("keep", "disk"), ("columns", 32)]
    for key, value in steps if recipe.encoder.layers == 1 else []:
        if key != "batch_size" or not has_row_batches(recipe.train, graph.num_nodes):
            changes[key] = value
        changed = replace(recipe, train=replace(recipe.train, **changes))
        if fits(graph, changed, is_on_disk=changed.train.keep == "disk"):
            return "set " + " ".join(f"train.{k}={v}" for k, v in changes.items())
    return "set a smaller encoder.width, or take a machine with more memory (docs/large-graphs.md)"
