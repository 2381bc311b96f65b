"""What an encoder was trained on: types of nodes with their columns, and relations, in order."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dgb.data.encoding import Encoding, encoding_from, plain_encoding
from dgb.data.fingerprint import fingerprint
from dgb.data.typed.graph import HeteroGraph, NodeType
from dgb.errors import DGBError
from dgb.recipe import LEARNT

Triple = tuple[str, str, str]  # type of the sources, name of the relation, type of the targets


@dataclass(frozen=True)
class TypeColumns:
    """The feature columns of one type."""

    width: int | None = None  # None where the encoder does not read them
    encoding: Encoding | None = None  # what they are called and made of, if they have names

    @property
    def structure(self) -> str:
        """What the columns were made of where the nodes had none."""
        return self.encoding.structure if self.encoding else ""


@dataclass(frozen=True)
class Schema:
    """Types and relations in the order of an encoder's weights."""

    target: str
    types: Mapping[str, TypeColumns]
    relations: tuple[Triple, ...]
    edges_hash: str = ""  # of the graph, where vectors of its own nodes were learnt

    @property
    def columns(self) -> TypeColumns:
        """The feature columns of the target type."""
        return self.types[self.target]

    def encodings(self) -> dict[str, Encoding]:
        """Return how the columns of a table become features, of the types that have such."""
        return {k: t.encoding for k, t in self.types.items() if t.encoding and not t.structure}


def schema_of(graph: HeteroGraph, used: Iterable[str]) -> Schema:
    """Return the schema of a graph; `used` are the types whose features an encoder reads."""
    types = dict.fromkeys(graph.nodes, TypeColumns())
    for name in used:
        nodes = graph.nodes[name]
        types[name] = TypeColumns(int(nodes.x.shape[1]), nodes.encoding)  # type: ignore[union-attr]
    has_learnt = any(found.structure == LEARNT for found in types.values())
    triples = tuple((r.source, r.name, r.target) for r in graph.relations)
    return Schema(graph.target, types, triples, hash_edges(graph) if has_learnt else "")


def hash_edges(graph: HeteroGraph) -> str:
    """Return a hash of the relations alone, by which a graph is known again."""
    bare = {name: NodeType(nodes.node_ids) for name, nodes in graph.nodes.items()}
    return fingerprint(replace(graph, nodes=bare, labels=None, splits=()))


def plain_schema(schema: Schema) -> dict[str, Any]:
    """Return a schema as plain values for a TOML file."""
    return {
        "target": schema.target,
        "edges_hash": schema.edges_hash,
        "relations": [list(triple) for triple in schema.relations],
        "types": [
            {"name": name}
            | ({} if found.width is None else {"width": found.width})
            | ({"features": plain_encoding(found.encoding)} if found.encoding else {})
            for name, found in schema.types.items()
        ],
    }


def schema_from(values: Mapping[str, Any]) -> Schema:
    """Return the schema of plain values, refusing what no schema has."""
    try:
        types = {str(of["name"]): _type_from(of) for of in values["types"]}
        relations = tuple((str(s), str(name), str(t)) for s, name, t in values["relations"])
        schema = Schema(values["target"], types, relations, str(values["edges_hash"]))
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise DGBError(f"not a description of types and relations ({error}); train again") from None
    named = [schema.target, *(end for triple in relations for end in triple[::2])]
    if any(name not in types for name in named):
        raise DGBError("not a description of types and relations (a type is missing); train again")
    return schema


def _type_from(values: Mapping[str, Any]) -> TypeColumns:
    width = int(values["width"]) if "width" in values else None
    encoding = encoding_from(values["features"]) if "features" in values else None
    if encoding and not encoding.structure and len(encoding.feature_names()) != width:
        raise ValueError(f"{width} columns of {values['name']}, but another number of names")
    return TypeColumns(width, encoding)
