"""Meta-paths: ways from the target type back to it, such as paper-author-paper."""

from collections.abc import Iterator
from dataclasses import dataclass

from dgb.data.hetero.graph import HeteroGraph


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


def find_metapaths(graph: HeteroGraph, max_length: int, most: int) -> tuple[MetaPath, ...]:
    """Return all ways target → target of at most `max_length` steps, the short ones first.

    A way and its mirror image join the same nodes: the one that is found first stands for both.
    The search ends with one more than `most`: there may be millions.
    """
    found: dict[tuple[Step, ...], MetaPath] = {}
    for length in range(1, max_length + 1):
        for steps in _walks(graph, graph.target, length):
            path = MetaPath(path_name(graph, steps), steps)
            if path.mirrored not in found:
                found[steps] = path
            if len(found) > most:
                return tuple(found.values())
    return tuple(found.values())


def _walks(graph: HeteroGraph, start: str, length: int) -> Iterator[tuple[Step, ...]]:
    if length == 0:
        if start == graph.target:
            yield ()
        return
    for step in steps_from(graph, start):
        if not graph.relations[step.relation].num_edges:
            continue
        for rest in _walks(graph, step.end, length - 1):
            yield (step, *rest)


def steps_from(graph: HeteroGraph, start: str) -> Iterator[Step]:
    """Yield every step that leads on from a type."""
    for place, relation in enumerate(graph.relations):
        ends = (relation.source, relation.target)
        if ends == (start, start):
            yield Step(place, 0, start, start)
        elif start in ends:
            is_forward = ends[0] == start
            yield Step(place, 1 if is_forward else -1, start, ends[1 if is_forward else 0])


def path_name(graph: HeteroGraph, steps: tuple[Step, ...]) -> str:
    """Name a way by its types; by its relations too where several join two types."""
    words = [steps[0].start]
    for step in steps:
        words += [] if is_only_step(graph, step) else [graph.relations[step.relation].name]
        words.append(step.end)
    return "-".join(words)


def is_only_step(graph: HeteroGraph, step: Step) -> bool:
    """Tell whether no other relation joins the types of a step."""
    return sum(other.end == step.end for other in steps_from(graph, step.start)) == 1
