"""Meta-paths: ways from the target type back to it, such as paper-author-paper."""

from collections.abc import Iterator
from dataclasses import dataclass

from dgb.data.hetero.graph import HeteroGraph
from dgb.errors import DGBError
from dgb.settings import unknown_name

MOST = 32  # meta-paths that are taken without being named: each has an encoder of its own


@dataclass(frozen=True)
class Step:
    """A relation, walked from its source to its target (1), back (-1), or within a type (0)."""

    relation: int  # its place among the graph's relations
    direction: int
    start: str
    end: str

    @property
    def mirrored(self) -> "Step":
        """The step back."""
        return Step(self.relation, -self.direction, self.end, self.start)


@dataclass(frozen=True)
class MetaPath:
    """Steps from the target type to the target type."""

    name: str
    steps: tuple[Step, ...]

    @property
    def mirrored(self) -> tuple[Step, ...]:
        """The same way walked from its end."""
        return tuple(step.mirrored for step in reversed(self.steps))

    @property
    def is_symmetric(self) -> bool:
        """Whether the way back is the way itself."""
        return self.mirrored == self.steps


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


def find_metapaths(graph: HeteroGraph, max_length: int) -> tuple[MetaPath, ...]:
    """Return all ways target → target of at most `max_length` steps, the short ones first.

    A way and its mirror image join the same nodes: the one that is found first stands for both.
    """
    found: dict[tuple[Step, ...], MetaPath] = {}
    for length in range(1, max_length + 1):
        for steps in _walks(graph, graph.target, length):
            path = MetaPath(_name(graph, steps), steps)
            if path.mirrored not in found:
                found[steps] = path
    return tuple(found.values())


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
    return MetaPath(_name(graph, tuple(steps)), tuple(steps))


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
    fitting = [step for step in _steps_from(graph, start) if step.end == end]
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


def _walks(graph: HeteroGraph, start: str, length: int) -> Iterator[tuple[Step, ...]]:
    if length == 0:
        if start == graph.target:
            yield ()
        return
    for step in _steps_from(graph, start):
        for rest in _walks(graph, step.end, length - 1):
            yield (step, *rest)


def _steps_from(graph: HeteroGraph, start: str) -> Iterator[Step]:
    for place, relation in enumerate(graph.relations):
        ends = (relation.source, relation.target)
        if ends == (start, start):
            yield Step(place, 0, start, start)
        elif start in ends:
            is_forward = ends[0] == start
            yield Step(place, 1 if is_forward else -1, start, ends[1 if is_forward else 0])


def _name(graph: HeteroGraph, steps: tuple[Step, ...]) -> str:
    """Name a way by its types; by its relations too where several join two types."""
    words = [steps[0].start]
    for step in steps:
        is_only = sum(other.end == step.end for other in _steps_from(graph, step.start)) == 1
        words += [] if is_only else [graph.relations[step.relation].name]
        words.append(step.end)
    return "-".join(words)


def _example(graph: HeteroGraph) -> str:
    found = find_metapaths(graph, 2)
    return found[0].name if found else f"{graph.target}-…-{graph.target}"
