"""What `dgb data check` prints of a graph: counts, tables of types, and remarks."""

from collections.abc import Iterable
from typing import Any

from dgb.commands.options import as_options
from dgb.data.look.counts import count_graph
from dgb.data.look.trouble import trouble
from dgb.data.typed.graph import AnyGraph, HeteroGraph
from dgb.measure.table import text_table
from dgb.recipe import Hetero
from dgb.settings import listed_names
from dgb.terminal import readable
from dgb.views.metapaths.density import measure_densities
from dgb.views.metapaths.paths import MOST, MetaPath, find_metapaths, parse_metapath

_WIDTH = 24  # of the first column


def check_lines(graph: AnyGraph, recipe: Hetero, *, are_divided: bool = True) -> list[str]:
    """Return what a graph counts, what was done in reading it, and what is likely trouble."""
    counts = count_graph(graph)
    remarks = trouble(graph, counts, are_divided=are_divided)
    tables: list[list[str]] = []
    if isinstance(graph, HeteroGraph):
        tables = [_table(kind, counts.pop(f"{kind}s")) for kind in ("type", "relation")]
        tables += [_paths(graph, recipe)]
    known = {name: value for name, value in counts.items() if value not in (None, [], {})}
    if "largest_component" in known:
        known["largest_component"] = f"{known['largest_component']:.0%} of the nodes"
    lines = [f"{name.replace('_', ' '):{_WIDTH}}{_text(value)}" for name, value in known.items()]
    lines += [line for table in tables for line in ("", *table)]
    if graph.notes:
        lines += ["", "in reading:", *(f"- {as_options(note)}" for note in graph.notes)]
    if not remarks:
        return [*lines, "", "likely trouble: none found"]
    return [*lines, "", "likely trouble:", *(f"- {sentence}" for sentence in remarks)]


def _paths(graph: HeteroGraph, recipe: Hetero) -> list[str]:
    names = listed_names(recipe.metapaths)
    if names:
        return path_lines(graph, [parse_metapath(graph, name) for name in names])
    paths = find_metapaths(graph, recipe.max_length, MOST)
    if not paths:
        return [f"meta-paths of at most {recipe.max_length} steps: none"]
    more = [f"and more: name some, or lower hetero.max_length={recipe.max_length}"]
    return [*path_lines(graph, paths[:MOST]), *(more if len(paths) > MOST else [])]


def path_lines(graph: HeteroGraph, paths: Iterable[MetaPath]) -> list[str]:
    """Return how many nodes a node reaches over every meta-path, and the share of all pairs."""
    counts = {
        name: {"reached": f"{density.mean:,.1f}", "density": f"{density.share:.2%}"}
        for name, density in measure_densities(graph, paths).items()
    }
    return _table("meta-path", counts)


def _table(what: str, counts: dict[str, dict[str, Any]]) -> list[str]:
    heads = [head.replace("_", " ") for head in next(iter(counts.values()), {})]
    rows = [(name, *map(_text, row.values())) for name, row in counts.items()]
    return text_table((what, *heads), rows, _WIDTH, 12).splitlines()


def _text(value: Any) -> str:
    if isinstance(value, list):
        more = f"{len(value)}, the first: " if len(value) > 1 else ""
        return more + _text(value[0])
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(part)}" for name, part in value.items())
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else readable(value)
