"""Meta-paths by their names, or all that there are."""

from collections.abc import Iterator
from itertools import pairwise

from dgb.data.hetero.graph import HeteroGraph
from dgb.errors import DGBError
from dgb.settings import unknown_name
from dgb.views.hetero.metapath import (
    MetaPath,
    Step,
    find_metapaths,
    is_only_step,
    path_name,
    steps_from,
)

MOST = 32  # meta-paths that are taken without being named: each has an encoder of its own


def choose_metapaths(
    graph: HeteroGraph, names: tuple[str, ...], max_length: int
) -> tuple[MetaPath, ...]:
    """Return the meta-paths of these names; without any, all of at most `max_length` steps."""
    if names:
        return tuple(parse_metapath(graph, name) for name in names)
    found = find_metapaths(graph, max_length, MOST)
    if not found:
        raise DGBError(
            f"{graph.name}: no way of at most {max_length} steps leads from {graph.target} back "
            "to it; raise hetero.max_length, or set hetero.encoder=relations"
        )
    if len(found) > MOST:
        raise DGBError(
            f"{graph.name}: more than {MOST} meta-paths of at most {max_length} steps; lower "
            f"hetero.max_length, or name some: hetero.metapaths={found[0].name},{found[1].name}"
        )
    for path in found:
        parse_metapath(graph, path.name)  # a run keeps them by their names
    return found


def parse_metapath(graph: HeteroGraph, name: str) -> MetaPath:
    """Read types joined by hyphens, such as paper-author-paper; `pap` where types are letters.

    Where several relations join two types, the name of one stands between: user-buys-item.
    """
    text = "-".join(word.strip() for word in name.split("-"))
    if "-" not in text and all(letter in graph.nodes for letter in text):
        text = "-".join(text)
    start = graph.target
    is_ours = text.startswith(f"{start}-")
    found = set(_readings(graph, start, text[len(start) :])) if is_ours else set()
    if not found:
        raise _unreadable(graph, text)
    if len(found) > 1:
        raise DGBError(
            f"the meta-path {name!r} can be read in {len(found)} ways, since a relation is called "
            "like a type; rename one of them"
        )
    (steps,) = found
    return MetaPath(path_name(graph, steps), steps)


def _readings(graph: HeteroGraph, start: str, rest: str) -> Iterator[tuple[Step, ...]]:
    """Yield every way from a type to the target that what is left of a name may mean."""
    if not rest and start == graph.target:
        yield ()
    for step in steps_from(graph, start):
        words = [f"-{graph.relations[step.relation].name}-{step.end}"]
        words += [f"-{step.end}"] if is_only_step(graph, step) else []
        for word in words:
            if f"{rest}-".startswith(f"{word}-"):
                for following in _readings(graph, step.end, rest[len(word) :]):
                    yield (step, *following)


def _unreadable(graph: HeteroGraph, text: str) -> DGBError:
    """Return what is wrong with a name, as far as that can be told."""
    words = _words(graph, text)
    types = [word for word in words if word in graph.nodes]
    for start, end in pairwise(types):
        fitting = [step for step in steps_from(graph, start) if step.end == end]
        if not fitting:
            return DGBError(f"the meta-path {text!r}: no relation joins {start} and {end}")
        names = [graph.relations[step.relation].name for step in fitting]
        if len(names) > 1 and not set(names) & set(words):
            return DGBError(
                f"the meta-path {text!r}: {start} and {end} are joined by {', '.join(names)}; "
                f"write {start}-{names[0]}-{end}"
            )
    return DGBError(
        f"the meta-path {text!r} must lead from {graph.target} to {graph.target}, such as "
        f"{_example(graph)}"
    )


def _words(graph: HeteroGraph, name: str) -> list[str]:
    pieces = name.split("-")
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


def _example(graph: HeteroGraph) -> str:
    found = find_metapaths(graph, 2, most=1)
    return found[0].name if found else f"{graph.target}-…-{graph.target}"
