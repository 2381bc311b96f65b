"""Table 1: the statistics of the data as our loader counts them, next to the paper's."""

from pathlib import Path

from dgb.data.fingerprint import fingerprint
from dgb.data.graph import Graph
from dgb.files.atomic import read_lines, rewrite_lines
from dgb.measure.job import Line, Place, load
from dgb.pages import html_row, html_table, make_list, markdown_table
from dgb.reproduce.published import DATASETS, citations, find_published, rows
from dgb.reproduce.render import write_page


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
    return _describe_difference(ours, paper)


def _edges_reason(dataset: str, ours: int, paper: int) -> str:
    counted = citations(dataset)
    listed, repeated, to_self = (counted[key] for key in ("citations", "repeated", "self"))
    # A reason is given only where it accounts for the whole difference.
    if (listed, listed - repeated - to_self) != (paper, ours):
        return _describe_difference(ours, paper)
    how = "both ways or twice one way: not counted, as the files do not keep directions"
    if counted.get("mutual") == repeated:
        how = "they cite each other"
    parts = [f"{repeated} repeat a pair of papers ({how})"]
    if to_self:
        parts.append(f"{to_self} are papers citing themselves")
    return (
        f"the paper counts the {listed} listed citations; of these {' and '.join(parts)}. "
        f"We count a pair once and no self-citation: {listed} − {repeated + to_self} = {ours}."
    )


def _describe_difference(ours: int, paper: int) -> str:
    return f"{ours - paper:+d} against the paper; the reason was not found"


TITLE = "Table 1: statistics of the data"


def write_table1(place: Place, datasets: tuple[str, ...]) -> str:
    """Write table1.jsonl, .md and .html into the results; return the Markdown."""
    path = place.results / "table1.jsonl"
    known = {line["dataset"]: line for line in read_lines(path)}
    for dataset in datasets:
        graph = load(dataset, place)
        assert isinstance(graph, Graph)
        known[dataset] = statistics_line(graph)
    lines = [known[dataset] for dataset in DATASETS if dataset in known]
    rewrite_lines(path, lines)
    return write_lines(lines, place.results)


def write_lines(lines: list[Line], results: Path) -> str:
    """Write results/table1.md and results/table1.html; return the Markdown."""
    head = ("", *(row.title for row in rows("table1")))
    cells = [(str(line["dataset"]).capitalize(), *_cells(line)) for line in lines]
    named = zip(cells, lines, strict=True)
    reasons = [f"{name}, {why}" for (name, *_), line in named for why in line["reasons"]]
    listed, items = make_list(reasons)
    text = f"{markdown_table(head, cells, is_narrow=True)}\n\n{listed}"
    body = f"{html_table(head, map(html_row, cells))}{items}"
    return write_page(results / "table1", TITLE, [(text, body)])


def statistics_line(graph: Graph) -> Line:
    """Return our counts of a graph, the paper's, and why they differ where they do."""
    ours = statistics(graph)
    line: Line = {"table": "table1", "dataset": graph.name}
    line |= {"graph_hash": fingerprint(graph)} | ours | {"paper": {}, "reasons": []}
    for key, count in ours.items():
        cell = find_published("table1", key, graph.name)
        assert cell is not None, f"Table 1 has no {graph.name}"
        line["paper"][key] = int(cell.mean)
        if why := reason(graph.name, key, count, int(cell.mean)):
            line["reasons"].append(f"{key}: {why}")
    return line


def _cells(line: Line) -> list[str]:
    pairs = [(line[row.key], line["paper"][row.key]) for row in rows("table1")]
    return [
        f"{ours:,}" if ours == paper else f"{ours:,} (paper {paper:,})" for ours, paper in pairs
    ]
