"""Features made of the edges alone, for graphs that come without any."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from dgb.data.encoding import Encoding
from dgb.data.graph import Array, Features, Graph, make_graph
from dgb.data.id_hash import random_signs
from dgb.recipe import STRUCTURES
from dgb.settings import check_names

WIDTH = 256  # columns of walk and ppr
_HOPS = 8  # of walk: a node is alike to those it reaches in one to so many steps
_ALPHA, _ROUNDS = 0.1, 40  # of ppr: what is left after so many rounds is 0.9⁴⁰, about 1.5 %
_BINS = 24  # of degrees, each twice as wide as the one before: the last begins at 8 million


def structural_features(adjacency: Any, node_ids: Array, kind: str) -> Array:
    """Return features made of the edges, float32 [n, width], one row per node.

    `walk` and `ppr` say where a node is: a random vector of every id, spread over the edges, so
    that near nodes are alike, also in another graph with the same ids. `degree` says how the edges
    around a node look, which means the same in every graph.
    """
    check_names("kind of structural features", [kind], STRUCTURES)
    step = random_walk(adjacency)
    if kind == "degree":
        return _degrees(adjacency, step)
    start = random_signs(node_ids, WIDTH)
    return _unit_rows(_walked(step, start) if kind == "walk" else _diffused(step, start))


def with_structure(graph: Graph, kind: str) -> Graph:
    """Return the graph with features made of its edges, and a note that says so."""
    x = structural_features(graph.adjacency, graph.node_ids, kind)
    note = (
        f"no features: {x.shape[1]} columns were made of the edges (data.structure={kind}); "
        "features of your own are nearly always better"
    )
    return replace(graph, x=x, encoding=Encoding(structure=kind), notes=(*graph.notes, note))


def make_featured_graph(
    name: str, x: Features | None, edges: Any, structure: str, **parts: Any
) -> Graph:
    """Make a graph as `make_graph` does, where x is None with features made of the edges."""
    if x is not None:
        return make_graph(name, x, edges, **parts)
    nothing = np.zeros((edges.shape[0], 1), np.float32)
    return with_structure(make_graph(name, nothing, edges, **parts), structure)


def random_walk(adjacency: Any) -> Any:
    """Return D⁻¹A; a walk that starts at an isolated node stays there."""
    strength = np.asarray(adjacency.sum(axis=1), np.float32).ravel()
    is_alone = strength == 0
    step = sparse.diags_array(1 / np.where(is_alone, 1, strength)) @ adjacency
    return sparse.csr_array(step + sparse.diags_array(is_alone * 1.0), dtype=np.float32)


def _walked(step: Any, start: Array) -> Array:
    # Rows of each power get length one first: else the first hops would drown the later ones.
    total, reached = np.zeros_like(start), start
    for _ in range(_HOPS):
        reached = step @ reached
        total += _unit_rows(reached)
    return total


def _diffused(step: Any, start: Array) -> Array:
    reached = start
    for _ in range(_ROUNDS):
        reached = _ALPHA * start + (1 - _ALPHA) * (step @ reached)
    return reached


def _degrees(adjacency: Any, step: Any) -> Array:
    degree = np.diff(adjacency.indptr)
    size = np.log2(1 + degree)
    bins = np.minimum(size.astype(np.int64), _BINS - 1)
    own = np.zeros((len(bins), _BINS + 1), np.float32)
    own[np.arange(len(bins)), bins] = 1
    own[:, -1] = size / _BINS  # beside ones and shares, so as not to outweigh them
    near = step @ own
    return np.hstack([own, near, step @ near, _extremes(adjacency, own[:, -1])])


def _extremes(adjacency: Any, size: Array) -> Array:
    """Return the smallest and the largest of the neighbours' sizes, zero where there are none."""
    found = np.zeros((len(size), 2), np.float32)
    has_any = np.diff(adjacency.indptr) > 0
    if has_any.any():
        # The starts of empty rows are left out: reduceat would read the next row for them.
        starts, sizes = adjacency.indptr[:-1][has_any], size[adjacency.indices]
        found[has_any, 0] = np.minimum.reduceat(sizes, starts)
        found[has_any, 1] = np.maximum.reduceat(sizes, starts)
    return found


def _unit_rows(x: Array) -> Array:
    length = np.linalg.norm(x, axis=1, keepdims=True)
    return x / np.where(length == 0, 1, length)
