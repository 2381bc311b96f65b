"""Table 1: what our loader counts in a graph, and why it is not what the paper prints."""

from dgb.data.graph import Graph
from dgb.reproduce.published import DATASETS, citations


def statistics(graph: Graph) -> dict[str, int]:
    """Return nodes, edges (undirected, without self-loops), features and classes of a graph."""
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "features": graph.num_features,
        "classes": graph.num_classes,
    }


def reason(dataset: str, key: str, ours: int, paper: int) -> str:
    """Say why our count differs from the paper's; nothing where it does not."""
    if ours == paper:
        return ""
    if key == "edges" and dataset in DATASETS:
        return _edges_reason(dataset, ours, paper)
    return _unexplained(ours, paper)


def _edges_reason(dataset: str, ours: int, paper: int) -> str:
    counted = citations(dataset)
    listed, repeated, to_self = (counted[key] for key in ("citations", "repeated", "self"))
    # A reason is given only where it accounts for the whole difference.
    if (listed, listed - repeated - to_self) != (paper, ours):
        return _unexplained(ours, paper)
    parts = [f"{repeated} repeat a pair of papers ({_how_repeated(counted)})"]
    if to_self:
        parts.append(f"{to_self} are papers citing themselves")
    return (
        f"the paper counts the {listed} listed citations; of these {' and '.join(parts)}. "
        f"We count a pair once and no self-citation: {listed} − {repeated + to_self} = {ours}."
    )


def _how_repeated(counted: dict[str, int]) -> str:
    if counted.get("mutual") == counted["repeated"]:
        return "they cite each other"
    return "both ways or twice one way: not counted, as the files do not keep directions"


def _unexplained(ours: int, paper: int) -> str:
    return f"{ours - paper:+d} against the paper; the reason was not found"
