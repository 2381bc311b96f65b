"""How much memory a run on a heterogeneous graph will take, told before it begins."""

from scipy import sparse

from dgb.data.typed.graph import HeteroGraph
from dgb.errors import DGBError
from dgb.recipe import LEARNT, Recipe
from dgb.run.memory import ENTRY, FLOAT, GB, limit_gb, numbers_a_row
from dgb.settings import listed_names
from dgb.views.inputs import has_row_batches

STRUCTURAL = 128  # columns of features that are made of edges


def estimate_hetero(graph: HeteroGraph, recipe: Recipe) -> dict[str, float]:
    """Return the GB that a run takes beside the graph itself, by what takes them.

    The recipe names its meta-paths.
    """
    is_typed = recipe.hetero.encoder == "relations"
    types = tuple(graph.nodes) if is_typed else (graph.target,)
    paths = 1 if recipe.hetero.encoder == "union" else len(listed_names(recipe.hetero.metapaths))
    count = sum(graph.nodes[name].num_nodes for name in types)
    largest = max(nodes.num_nodes for nodes in graph.nodes.values())
    is_batched = has_row_batches(recipe.train, count)
    rows = recipe.train.batch_size if is_batched else count
    # Of each encoder the rows before and after σ, online with their gradients and target, twice.
    encoders = (2 * len(graph.relations) if is_typed else paths) * 8 * recipe.encoder.width
    parts = {
        "relations": 3 * ENTRY * sum(relation.matrix.nnz for relation in graph.relations),
        "features": sum(_features(graph, name) for name in types),
        "views": 2 * sum(_view(graph, name, paths, is_batched=is_batched) for name in types),
        "made features": _made(graph, types, recipe),
        "a step": rows * (encoders + numbers_a_row(recipe)) * FLOAT,
        "a hop": 2 * largest * recipe.encoder.width * FLOAT,
    }
    return {name: size / GB for name, size in parts.items()}


def _made(graph: HeteroGraph, types: tuple[str, ...], recipe: Recipe) -> float:
    """Count the rows of all nodes, and the edges of all types, that features are made of."""
    is_needed = any(graph.nodes[name].x is None for name in types)
    if not is_needed or recipe.data.structure == LEARNT:
        return 0.0
    return 3 * graph.num_nodes * STRUCTURAL * FLOAT + 4.0 * ENTRY * graph.num_edges


def _features(graph: HeteroGraph, name: str) -> float:
    nodes = graph.nodes[name]
    if nodes.x is None:
        return float(nodes.num_nodes * STRUCTURAL * FLOAT)
    return float(3 * ENTRY * nodes.x.nnz if sparse.issparse(nodes.x) else nodes.x.size * FLOAT)


def _view(graph: HeteroGraph, name: str, paths: int, *, is_batched: bool) -> float:
    nodes = graph.nodes[name]
    if not is_batched and sparse.issparse(nodes.x):
        return _features(graph, name)
    width = STRUCTURAL if nodes.x is None else nodes.x.shape[1]
    return float(nodes.num_nodes * width * FLOAT * (1 + paths))


def refuse_too_large(graph: HeteroGraph, recipe: Recipe) -> str:
    """Return in a line what a run takes, and refuse one that does not fit."""
    parts, limit = estimate_hetero(graph, recipe), limit_gb(recipe, is_on_disk=False)
    needed = sum(parts.values())
    if limit is not None and needed > limit:
        listed = ", ".join(f"{name} {size:.1f}" for name, size in parts.items() if size >= 0.05)
        raise DGBError(
            f"this run would take about {needed:.1f} GB beside the graph ({listed}), and "
            f"{limit:.1f} GB are there; name fewer hetero.metapaths, lower encoder.width, or set "
            "train.batch_size=8192"
        )
    free = "" if limit is None else f" of {limit:.1f}"
    return f"about {needed:.1f}{free} GB of memory"
