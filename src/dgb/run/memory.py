"""How much memory a run will take, estimated before it begins, and what to set where it lacks."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from scipy import sparse

from dgb.data.graph import Graph
from dgb.data.typed.graph import AnyGraph, HeteroGraph, NodeType
from dgb.errors import DGBError
from dgb.evaluate.labels import MOST
from dgb.model.blocks import FIXED
from dgb.recipe import LEARNT, Recipe, ViewRecipe
from dgb.run.machine import choose_device, free_gb
from dgb.settings import listed_names
from dgb.views.augment import parse_view
from dgb.views.features import Store
from dgb.views.inputs import embedding_alphas, has_row_batches, needed_operators

FLOAT, ENTRY = 4, 8  # bytes of a number, and of a non-zero with its column
GB = 1e9
SCRATCH = "scratch"  # of a run folder: what row batches are kept in while a run lasts
STRUCTURAL = 128  # columns of features that are made of edges
BATCH = 8192  # rows that are suggested for a step


def estimate(graph: AnyGraph, recipe: Recipe, *, is_on_disk: bool = False) -> dict[str, float]:
    """Return the GB that a run of a resolved recipe takes next to the graph, by what takes them."""
    if isinstance(graph, Graph):
        parts = _count_plain(graph, recipe, is_on_disk)
    else:
        parts = _count_typed(graph, recipe)
    return {name: size / GB for name, size in parts.items()}


def _count_plain(graph: Graph, recipe: Recipe, is_on_disk: bool) -> dict[str, float]:
    n, d, width = graph.num_nodes, graph.num_features, recipe.encoder.columns
    hops = len(recipe.encoder.walked)
    is_batched, is_sparse = has_row_batches(recipe.train, n), sparse.issparse(graph.x)
    views = (2.0 + 2 * hops) * n * d * FLOAT
    if is_batched:
        columns = min(d, Store(recipe.train.columns).width(n))
        # Both views, and for each hop the two terms before, the sum and the columns themselves.
        kept = sum(_count_hops(graph, recipe, view) for view in (recipe.view1, recipe.view2))
        views = (0 if is_on_disk else kept * n * d * FLOAT) + 4.0 * n * columns * FLOAT
    elif is_sparse and recipe.train.order != "propagate":
        views = 6.0 * ENTRY * graph.x.nnz + 4 * n * width * FLOAT
    # Vectors, P^k X or (of an update) those before it, and the rows that a probe learns from.
    widths = recipe.embed.widths(width, d)
    embedded = sum(widths.values())
    fixed = sum(widths.get(block, 0) for block in FIXED)  # kept for the untrained encoder too
    other = max(embedded, hops * d if is_batched else 0)
    kept = 0 if is_on_disk else n * (embedded + other + fixed) + (0 if is_sparse else n * d)
    walked = 4 * n * widths.get("structure", 0)  # ids, two hops and their sum
    embeddings = (kept + max(walked, min(n // 5, 2 * MOST) * embedded)) * FLOAT
    return {
        "operators": _count_operators(graph, recipe),
        "features": 0.0 if is_batched and not is_sparse else _count_features(graph.x),
        # The views are gone when embeddings are computed.
        "views": views if views > embeddings else 0.0,
        "a step": (recipe.train.batch_size if is_batched else n) * _numbers_a_row(recipe) * FLOAT,
        "embeddings": embeddings if embeddings >= views else 0.0,
    }


def _count_hops(graph: Graph, recipe: Recipe, view: ViewRecipe) -> int:
    """Count the P^k X̃ that a view keeps: of one without dropout, X stays where it is."""
    spec, hops = parse_view(view), recipe.encoder.walked
    is_kept = spec.is_clean and recipe.data.normalise != "row" and not sparse.issparse(graph.x)
    return len(hops) - (0 in hops and is_kept)


def _count_operators(graph: Graph, recipe: Recipe) -> float:
    nonzeros, n, needed = int(graph.adjacency.nnz), graph.num_nodes, needed_operators(recipe)
    total = ENTRY * (nonzeros + n) if "adj" in needed else 0.0
    if "diff" in needed or recipe.encoder.diff:
        total += ENTRY * nonzeros + 3 * ENTRY * n * recipe.diffusion.top_k
    has_own = bool(embedding_alphas(recipe.embed)) and "adj" not in needed  # else they share it
    nearest = 6.0 * ENTRY * n * min(recipe.embed.joined, n)  # in both directions, while made
    return total + ENTRY * (nonzeros + n) * has_own + nearest


def _count_features(x: Any) -> float:
    return float(3 * ENTRY * x.nnz if sparse.issparse(x) else x.size * FLOAT)


def _numbers_a_row(recipe: Recipe) -> float:
    """Count what a row of a step leaves behind for its gradient, in both views and networks."""
    width, hidden, out = recipe.encoder.columns, recipe.heads.hidden, recipe.heads.width
    online, target = 2 * (3 * width + 6 * hidden + 2 * out), 2 * width + 3 * hidden + 2 * out
    return online + target


def _count_typed(graph: HeteroGraph, recipe: Recipe) -> dict[str, float]:
    is_over_relations = recipe.hetero.encoder == "relations"
    types = list(graph.nodes.values()) if is_over_relations else [graph.nodes[graph.target]]
    paths = 1 if recipe.hetero.encoder == "union" else len(listed_names(recipe.hetero.metapaths))
    count, width = sum(nodes.num_nodes for nodes in types), recipe.encoder.width
    largest = max(nodes.num_nodes for nodes in graph.nodes.values())
    is_batched = has_row_batches(recipe.train, count)
    rows = recipe.train.batch_size if is_batched else count
    # Of each encoder the rows before and after σ, online with their gradients and target, twice.
    encoders = (2 * len(graph.relations) if is_over_relations else paths) * 8 * width
    made = any(nodes.x is None for nodes in types) and recipe.data.structure != LEARNT
    return {
        "relations": 3.0 * ENTRY * sum(relation.matrix.nnz for relation in graph.relations),
        "features": sum(
            nodes.num_nodes * STRUCTURAL * FLOAT if nodes.x is None else _count_features(nodes.x)
            for nodes in types
        ),
        "views": 2 * sum(_count_typed_view(nodes, paths, is_batched=is_batched) for nodes in types),
        # Rows of all nodes, and edges of all types, that features are made of.
        "made features": made
        * (3.0 * graph.num_nodes * STRUCTURAL * FLOAT + 4 * ENTRY * graph.num_edges),
        "a step": rows * (encoders + _numbers_a_row(recipe)) * FLOAT,
        "a hop": 2.0 * largest * width * FLOAT,
    }


def _count_typed_view(nodes: NodeType, paths: int, *, is_batched: bool) -> float:
    if not is_batched and sparse.issparse(nodes.x):
        return _count_features(nodes.x)
    width = STRUCTURAL if nodes.x is None else nodes.x.shape[1]
    return float(nodes.num_nodes * width * FLOAT * (1 + paths))


def choose_scratch(graph: AnyGraph, recipe: Recipe, folder: Path | None) -> Path | None:
    """Return where P X̃ of row batches is kept: None is memory; a run that fits nowhere is refused.

    The choice changes no mask, and no number of the result beyond rounding.
    """
    keep = recipe.train.keep
    is_batched = isinstance(graph, Graph) and has_row_batches(recipe.train, graph.num_nodes)
    if keep == "disk" and (folder is None or not is_batched):
        raise DGBError(
            "train.keep=disk needs a run folder, as of `dgb train`, and a train.batch_size below "
            f"the {graph.num_nodes} nodes; leave it out where the run fits into memory"
        )
    if keep != "disk" and fits(graph, recipe, is_on_disk=False):
        return None
    can_use_disk = folder is not None and is_batched and keep != "memory"
    if not can_use_disk or not fits(graph, recipe, is_on_disk=True):
        raise DGBError(_refusal(graph, recipe, folder, is_on_disk=can_use_disk))
    assert folder is not None and isinstance(graph, Graph)
    _refuse_full_disk(graph, recipe, folder)
    return folder / SCRATCH


def describe_memory(graph: AnyGraph, recipe: Recipe, *, is_on_disk: bool) -> str:
    """Return what a run takes of the memory that is free, in a few words."""
    limit = limit_gb(recipe, is_on_disk=is_on_disk)
    free = "" if limit is None else f" of {limit:.1f}"
    needed = sum(estimate(graph, recipe, is_on_disk=is_on_disk).values())
    return f"about {needed:.1f}{free} GB of memory"


def fits(graph: AnyGraph, recipe: Recipe, *, is_on_disk: bool) -> bool:
    """Tell whether a run fits into the memory that it may take."""
    limit = limit_gb(recipe, is_on_disk=is_on_disk)
    return limit is None or sum(estimate(graph, recipe, is_on_disk=is_on_disk).values()) <= limit


def limit_gb(recipe: Recipe, *, is_on_disk: bool) -> float | None:
    """Return the memory that a run may take, by setting or what is free; None where unknown."""
    device = choose_device("cpu" if is_on_disk else recipe.train.device)
    return recipe.train.memory_gb or free_gb(device)


def _refuse_full_disk(graph: Graph, recipe: Recipe, folder: Path) -> None:
    # Files are made without their content: a full disk would stop the process without a word.
    n, d, hops = graph.num_nodes, graph.num_features, len(recipe.encoder.walked)
    embedded = sum(recipe.embed.widths(recipe.encoder.columns, d).values())
    needed = ((1 + 2 * hops) * d + 3 * embedded) * n * FLOAT / GB
    free = shutil.disk_usage(folder).free / GB
    if needed > free:
        raise DGBError(
            f"this run would write about {needed:.1f} GB to {folder}, where {free:.1f} GB are "
            "free; choose another --out"
        )


def _refusal(graph: AnyGraph, recipe: Recipe, folder: Path | None, *, is_on_disk: bool) -> str:
    parts = estimate(graph, recipe, is_on_disk=is_on_disk)
    listed = ", ".join(f"{name} {size:.1f}" for name, size in parts.items() if size >= 0.05)
    limit = limit_gb(recipe, is_on_disk=is_on_disk) or 0.0
    source = "train.memory_gb allows" if recipe.train.memory_gb else "are free"
    return (
        f"this run would take about {sum(parts.values()):.1f} GB next to the graph ({listed}), and "
        f"{limit:.1f} GB {source}; {_advice(graph, recipe, folder)}"
    )


def _advice(graph: AnyGraph, recipe: Recipe, folder: Path | None) -> str:
    """Return the least change of settings with which the run fits."""
    if not isinstance(graph, Graph):
        few = "name fewer hetero.metapaths, lower encoder.width, or set train.batch_size"
        return f"{few}={BATCH}"
    now, smaller = recipe.train.batch_size or graph.num_nodes, min(BATCH, graph.num_nodes // 2)
    order = {"order": "auto"} if recipe.train.order == "transform" else {}
    steps: list[dict[str, Any]] = [{"batch_size": smaller} | order] if 1 < smaller < now else []
    steps += [{"keep": "disk"}, {"columns": 32}] if folder is not None and smaller > 1 else []
    changes: dict[str, Any] = {}
    for step in steps if recipe.encoder.layers == 1 else ():  # row batches are of one layer
        changes |= step
        changed = replace(recipe, train=replace(recipe.train, **changes))
        if fits(graph, changed, is_on_disk=changed.train.keep == "disk"):
            return "set " + " ".join(f"train.{k}={v}" for k, v in changes.items())
    return "set a smaller encoder.width, or take a machine with more memory (docs/large-graphs.md)"
