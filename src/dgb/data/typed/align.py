"""Another heterogeneous graph with the types, columns and relations that a model knows."""

from dataclasses import replace

from scipy import sparse

from dgb.data.align import align, check_width, refuse_own_scales
from dgb.data.checked import compact
from dgb.data.graph import Graph
from dgb.data.structure import with_features
from dgb.data.typed.graph import HeteroGraph, NodeType, Relation
from dgb.data.typed.resolve import with_target
from dgb.data.typed.schema import Schema, Triple, TypeColumns, hash_edges
from dgb.errors import DGBError
from dgb.terminal import some


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
