"""The type of nodes that is embedded: named by the user, else the one that can only be meant."""

from collections.abc import Collection, Iterable

from dgb.data.typed.graph import HeteroGraph, make_hetero_graph
from dgb.errors import DGBError
from dgb.recipe import ALL_TYPES
from dgb.settings import unknown_name


def choose_target(
    asked: str, types: Iterable[str], labelled: Collection[str], featured: Collection[str]
) -> str:
    """Return the type asked for, else the only one with labels, else the only one with features.

    Where all are asked for, the first of those that may be meant.
    """
    known = list(types)
    if asked not in ("", ALL_TYPES, *known):
        raise unknown_name("node type", asked, known)
    if asked in known:
        return asked
    meant = list(labelled or featured)
    if asked == ALL_TYPES:
        return [*meant, *known][0]
    if len(meant) == 1:
        return meant[0]
    what = "labels" if labelled else "features"
    having = f"{', '.join(meant)} have {what}" if meant else "none has labels or features"
    raise target_unclear(having, known)


def target_unclear(reason: str, types: Iterable[str]) -> DGBError:
    """Return the error for a graph of which no one type is plainly meant."""
    known = list(types)
    return DGBError(
        f"which type of nodes to embed is not clear: {reason}; name it, such as with "
        f"--set data.target={known[0] if known else 'TYPE'} (types: {', '.join(known)})"
    )


def with_target(graph: HeteroGraph, target: str) -> HeteroGraph:
    """Return the graph with another type to embed, whose labels are then not known."""
    if target in ("", ALL_TYPES, graph.target):
        return graph
    if target not in graph.nodes:
        raise unknown_name("node type", target, list(graph.nodes))
    notes = (*graph.notes, *note_unused_labels(graph, target))
    return make_hetero_graph(graph.name, graph.nodes, graph.relations, target, notes=notes)


def note_unused_labels(graph: HeteroGraph, target: str) -> list[str]:
    """Return a note on labels or splits, where there are any, of a type that is not embedded."""
    if graph.labels is None and not graph.splits:
        return []
    return [f"labels and splits are of {graph.target} and not used, since {target} is embedded"]
