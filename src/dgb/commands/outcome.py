"""Training into a run folder, for every verb that does: what stops it, and what came out."""

import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dgb.commands.graphs import describe_graph, label_lines
from dgb.errors import DGBError
from dgb.recipe import Recipe
from dgb.terminal import output, resumable

if TYPE_CHECKING:
    from dgb.data.typed.graph import AnyGraph
    from dgb.ray.cluster import Cluster
    from dgb.run.folder import Origin

HEAD = ("cluster", "before", "after", "left", "moved", "angle", "noise")


def add_report_option(parser: ArgumentParser) -> None:
    """Add `--no-report`."""
    about = "write neither the map nor report.html"
    parser.add_argument("--no-report", action="store_true", help=about)


def train_new(
    graph: "AnyGraph",
    recipe: Recipe,
    options: Namespace,
    cluster: "Cluster | None" = None,
    origin: "Origin | None" = None,
) -> None:
    """Train into a run folder that is made now: the one asked for, or one by graph and time."""
    from dgb.files.atomic import locked
    from dgb.run.folder import make_folder

    folder = Path(options.out or f"runs/{graph.name}-{time.strftime('%Y%m%d-%H%M%S')}")
    with locked(folder):
        make_folder(folder, recipe, origin)
        train_into(graph, recipe, folder, cluster, has_report=not options.no_report)


def train_into(
    graph: "AnyGraph", recipe: Recipe, folder: Path, cluster: "Cluster | None", *, has_report: bool
) -> None:
    """Train into a folder that is there; what stops it is said together with how to resume."""
    from dgb.data.typed.graph import HeteroGraph
    from dgb.files.atomic import UNWRITABLE
    from dgb.measure.repeat import blocks_lines, scores_table, split_table
    from dgb.report.page import write_report
    from dgb.run.folder import EMBEDDINGS
    from dgb.run.train import train_run

    output(f"{describe_graph(graph)} → {folder}", *label_lines(graph, recipe.train.seed))
    again = f"resume it with `dgb train --resume {folder}{cluster.words if cluster else ''}`"
    try:
        with resumable(again):
            scores = train_run(graph, recipe, folder, cluster, has_map=has_report)
            if has_report:
                write_report(folder)
    except OSError as error:  # a full disk, most often
        what = f"cannot write to {folder}" if error.errno in UNWRITABLE else "stopped"
        raise DGBError(f"{what}: {error.strerror or error}; fix that and {again}") from error
    if "dgb" in scores:
        table = split_table if isinstance(graph, HeteroGraph) else scores_table
        output("", *table([scores]).splitlines(), *blocks_lines([scores]), "")
    output(f"trained in {scores['seconds']:.0f} s, effective rank {scores['effective_rank']:.0f}")
    if "drift" in scores:
        output("", *drift_lines(scores["drift"], folder), "")
    output(f"embeddings: {folder / EMBEDDINGS}", *page_line(folder))


def page_line(folder: Path) -> list[str]:
    """Return where the page of a run is, nothing where there is none."""
    from dgb.report.page import REPORT

    return [f"report: {folder / REPORT}"] if (folder / REPORT).exists() else []


def drift_lines(drift: dict[str, Any], folder: Path) -> list[str]:
    """Return the summary of a drift, and where the rest of it lies."""
    from dgb.evaluate.drift import SHARE
    from dgb.run.update import DRIFT

    kept, new, gone, moved = (f"{drift[name]:,}" for name in ("kept", "new", "gone", "moved"))
    return [
        f"drift from {drift['run']}: {kept} nodes kept, {new} new, {gone} gone",
        f"cosine of kept nodes, before and after, median: {drift['median_cosine']:.3f}",
        f"noise: two seeds place {SHARE:.0%} of the nodes at most {drift['noise']:.1f}° apart",
        f"moved beyond the noise: {moved} nodes",
        *(f"  {node}  {times:.1f} × the noise" for node, times in drift["moved_most"] if times > 1),
        "".join(f"{name:>9}" for name in HEAD),
        *map(_cluster_line, drift["clusters"]),
        f"drift of every node: {folder / DRIFT}",
    ]


def _cluster_line(cluster: dict[str, Any]) -> str:
    counts = "".join(f"{cluster[name]:>9,}" for name in HEAD[:5])
    angles = "".join(f"{cluster[name]:>8.1f}°" for name in HEAD[5:])
    mark = "  moved" if cluster["angle"] > cluster["noise"] else ""
    return f"{counts}{angles}{mark}"
