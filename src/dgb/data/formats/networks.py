"""Graphs of networkx and igraph, by their tables of nodes and edges."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from dgb.data.encoding import Encoding
from dgb.data.graph import Graph
from dgb.data.tables.from_tables import graph_from_tables
from dgb.data.tables.source import as_arrow, table_of
from dgb.errors import DGBError, refusing
from dgb.files.limits import refuse_beyond_room
from dgb.recipe import Data
from dgb.terminal import some

_UNFOLDED = 20  # bytes of objects that a byte of XML becomes at the least


def from_networkx(
    network: Any, name: str, reading: Data, encoding: Encoding | None = None
) -> Graph:
    """Make a Graph of a networkx graph: attributes of nodes are features, `weight` of edges."""
    rows = [attributes for _, attributes in network.nodes(data=True)]
    names = dict.fromkeys(key for row in rows for key in row)
    attributes = {str(key): [row.get(key) for row in rows] for key in names}
    edges = list(network.edges(data=reading.weight or "weight"))
    others = dict.fromkeys(str(key) for *_, row in network.edges(data=True) for key in row)
    graph = _from_lists(name, list(network.nodes), attributes, edges, reading, encoding)
    graph = _note_edges(graph, edges, list(others), reading)
    return _note_directed(graph, network, len(edges))


def from_igraph(network: Any, name: str, reading: Data, encoding: Encoding | None = None) -> Graph:
    """Make a Graph of an igraph graph: the vertex attribute `name` is the id."""
    attributes = {str(key): list(network.vs[key]) for key in network.vs.attributes()}
    nodes = attributes.pop("name", list(range(network.vcount())))
    pairs, key = network.get_edgelist(), reading.weight or "weight"
    weights = network.es[key] if key in network.es.attributes() else [None] * len(pairs)
    edges = [(nodes[u], nodes[v], w) for (u, v), w in zip(pairs, weights, strict=True)]
    graph = _from_lists(name, nodes, attributes, edges, reading, encoding)
    graph = _note_edges(graph, edges, [str(key) for key in network.es.attributes()], reading)
    return _note_directed(graph, network, len(edges))


def _note_edges(graph: Graph, edges: list[Any], names: list[str], reading: Data) -> Graph:
    """Say how many edges lack the weight that others have, and which attributes are not used."""
    used, notes = reading.weight or "weight", []
    lacking = sum(weight is None for *_, weight in edges)
    if 0 < lacking < len(edges):
        notes.append(f"edges without {used!r}, which weigh 1: {lacking:,} of {len(edges):,}")
    others = [name for name in names if name != used]
    if others:
        notes.append(f"attributes of edges that are not used: {some(others)}")
    if others and used not in names:
        notes.append(f"data.weight={others[0]} would take {others[0]!r} for the weights")
    return replace(graph, notes=(*graph.notes, *notes))


def _note_directed(graph: Graph, network: Any, count: int) -> Graph:
    """Say that directions are not used; `make_graph` says which edges fell together."""
    if not network.is_directed():
        return graph
    became = f"{count:,} directed edges became {graph.num_edges:,} without direction"
    note = f"{became}: which end is the source is not used"
    return replace(graph, notes=(*graph.notes, note))


def read_graphml(path: Path, reading: Data, encoding: Encoding | None = None) -> Graph:
    """Read a GraphML file; the ids of nodes stay the text that they are in it."""
    import networkx

    with refusing(path, "not a readable GraphML file", "export it again"):
        refuse_beyond_room(f"{path} takes about", _UNFOLDED * path.stat().st_size)
        refuse_entities(path)
        network = networkx.read_graphml(path)
        return from_networkx(network, path.stem, reading, encoding)


def _from_lists(
    name: str,
    ids: list[Any],
    attributes: dict[str, list[Any]],
    edges: list[tuple[Any, Any, Any]],
    reading: Data,
    encoding: Encoding | None,
) -> Graph:
    """Make a Graph of ids, of attributes by name, and of edges: two ends and a weight, or None."""
    notes: tuple[str, ...] = ()
    if not _are_integers(ids) and not all(isinstance(node, str) for node in ids):
        ids = list(map(str, ids))
        edges = [(str(source), str(target), weight) for source, target, weight in edges]
        notes = ("node ids that are neither all integers nor all text were turned into text",)
        twice = next((node for node, count in Counter(ids).items() if count > 1), None)
        if twice is not None:  # which equal rows would hide
            raise DGBError(f"two nodes are called {twice!r} as text; give ids of one type")
    # An attribute may be called id as well; the nodes of the graph keep their own.
    id_name = next(n for n in ("id", "node_id", "node", "(node)") if n not in attributes)
    reading = replace(reading, id=id_name, weight="")
    pairs = {"source": [edge[0] for edge in edges], "target": [edge[1] for edge in edges]}
    if any(weight is not None for *_, weight in edges):
        pairs["weight"] = as_arrow([1.0 if weight is None else weight for *_, weight in edges])
    columns = {name: as_arrow(cells) for name, cells in attributes.items()}
    rows, ends = table_of({id_name: ids} | columns, "nodes"), table_of(pairs, "edges")
    graph = graph_from_tables(name, ends, rows, None, reading, encoding)
    return replace(graph, notes=notes + graph.notes)


def _are_integers(ids: list[Any]) -> bool:
    kinds = {type(node) for node in ids}
    is_whole = all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds)
    return is_whole and all(-(2**63) <= node < 2**63 for node in ids)


_PIECE = 1 << 16


class _RootReached(Exception):  # noqa: N818, since it is not an error
    pass


def refuse_entities(path: Path) -> None:
    """Refuse a file with entities of its own; only what stands before its first element is read."""

    # Not defusedxml: networkx parses the file itself, so that all of it would be parsed twice.
    def begin(*_: Any) -> None:
        raise _RootReached

    def declare(name: str, *_: Any) -> None:
        raise DGBError(f"{path} declares the XML entity {name!r}; export it without any")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EntityDeclHandler = begin, declare
    try:
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                parser.Parse(piece)
    except (_RootReached, expat.ExpatError):  # what is wrong the reader says, in its own words
        return
