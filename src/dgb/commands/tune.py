"""`dgb tune`: a recipe searched for a graph."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dgb.commands.graphs import choose_recipe, describe_graph, open_graph
from dgb.commands.options import GRAPH, add_count, add_recipe_options
from dgb.terminal import output, resumable

CRITERION = "validation, or a label-free one such as effective_rank, or auc of links.held_out"
HELP = "search a recipe for a graph, with or without labels"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the verb."""
    parser.add_argument("graph", help=GRAPH)
    parser.add_argument(
        "--search",
        action="append",
        default=[],
        metavar="KEY=VALUES",
        help="train.decay=0.8:0.99, train.learning_rate=1e-4:1e-2:log or encoder.width=256,512 "
        "(default: the keys that matter most)",
    )
    add_count(parser, "--trials", 30, "in all (default: 30)")
    add_count(parser, "--seeds", 1, "trainings a trial")
    parser.add_argument("--criterion", metavar="NAME", help=CRITERION)
    parser.add_argument("--every", type=int, metavar="EPOCHS", help="between two scores of a trial")
    parser.add_argument("--out", metavar="DIR", help="folder (default: runs/tune-GRAPH)")
    add_recipe_options(parser)


def run(options: Namespace) -> None:
    """Search a recipe for a graph, resuming an earlier call."""
    from dgb.tune.criteria import rank_agreement
    from dgb.tune.folder import RECIPE, TRIALS, import_optuna
    from dgb.tune.space import parse_space
    from dgb.tune.study import Plan, tune

    import_optuna()  # before the graph is read: without it there is no search
    recipe = choose_recipe(options)
    graph = open_graph(recipe.data, options)
    folder = Path(options.out or f"runs/tune-{graph.name}")
    plan = Plan(options.trials, options.seeds, options.criterion, options.every)
    output(f"{describe_graph(graph)} → {folder}")
    with resumable("the same command resumes it"):
        found = tune(graph, recipe, parse_space(options.search, recipe), folder, plan)
    output(f"best {found.criterion}: {found.score:.4f} at epoch {found.recipe.train.epochs}")
    for name, (rho, n) in rank_agreement(found.lines).items():
        if n > 1:  # a graph without labels has none
            output(f"  {name:22} Spearman {rho:+.2f} with validation accuracy over {n} trials")
    output(f"recipe: {folder / RECIPE}", f"every trial: {folder / TRIALS}")
    output(f"use it: dgb train {options.graph} --recipe {folder / RECIPE}")
    if graph.labels is not None:
        output("(which prints a test accuracy; after a look at it, choose nothing any more)")
