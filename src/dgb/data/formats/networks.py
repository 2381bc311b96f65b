"""Graphs of networkx and igraph, by their tables of nodes and edges."""

from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from dgb.data.encoding import Encoding
from dgb.data.graph import Graph
from dgb.data.tables.from_tables import graph_from_tables
from dgb.data.tables.table import table_of
from dgb.errors import DGBError, refusing
from dgb.files.limits import refuse_beyond_room
from dgb.recipe import Data

Columns = dict[str, list[Any]]
_UNFOLDED = 20  # bytes of objects that a byte of XML becomes at the least


def from_networkx(
    network: Any, name: str, reading: Data, encoding: Encoding | None = None
) -> Graph:
    """Make a Graph of a networkx graph: attributes of nodes are features, `weight` of edges."""
    nodes = list(network.nodes)
    rows = [attributes for _, attributes in network.nodes(data=True)]
    names = dict.fromkeys(key for row in rows for key in row)
    attributes = {str(key): [row.get(key) for row in rows] for key in names}
    key = reading.weight or "weight"
    edges = list(network.edges(data=key))
    ends = {"source": [edge[0] for edge in edges], "target": [edge[1] for edge in edges]}
    weights = [edge[2] for edge in edges]
    return _from_columns(name, (nodes, attributes), (ends, weights), reading, encoding)


def from_igraph(network: Any, name: str, reading: Data, encoding: Encoding | None = None) -> Graph:
    """Make a Graph of an igraph graph: the vertex attribute `name` is the id."""
    attributes = {str(key): list(network.vs[key]) for key in network.vs.attributes()}
    nodes = attributes.pop("name", list(range(network.vcount())))
    pairs = network.get_edgelist()
    ends = {"source": [nodes[u] for u, _ in pairs], "target": [nodes[v] for _, v in pairs]}
    key = reading.weight or "weight"
    weights = list(network.es[key]) if key in network.es.attributes() else [None] * len(pairs)
    return _from_columns(name, (nodes, attributes), (ends, weights), reading, encoding)


def read_graphml(path: Path, reading: Data, encoding: Encoding | None = None) -> Graph:
    """Read a GraphML file; the ids of nodes stay the text that they are in it."""
    import networkx

    with refusing(path, "not a readable GraphML file", "export it again"):
        refuse_beyond_room(f"{path} takes about", _UNFOLDED * path.stat().st_size)
        refuse_entities(path)
        network = networkx.read_graphml(path)
        return from_networkx(network, path.stem, reading, encoding)


def _from_columns(
    name: str,
    nodes: tuple[list[Any], Columns],
    edges: tuple[Columns, list[Any]],
    reading: Data,
    encoding: Encoding | None,
) -> Graph:
    (ids, attributes), (ends, weights) = nodes, edges
    notes: tuple[str, ...] = ()
    if not _are_integers(ids) and not all(isinstance(node, str) for node in ids):
        ids = list(map(str, ids))
        ends = {end: list(map(str, values)) for end, values in ends.items()}
        notes = ("node ids that are neither all integers nor all text were turned into text",)
    # An attribute may be called id as well; the nodes of the graph keep their own.
    id_name = next(n for n in ("id", "node_id", "node", "(node)") if n not in attributes)
    reading = replace(reading, id=id_name, weight="")
    if any(weight is not None for weight in weights):
        ends = ends | {"weight": [1.0 if weight is None else weight for weight in weights]}
    graph = graph_from_tables(
        name,
        table_of(ends, "edges"),
        table_of({id_name: ids} | attributes, "nodes"),
        None,
        reading,
        encoding,
    )
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
    except _RootReached:
        return
    except expat.ExpatError:  # the reader says what is wrong, in its own words
        return
