"""What `dgb data check` prints of a graph: counts, tables of types, and remarks."""

from collections.abc import Iterable, Sequence
from typing import Any

from dgb.data.hetero.graph import HeteroGraph
from dgb.data.look.hetero_check import check_hetero, hetero_trouble
from dgb.readable import readable
from dgb.recipe import Hetero
from dgb.views.hetero.density import measure_density
from dgb.views.hetero.metapath import MetaPath, find_metapaths
from dgb.views.hetero.named_paths import MOST

_WIDTH = 24  # of the first column


def check_hetero_lines(graph: HeteroGraph) -> list[str]:
    """Return what a heterogeneous graph counts, what was done in reading it, and trouble."""
    counts = check_hetero(graph)
    tables = [_table(kind, counts[f"{kind}s"]) for kind in ("type", "relation")]
    paths = find_metapaths(graph, Hetero().max_length)[:MOST]
    tables += [_table("meta-path", path_counts(graph, paths))] if paths else []
    plain = {name: value for name, value in counts.items() if name not in ("types", "relations")}
    return [
        *count_lines(plain),
        *(line for table in tables for line in ("", *table)),
        *remark_lines(graph.notes, hetero_trouble(counts)),
    ]


def path_counts(graph: HeteroGraph, paths: Iterable[MetaPath]) -> dict[str, dict[str, Any]]:
    """Return for every meta-path how many nodes a node reaches, and the share of all pairs."""
    found = {path.name: measure_density(graph, path) for path in paths}
    return {
        name: {"reached": f"{density.mean:,.1f}", "density": f"{density.share:.2%}"}
        for name, density in found.items()
    }


def path_lines(graph: HeteroGraph, paths: Iterable[MetaPath]) -> list[str]:
    """Return the meta-paths of a run as a table."""
    return _table("meta-path", path_counts(graph, paths))


def count_lines(counts: dict[str, Any]) -> list[str]:
    """Return a line for each count that there is."""
    told = {name: value for name, value in counts.items() if value not in (None, [], {})}
    return [f"{name.replace('_', ' '):{_WIDTH}}{_counted(value)}" for name, value in told.items()]


def remark_lines(notes: Sequence[str], trouble: Sequence[str]) -> list[str]:
    """Return what was done in reading a graph, and what about it is likely trouble."""
    lines = ["", "in reading:", *(f"- {note}" for note in notes)] if notes else []
    if not trouble:
        return [*lines, "", "likely trouble: none found"]
    return [*lines, "", "likely trouble:", *(f"- {sentence}" for sentence in trouble)]


def _table(what: str, counts: dict[str, dict[str, Any]]) -> list[str]:
    heads = [head.replace("_", " ") for head in next(iter(counts.values()), {})]
    width = max([_WIDTH, *(len(name) + 2 for name in counts)])
    rows = [(name, map(_counted, counted.values())) for name, counted in counts.items()]
    return [
        f"{name:{width}}" + "".join(f"{cell:>12}" for cell in cells)
        for name, cells in [(what, heads), *rows]
    ]


def _counted(value: Any) -> str:
    if isinstance(value, list) and len(value) > 1:
        return f"{len(value)}, the first: {_counted(value[0])}"
    if isinstance(value, list):
        return _counted(value[0])
    if isinstance(value, dict):
        return ", ".join(f"{name} {_counted(part)}" for name, part in value.items())
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else readable(value)
