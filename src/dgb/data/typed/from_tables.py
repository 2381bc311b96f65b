"""Tables of nodes by type and of edges by relation become a HeteroGraph."""

from collections.abc import Collection, Mapping

from dgb.data.encoding import Encoding
from dgb.data.formats.arrays import edge_matrix
from dgb.data.ids import id_array, ids_of_ends
from dgb.data.tables.edge_names import Ends
from dgb.data.tables.edges import Edges, read_edges
from dgb.data.tables.features import make_features
from dgb.data.tables.labels import join_labels
from dgb.data.tables.nodes import NodeRows, read_nodes, refuse_nameless
from dgb.data.tables.rows import without_missing
from dgb.data.tables.table import Cells, Table
from dgb.data.tables.unknown import add_rows, edges_between
from dgb.data.typed.graph import (
    HeteroGraph,
    NodeType,
    Relation,
    make_hetero_graph,
    make_node_type,
    make_relation,
)
from dgb.data.typed.resolve import choose_target, without_reverse
from dgb.data.typed.schema import Triple
from dgb.errors import DGBError, Faults
from dgb.recipe import Data
from dgb.settings import listed_names

NodeTables = Mapping[str, Table]
EdgeTables = Mapping[Triple, Table]
Rows = dict[str, NodeRows]
Encodings = Mapping[str, Encoding]  # by type

_NODE_KEYS, _EDGE_KEYS = ("id", "label", "split"), ("weight",)


def hetero_from_tables(
    name: str,
    nodes: NodeTables,
    edges: EdgeTables,
    reading: Data,
    encodings: Encodings | None = None,
) -> HeteroGraph:
    """Make a HeteroGraph of tables; ids are of a type, so that two types may share some.

    With the encodings of a run, features have the run's columns.
    """
    notes: list[str] = []
    # New nodes often have no labels, and need none to be embedded.
    _refuse_missing(nodes, edges, reading, () if encodings is None else ("label", "split"))
    run, rows = encodings or {}, {}
    for kind, table in nodes.items():
        wanted = without_missing(reading, table.names, _NODE_KEYS)
        rows[kind] = read_nodes(table, wanted, run.get(kind), notes)
    node_types, made = _read_parts(edges, rows, reading, run, notes)
    relations, again = without_reverse(made)
    target = _target(rows, node_types, reading, notes)
    count = node_types[target].num_nodes
    if count < 2:
        raise DGBError(f"{name}: {count} nodes of type {target}; at least two are needed")
    own = rows[target].labels if target in rows else None
    labels, label_names, splits = join_labels([own], count, notes)
    return make_hetero_graph(
        name,
        node_types,
        relations,
        target,
        labels=labels,
        label_names=label_names,
        splits=splits,
        notes=(*notes, *again),
    )


def _read_parts(
    edges: EdgeTables, rows: Rows, reading: Data, run: Encodings, notes: list[str]
) -> tuple[dict[str, NodeType], list[Relation]]:
    """Return all types and relations, refusing all that is wrong with any of them at once."""
    found: dict[Triple, Edges] = {}
    ids: dict[str, Cells] = {}
    node_types, relations, faults = {}, [], Faults()
    with faults:
        found, ids = _read_relations(edges, rows, reading, notes)
    for kind in ids or rows:
        with faults:
            node_types[kind] = _node_type(kind, ids, rows, notes, run.get(kind) or reading)
    for triple, one in found.items():
        with faults:
            relations.append(_relation(triple, one, ids, reading, notes))
    faults.refuse()
    return node_types, relations


def _read_relations(
    edges: EdgeTables, rows: Rows, reading: Data, notes: list[str]
) -> tuple[dict[Triple, Edges], dict[str, Cells]]:
    """Read the edges, and return the ids of every type: those of its rows, or of its edges."""
    found: dict[Triple, Edges] = {}
    ends: dict[str, list[Cells]] = {}
    text_files: set[str] = set()
    for triple, table in edges.items():
        types = (triple[0], triple[2])
        source, target = (rows[kind].ids if kind in rows else None for kind in types)
        wanted = without_missing(reading, _names(table), _EDGE_KEYS)
        found[triple] = read_edges(table, Ends((source, target), types), wanted, notes)
        ends.setdefault(types[0], []).append(found[triple].source)
        ends.setdefault(types[1], []).append(found[triple].target)
        text_files |= set(types) if found[triple].table.text else set()
    if reading.unknown == "add":
        rows |= {kind: add_rows(rows[kind], ends[kind], notes) for kind in ends if kind in rows}
    for kind, row in rows.items():
        refuse_nameless(row.table, row.id_name, reading, *ends.get(kind, []))
        if kind not in ends:
            notes.append(f"{row.table.source}: there are no edges to nodes of type {kind}")
    return found, {kind: row.ids for kind, row in rows.items()} | {
        kind: ids_of_ends(cells, is_text_file=kind in text_files)
        for kind, cells in ends.items()
        if kind not in rows
    }


def _node_type(
    kind: str, ids: Mapping[str, Cells], rows: Rows, notes: list[str], form: Encoding | Data
) -> NodeType:
    """Make the features of a type in the form of a run, or learn one as the recipe has it."""
    if kind not in rows:
        notes.append(f"nodes of type {kind} have no rows and are those that edges name")
        return make_node_type(id_array(ids[kind]))
    row = rows[kind]
    columns = make_features(row.table, row.features, form, notes)
    return make_node_type(id_array(row.ids, is_text_file=row.table.text is not None), *columns)


def _relation(
    triple: Triple, edges: Edges, ids: Mapping[str, Cells], reading: Data, notes: list[str]
) -> Relation:
    source, name, target = triple
    both = (ids[source], ids[target])
    ends, weight = edges_between(edges, both, reading, notes)
    shape = (len(both[0]), len(both[1]))
    return make_relation(source, name, target, edge_matrix(ends, shape, weight))


def _target(rows: Rows, nodes: Mapping[str, NodeType], reading: Data, notes: list[str]) -> str:
    labelled = [kind for kind, row in rows.items() if row.labels.label]
    featured = [kind for kind, found in nodes.items() if found.x is not None]
    target = choose_target(reading.target, nodes, labelled, featured)
    for kind in labelled:
        if kind != target:
            column = f"{rows[kind].table.source}: column {rows[kind].labels.label!r}"
            notes.append(f"{column} is taken for labels and not used, since {target} is embedded")
    return target


def _refuse_missing(
    nodes: NodeTables, edges: EdgeTables, reading: Data, needless: Collection[str]
) -> None:
    """Refuse a column that is asked for and that no table has, unless it can be done without."""
    of_nodes = {name.lower() for table in nodes.values() for name in table.names}
    of_edges = {name.lower() for table in edges.values() for name in _names(table)}
    asked = [(key, getattr(reading, key), of_nodes) for key in _NODE_KEYS if key not in needless]
    asked += [(key, getattr(reading, key), of_edges) for key in _EDGE_KEYS]
    asked += [("drop", name, of_nodes) for name in listed_names(reading.drop)]
    for key, name, present in asked:
        if name and name.lower() not in present:
            raise DGBError(f"no table has a column {name!r} (data.{key}); check its spelling")


def _names(table: Table) -> list[str]:
    return table.names if table.has_names else table.row_text()
