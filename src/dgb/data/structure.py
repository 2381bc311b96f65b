"""Features made of the edges alone: where a node is in its graph, or how the edges around it look.

Where it is, a random vector of every id says that is spread over the edges.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array, unit_rows
from dgb.data.encoding import Encoding
from dgb.data.graph import Features, Graph, make_graph
from dgb.data.rules import scale_weights
from dgb.files.limits import refuse_beyond_room
from dgb.recipe import STRUCTURES
from dgb.settings import check_names

WIDTH = 128  # of where a node is
_BINS = 24  # of degrees, each twice as wide as the one before: the last begins at 8 million
_FIRST_HOP, _LAST_HOP = 4, 32  # of walk; the encoder looks at the nearest hops itself
_ALPHA, _ROUNDS = 0.05, 60  # of ppr: 5 % of the walks are longer than so many rounds
_LARGE = 100  # nodes from which a component is not one place, but has places of its own
_WHOLE = 0.2  # length of what says in which of the large components a node is
_WEAK = np.finfo(np.float32).tiny  # below it, one through a weight may be beyond float32
_CHUNK = 1 << 14  # ids at a time, so that their text never lies in memory as a whole
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)

Means = tuple[Any, Any]  # two sparse matrices: nodes to components, components to nodes


def structural_features(adjacency: Any, node_ids: Array, kind: str) -> Array:
    """Return features made of the edges, float32 [n, width], one row per node.

    `walk` and `ppr` say where a node is: a random vector of every id, spread over the edges, so
    that near nodes are alike, also in another graph with the same ids. `degree` says how the edges
    around a node look, which means the same in every graph.
    """
    check_names("kind of structural features", [kind], STRUCTURES)
    refuse_featureless(adjacency.shape[0])
    if kind == "degree":
        return _degrees(adjacency)
    return position_features(adjacency, node_ids, kind)


def refuse_featureless(count: int) -> None:
    """Refuse more nodes than features can be made for; spreading keeps two of them at a time."""
    advice = "give node rows (data.nodes), or correct the number of nodes that the file declares"
    refuse_beyond_room(f"features for {count:,} nodes take", 8 * WIDTH * count, advice)


def with_structure(graph: Graph, kind: str) -> Graph:
    """Return the graph with features made of its edges, and a note that says so."""
    x = structural_features(graph.adjacency, graph.node_ids, kind)
    note = (
        f"no features: {x.shape[1]} columns were made of the edges (data.structure={kind}); "
        "give node rows (data.nodes) if there are any"
    )
    return replace(graph, x=x, encoding=Encoding(structure=kind), notes=(*graph.notes, note))


def with_weights(graph: Graph, form: str) -> Graph:
    """Return the graph with weights in the form of data.weights, and a note that says so."""
    adjacency = scale_weights(graph.adjacency, form)
    if adjacency is graph.adjacency:
        return graph
    before, after = (np.median(weights.data) for weights in (graph.adjacency, adjacency))
    medians = f"median {before:.3g}, now {after:.3g}"
    note = f"weights of edges were scaled (data.weights={form}): {medians}"
    graph = replace(graph, adjacency=adjacency, notes=(*graph.notes, note))
    kind = graph.encoding.structure if graph.encoding is not None else ""
    x = structural_features(adjacency, graph.node_ids, kind) if kind else graph.x
    return replace(graph, x=x)


def make_featured_graph(
    name: str, x: Features | None, edges: Any, structure: str, **parts: Any
) -> Graph:
    """Make a graph as `make_graph` does, where x is None with features made of the edges."""
    if x is not None:
        graph = make_graph(name, x, edges, **parts)
        lone = ("there is no edge: every node is embedded by its own features alone",)
        return graph if graph.num_edges else replace(graph, notes=graph.notes + lone)
    refuse_featureless(edges.shape[0])
    nothing = np.zeros((edges.shape[0], 1), np.float32)
    return with_structure(make_graph(name, nothing, edges, **parts), structure)


def _degrees(adjacency: Any) -> Array:
    step = random_walk(adjacency)
    size = np.log2(1 + np.diff(adjacency.indptr))
    bins = np.minimum(size.astype(np.int64), _BINS - 1)
    own = np.zeros((len(bins), _BINS + 1), np.float32)
    own[np.arange(len(bins)), bins] = 1
    own[:, -1] = size / _BINS  # next to ones and shares, so as not to outweigh them
    near = step @ own
    extremes = np.zeros((len(bins), 2), np.float32)  # of the neighbors' sizes, if there are any
    has_any = np.diff(adjacency.indptr) > 0
    if has_any.any():
        # The starts of empty rows are left out: reduceat would read the next row for them.
        starts, sizes = adjacency.indptr[:-1][has_any], own[adjacency.indices, -1]
        extremes[has_any, 0] = np.minimum.reduceat(sizes, starts)
        extremes[has_any, 1] = np.maximum.reduceat(sizes, starts)
    return np.hstack([own, near, step @ near, extremes])


def random_signs(node_ids: Array, width: int) -> Array:
    """Return float32 [n, width] of ±1, drawn for every id from its hash alone."""
    words = -(-width // 64)
    offsets = np.arange(1, words + 1, dtype=np.uint64) * _GOLDEN
    bits = mix(hash_ids(node_ids)[:, None] + offsets).astype("<u8").view(np.uint8)
    signs = np.unpackbits(bits, axis=1)[:, :width].astype(np.float32)
    signs *= 2
    signs -= 1
    return signs


def hash_ids(node_ids: Array) -> Array:
    """Hash ids as text to 64 bits each: 7 and "7" are the same node, read from different files."""
    chunks = [node_ids[i : i + _CHUNK] for i in range(0, len(node_ids), _CHUNK)]
    found = []
    for texts in (np.asarray(chunk.astype(np.str_)) for chunk in chunks):
        hashes = np.full(len(texts), _GOLDEN)
        for column in np.ascontiguousarray(texts).view(np.uint32).reshape(len(texts), -1).T:
            # A zero is the padding behind a shorter text, which must not count.
            hashes = np.where(column == 0, hashes, mix(hashes ^ column.astype(np.uint64)))
        found.append(hashes)
    return np.concatenate(found)


def mix(values: Array) -> Array:
    """Return splitmix64's finaliser, which makes numbers that differ in a bit differ in half."""
    values = (values ^ (values >> np.uint64(30))) * _FIRST
    values = (values ^ (values >> np.uint64(27))) * _SECOND
    return np.asarray(values ^ (values >> np.uint64(31)))


def position_features(adjacency: Any, node_ids: Array, kind: str, width: int = WIDTH) -> Array:
    """Return rows of length one that are alike for near nodes, by `walk` or `ppr`."""
    largest = float(adjacency.data.max(initial=0))
    if adjacency.nnz and not 1e-30 < largest < 1e30:  # sums of weights would overflow, or vanish
        adjacency = adjacency.astype(np.float64) / largest
    step, means = random_walk(adjacency), _component_means(adjacency)
    start = random_signs(node_ids, width)
    spread = _walk if kind == "walk" else _diffuse
    near = unit_rows(spread(step, start, means))
    # What tells the nodes of a large component from those of the other large ones.
    rows, is_large = unit_rows(_mean_rows(means, start)), np.diff(means[1].indptr) > 0
    # What all of them share tells nothing: with a single large component, nothing is left.
    shared = rows.sum(axis=0) / max(1, is_large.sum())
    whole = np.asarray(rows - is_large[:, None] * shared, np.float32)
    return unit_rows(near + _WHOLE * whole)


def random_walk(adjacency: Any) -> Any:
    """Return D⁻¹A; a walk that starts at an isolated node stays there."""
    strength = np.asarray(adjacency.sum(axis=1), np.float32).ravel()
    is_alone = strength == 0
    if (strength[~is_alone] < _WEAK).any():
        adjacency, strength = adjacency.astype(np.float64), strength.astype(np.float64)
    step = sparse.diags_array(1 / np.where(is_alone, 1, strength)) @ adjacency
    return sparse.csr_array(step + sparse.diags_array(is_alone * 1.0), dtype=np.float32)


def _walk(step: Any, start: Array, means: Means) -> Array:
    # Rows of each power get length one first: else the first hops would drown the later ones.
    total, reached = np.zeros_like(start), start
    for hop in range(1, _LAST_HOP + 1):
        reached = step @ reached
        reached -= _mean_rows(means, reached)  # at every hop: rounding brings some of it back
        if hop >= _FIRST_HOP:
            total += unit_rows(reached)
    return total


def _diffuse(step: Any, start: Array, means: Means) -> Array:
    reached = start = start - _mean_rows(means, start)
    for _ in range(_ROUNDS):
        reached = _ALPHA * start + (1 - _ALPHA) * (step @ reached)
    return reached


def _mean_rows(means: Means, x: Array) -> Array:
    """Give each node of a large component what all its walks end in, zeros to other nodes.

    Long walks forget where they began: where this is not taken away, all rows of a dense
    component become alike.
    """
    to_components, to_nodes = means
    return np.asarray(to_nodes @ (to_components @ x))


def _component_means(adjacency: Any) -> Means:
    from scipy.sparse.csgraph import connected_components

    count, members = connected_components(adjacency, directed=False)
    nodes = np.flatnonzero(np.bincount(members)[members] >= _LARGE)
    strength = np.asarray(adjacency.sum(axis=1), np.float64).ravel()
    share = strength[nodes] / np.bincount(members, strength, count)[members[nodes]]
    shape = (count, len(members))
    mean = sparse.csr_array((share, (members[nodes], nodes)), shape, dtype=np.float32)
    same = sparse.csr_array((np.ones(len(nodes)), (nodes, members[nodes])), shape[::-1])
    return mean, same.astype(np.float32)
