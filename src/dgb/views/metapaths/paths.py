"""Meta-paths: ways from the target type back to it, such as paper-author-paper."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, pairwise

from dgb.data.typed.graph import HeteroGraph
from dgb.errors import DGBError
from dgb.settings import check_names


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
    lengths = range(1, max_length + 1)
    for steps in chain.from_iterable(_walks(graph, graph.target, length) for length in lengths):
        path = MetaPath(path_name(graph, steps), steps)
        if path.mirrored not in found:
            found[steps] = path
        if len(found) > most:
            break
    return tuple(found.values())


def _walks(graph: HeteroGraph, start: str, length: int) -> Iterator[tuple[Step, ...]]:
    if length == 0 and start == graph.target:
        yield ()
    for step in steps_from(graph, start) if length else ():
        if graph.relations[step.relation].num_edges:
            for rest in _walks(graph, step.end, length - 1):
                yield (step, *rest)


def steps_from(graph: HeteroGraph, start: str) -> Iterator[Step]:
    """Yield every step that leads on from a type."""
    for place, relation in enumerate(graph.relations):
        if relation.source == start:
            yield Step(place, 0 if relation.target == start else 1, start, relation.target)
        elif relation.target == start:
            yield Step(place, -1, start, relation.source)


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
    found = set(_readings(graph, graph.target, text.removeprefix(graph.target))) - {()}
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
    """Return what is wrong with a name, as far as that can be said."""
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
    example = find_metapaths(graph, 2, most=1)
    return DGBError(
        f"the meta-path {text!r} must lead from {graph.target} to {graph.target}, such as "
        f"{example[0].name if example else f'{graph.target}-…-{graph.target}'}"
    )


def _words(graph: HeteroGraph, name: str) -> list[str]:
    pieces = name.split("-")
    known = [*graph.nodes, *(relation.name for relation in graph.relations)]
    words: list[str] = []
    while pieces:
        # Names may have hyphens of their own: the longest that fits is meant.
        starts = ["-".join(pieces[:size]) for size in range(len(pieces), 0, -1)]
        word = next((start for start in starts if start in known), pieces[0])
        check_names(f"type in the meta-path {name!r}:", [word], known)
        words.append(word)
        pieces = pieces[word.count("-") + 1 :]
    return words
