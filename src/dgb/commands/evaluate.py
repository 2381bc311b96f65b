"""`dgb evaluate`: several trainings, and the mean ± std of what they score."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from dgb.commands.options import (
    GRAPH,
    Verbs,
    add_count,
    add_graph_options,
    add_recipe_options,
    choose_recipe,
    describe,
    open_graph,
)
from dgb.cookbook import recipe_hash
from dgb.errors import DGBError
from dgb.recipe import Recipe
from dgb.terminal import output

if TYPE_CHECKING:
    from dgb.data.typed.graph import HeteroGraph


def add_options(verbs: Verbs) -> ArgumentParser:
    """Add the verb and its options."""
    evaluate: ArgumentParser = verbs.add_parser(
        "evaluate", help="train N times, report mean ± std over trainings"
    )
    evaluate.add_argument("graph", help=GRAPH)
    evaluate.add_argument(
        "--task",
        choices=("classify", "cluster", "links"),
        default="classify",
        help="what the embeddings are scored by (default: classify); links needs no labels",
    )
    add_count(evaluate, "--runs", 5, "trainings (default: 5)")
    evaluate.add_argument("--out", metavar="DIR", help="folder (default: runs/evaluate-GRAPH)")
    add_recipe_options(evaluate)
    add_graph_options(evaluate)
    return evaluate


def run(options: Namespace) -> None:
    """Train N times and print mean ± std over the trainings, for one of three tasks."""
    from dgb.data.typed.graph import HeteroGraph
    from dgb.measure import links, repeat

    recipe = choose_recipe(options)
    graph = open_graph(recipe.data, options)
    folder = Path(options.out or f"runs/evaluate-{graph.name}")
    if isinstance(graph, HeteroGraph):
        _evaluate_hetero(graph, recipe, options, folder)
        return
    task = options.task
    output(f"{describe(graph)}, recipe {recipe_hash(recipe)}, {options.runs} trainings")
    if task == "links":
        path = folder / links.LINKS
        lines = links.evaluate_links(graph, recipe, options.runs, folder)
        table = links.links_table(lines)
    else:
        path = folder / repeat.RUNS
        lines = repeat.evaluate_runs(graph, recipe, options.runs, folder)
        is_cluster = task == "cluster"
        columns = repeat.CLUSTER_COLUMNS if is_cluster else tuple(repeat.COLUMNS)
        table = repeat.scores_table(lines, columns)
    counted = f"mean ± std over {len(lines)} independent trainings"
    output("", *table.splitlines(), "", counted if len(lines) > 1 else "one training")
    output(f"every training: {path}")


def _evaluate_hetero(
    graph: "HeteroGraph", recipe: Recipe, options: Namespace, folder: Path
) -> None:
    """Train N times and print mean ± std over the trainings, split by split."""
    from dgb.measure.repeat import RUNS, evaluate_runs, split_table
    from dgb.run.setup import resolve_recipe

    if options.task == "links":
        raise DGBError("--task links is for graphs of one node type; leave it out")
    recipe = resolve_recipe(graph, recipe)
    output(f"{describe(graph)}, recipe {recipe_hash(recipe)}, {options.runs} trainings")
    lines = evaluate_runs(graph, recipe, options.runs, folder)
    counted = f"mean ± std over {len(lines)} independent trainings"
    output("", *split_table(lines).splitlines(), "")
    output(counted if len(lines) > 1 else "one training")
    output(f"every training: {folder / RUNS}")
