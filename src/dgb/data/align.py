"""Another graph in the form that a model knows: its columns, and its types and relations."""

from dataclasses import replace

import numpy as np
from scipy import sparse

from dgb.data.encoding import Encoding, scales_of
from dgb.data.graph import Graph
from dgb.data.rules import compact
from dgb.data.structure import with_structure
from dgb.data.typed.graph import HeteroGraph, NodeType, Relation
from dgb.data.typed.resolve import with_features, with_target
from dgb.data.typed.schema import Schema, Triple, TypeColumns, hash_edges
from dgb.errors import DGBError
from dgb.terminal import some


def align(graph: Graph, encoding: Encoding | None) -> Graph:
    """Return the graph with its columns as `encoding` has them: found by name, scaled alike.

    Of a graph whose columns have no names only their number can be checked.
    """
    if encoding is None or graph.encoding == encoding:
        return graph
    if encoding.structure:
        has_own = graph.encoding is None or not graph.encoding.structure
        note = "its features were not used: the model was trained on edges alone"
        graph = replace(graph, notes=(*graph.notes, note)) if has_own else graph
        return with_structure(graph, encoding.structure)
    if graph.encoding is None:
        check_width(graph, len(encoding.feature_names()))
        note = "its columns have no names: taken in the model's order, for scaled as the model's"
        notes = graph.notes if scales_of(encoding) is None else (*graph.notes, note)
        return replace(graph, encoding=encoding, notes=notes)
    if graph.encoding.structure:
        raise DGBError(
            f"{graph.name} has no features of its own, but the model was trained on "
            f"{some(encoding.feature_names())}; give these columns"
        )
    return _by_name(graph, graph.encoding, encoding)


def refuse_own_scales(graph: Graph, encoding: Encoding | None) -> None:
    """Refuse a graph that was scaled by its own numbers for a model whose columns had no names."""
    own = graph.encoding
    if encoding is not None or own is None or own.structure or scales_of(own) is None:
        return
    raise DGBError(
        f"{graph.name} has named columns that are scaled by its own numbers, but the model was "
        "trained on columns without names, unscaled; give a matrix of the same columns"
    )


def check_width(graph: Graph, expected: int) -> None:
    """Refuse a graph that has not as many feature columns as a model was trained on."""
    if graph.num_features != expected:
        raise DGBError(
            f"{graph.name} has {graph.num_features} feature columns, but the model was trained on "
            f"{expected}; give the same columns in the same order"
        )


def _by_name(graph: Graph, own: Encoding, encoding: Encoding) -> Graph:
    have, want = own.feature_names(), encoding.feature_names()
    place = {name: i for i, name in enumerate(have)}
    missing = [name for name in want if name not in place]
    if missing:
        raise DGBError(
            f"{graph.name} lacks {len(missing)} of the {len(want)} feature columns that the "
            f"model was trained on: {some(missing)}; add them"
        )
    places = np.array([place[name] for name in want])
    # (value - shift) / scale by the wanted shifts and scales, from x by those it had.
    (old_shift, old_scale), (shift, scale) = own.scales()[:, places], encoding.scales()
    factor, offset = old_scale / scale, (old_shift - shift) / scale
    x = graph.x[:, places]
    if sparse.issparse(x) and not offset.any():
        x = sparse.csr_array(x @ sparse.diags_array(factor), dtype=np.float32)
    else:
        dense = x.toarray() if sparse.issparse(x) else x
        x = (dense * factor + offset).astype(np.float32)
    known = set(want)
    more = [name for name in have if name not in known]
    note = f"columns that the model does not know were left out ({len(more)}): {some(more)}"
    notes = (*graph.notes, note) if more else graph.notes
    return replace(graph, x=x, encoding=encoding, notes=notes)


def align_hetero(graph: HeteroGraph, schema: Schema) -> HeteroGraph:
    """Return the graph with types and relations in a model's order and columns as it has them.

    Relations are found by their names, from either end, or where only one joins two types.
    """
    missing = [name for name in schema.types if name not in graph.nodes]
    if missing:
        raise DGBError(
            f"{graph.name} has no nodes of type {', '.join(missing)}, which the model was trained "
            f"on; its types are {', '.join(graph.nodes)}; add what is missing"
        )
    graph = with_target(graph, schema.target)
    notes = list(graph.notes)
    nodes = {
        name: _with_columns(graph, name, columns, notes) for name, columns in schema.types.items()
    }
    relations = _align_relations(graph, schema, notes)
    graph = replace(graph, nodes=nodes, relations=relations)
    if schema.edges_hash and hash_edges(graph) != schema.edges_hash:
        raise DGBError(
            f"the model has learnt vectors of the nodes of its own graph (data.structure=learnt), "
            f"and {graph.name} is another; train again with data.structure=walk or degree"
        )
    made = {name: columns.structure for name, columns in schema.types.items() if columns.structure}
    if made:  # as the run made them, which has noted that
        graph = with_features(graph, made, next(iter(made.values())))
    return replace(graph, notes=tuple(notes))


def _with_columns(
    graph: HeteroGraph, name: str, columns: TypeColumns, notes: list[str]
) -> NodeType:
    nodes = graph.nodes[name]
    if columns.width is None:
        return nodes
    if columns.structure:
        has_own = nodes.x is not None and not (nodes.encoding and nodes.encoding.structure)
        note = f"features of {name} were not used: the model was trained on edges there"
        notes += [note] if has_own else []
        return NodeType(nodes.node_ids)
    if nodes.x is None:
        raise DGBError(
            f"{graph.name}: nodes of type {name} have no features, but the model was trained on "
            f"{columns.width} columns of them; give these columns"
        )
    # A graph of this type alone, without an edge: columns are aligned as those of any Graph.
    bare = sparse.csr_array((nodes.num_nodes,) * 2)
    title = f"{graph.name}, type {name}"
    alone = Graph(title, nodes.x, bare, nodes.node_ids, encoding=nodes.encoding)
    refuse_own_scales(alone, columns.encoding)
    found = align(alone, columns.encoding)
    check_width(found, columns.width)
    notes += [f"{name}: {note}" for note in found.notes]
    return NodeType(nodes.node_ids, found.x, found.encoding)


def _align_relations(graph: HeteroGraph, schema: Schema, notes: list[str]) -> tuple[Relation, ...]:
    found = [_find(graph, triple, schema) for triple in schema.relations]
    relations = []
    for relation, wanted in zip(found, schema.relations, strict=True):
        is_turned = relation.source != wanted[0]
        matrix = compact(sparse.csr_array(relation.matrix.T)) if is_turned else relation.matrix
        relations.append(Relation(*wanted, matrix))
        if relation.name != wanted[1]:
            notes.append(f"relation {relation.label} is taken for {'-'.join(wanted)}")
    types = [name for name in graph.nodes if name not in schema.types]
    others = [r.label for r in graph.relations if all(r is not taken for taken in found)]
    for what, names in (("types", types), ("relations", others)):
        if names:
            notes.append(f"{what} that the model does not know were left out: {some(names)}")
    return tuple(relations)


def _find(graph: HeteroGraph, wanted: Triple, schema: Schema) -> Relation:
    source, name, target = wanted
    between = [r for r in graph.relations if {r.source, r.target} == {source, target}]
    known = [triple for triple in schema.relations if {triple[0], triple[2]} == {source, target}]
    found = [r for r in between if (r.source, r.name) == (source, name)]
    if not found and (target, name, source) not in known:
        found = [r for r in between if (r.target, r.name) == (source, name)]
    if not found and len(between) == len(known) == 1:
        found = between
    if not found:
        labels = some([relation.label for relation in graph.relations], 10)
        raise DGBError(
            f"{graph.name} has no relation {'-'.join(wanted)}, which the model was trained on; "
            f"its relations are {labels}; add it, if need be without an edge"
        )
    return found[0]
