"""Meta-paths by their names, or all that there are."""

from dgb.data.hetero.graph import HeteroGraph
from dgb.errors import DGBError
from dgb.settings import unknown_name
from dgb.views.hetero.metapath import MetaPath, Step, find_metapaths, path_name, steps_from

MOST = 32  # meta-paths that are taken without being named: each has an encoder of its own


def choose_metapaths(
    graph: HeteroGraph, names: tuple[str, ...], max_length: int
) -> tuple[MetaPath, ...]:
    """Return the meta-paths of these names; without any, all of at most `max_length` steps."""
    if names:
        return tuple(parse_metapath(graph, name) for name in names)
    found = find_metapaths(graph, max_length)
    if not found:
        raise DGBError(
            f"{graph.name}: no way of at most {max_length} steps leads from {graph.target} back "
            "to it; raise hetero.max_length, or set hetero.encoder=relations"
        )
    if len(found) > MOST:
        raise DGBError(
            f"{graph.name}: {len(found)} meta-paths of at most {max_length} steps; lower "
            f'hetero.max_length or name some, such as hetero.metapaths=["{found[0].name}"]'
        )
    return found


def parse_metapath(graph: HeteroGraph, name: str) -> MetaPath:
    """Read types joined by hyphens, such as paper-author-paper; `pap` where types are letters.

    Where several relations join two types, the name of one stands between: user-buys-item.
    """
    words = _words(graph, name)
    steps: list[Step] = []
    start, relation = words[0], ""
    for word in words[1:]:
        if word in graph.nodes:
            steps.append(_step(graph, start, relation, word, name))
            start, relation = word, ""
        else:
            relation = word
    if relation or (words[0], start) != (graph.target, graph.target) or not steps:
        raise DGBError(
            f"the meta-path {name!r} must lead from {graph.target} to {graph.target}, such as "
            f"{_example(graph)}"
        )
    return MetaPath(path_name(graph, tuple(steps)), tuple(steps))


def _words(graph: HeteroGraph, name: str) -> list[str]:
    pieces = [piece.strip() for piece in name.split("-")]
    if len(pieces) == 1 and all(letter in graph.nodes for letter in name):
        return list(name)
    known = [*graph.nodes, *(relation.name for relation in graph.relations)]
    words: list[str] = []
    while pieces:
        # Names may have hyphens of their own: the longest that fits is meant.
        starts = ["-".join(pieces[:size]) for size in range(len(pieces), 0, -1)]
        word = next((start for start in starts if start in known), None)
        if word is None:
            raise unknown_name(
                f"type in the meta-path {name!r}:", pieces[0], list(dict.fromkeys(known))
            )
        words.append(word)
        pieces = pieces[word.count("-") + 1 :]
    return words


def _step(graph: HeteroGraph, start: str, relation: str, end: str, name: str) -> Step:
    fitting = [step for step in steps_from(graph, start) if step.end == end]
    named = [step for step in fitting if graph.relations[step.relation].name == relation]
    found = named if relation else fitting
    if len(found) == 1:
        return found[0]
    names = ", ".join(graph.relations[step.relation].name for step in fitting)
    if not fitting:
        raise DGBError(f"the meta-path {name!r}: no relation joins {start} and {end}")
    raise DGBError(
        f"the meta-path {name!r}: {start} and {end} are joined by {names}; write "
        f"{start}-{graph.relations[fitting[0].relation].name}-{end}"
    )


def _example(graph: HeteroGraph) -> str:
    found = find_metapaths(graph, 2)
    return found[0].name if found else f"{graph.target}-…-{graph.target}"
