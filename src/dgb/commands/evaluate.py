"""`dgb evaluate`: several trainings, and the mean ± std of what they score."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dgb.commands.graphs import choose_recipe, describe_graph, label_lines, open_graph
from dgb.commands.options import GRAPH, add_count, add_recipe_options
from dgb.cookbook import recipe_hash
from dgb.terminal import output

HELP = "train N times, report mean ± std over trainings"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the verb."""
    parser.add_argument("graph", help=GRAPH)
    parser.add_argument(
        "--task",
        choices=("classify", "cluster", "links"),
        default="classify",
        help="what the embeddings are scored by (default: classify); links needs no labels",
    )
    add_count(parser, "--runs", 5, "trainings (default: 5)")
    parser.add_argument("--out", metavar="DIR", help="folder (default: runs/evaluate-GRAPH)")
    add_recipe_options(parser)


def run(options: Namespace) -> None:
    """Train N times and print mean ± std over the trainings, for one of three tasks."""
    from dgb.data.typed.graph import HeteroGraph
    from dgb.measure import repeat
    from dgb.run.resolve import resolve_recipe

    recipe = choose_recipe(options)
    graph = open_graph(recipe.data, options)
    recipe = resolve_recipe(graph, recipe)
    folder = Path(options.out or f"runs/evaluate-{graph.name}")
    output(f"{describe_graph(graph)}, recipe {recipe_hash(recipe)}, {options.runs} trainings")
    if options.task == "classify":
        output(*label_lines(graph, recipe.train.seed))
    if options.task == "links":
        path = folder / repeat.LINKS
        lines = repeat.evaluate_links(graph, recipe, options.runs, folder)
        table = repeat.scores_table(lines, repeat.LINK_COLUMNS)
    else:
        path = folder / repeat.RUNS
        lines = repeat.evaluate_runs(graph, recipe, options.runs, folder)
        columns = repeat.CLUSTER_COLUMNS if options.task == "cluster" else repeat.COLUMNS
        is_typed = isinstance(graph, HeteroGraph)
        table = repeat.split_table(lines) if is_typed else repeat.scores_table(lines, columns)
    apart = repeat.blocks_lines(lines) if options.task == "classify" else []
    counted = f"mean ± std over {len(lines)} independent trainings"
    output("", *table.splitlines(), *apart, "", counted if len(lines) > 1 else "one training")
    output(f"every training: {path}")
