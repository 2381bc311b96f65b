"""The verbs that measure and search: the paper's tables and figures, and recipes for a graph."""

from argparse import Namespace
from pathlib import Path

from dgb.commands.options import check_counts, describe, graph_of, recipe_of
from dgb.settings import listed
from dgb.terminal import log, output


def reproduce(options: Namespace) -> None:
    """Measure a table or draw a figure of the paper, going on where an earlier call stopped."""
    from dgb.measure.place import Place
    from dgb.reproduce import make
    from dgb.reproduce.plan import check_datasets
    from dgb.reproduce.published import DATASETS
    from dgb.reproduce.typed_plan import TABLE as HETERO

    check_counts(options, "runs", "jobs", "lines")
    place = Place(Path(options.results), options.data_folder, options.jobs, offline=options.offline)
    asked = options.datasets
    if options.what == HETERO:
        datasets = listed(asked or "")
    else:
        datasets = DATASETS if asked is None else check_datasets(asked)
    try:
        made = make.make(
            options.what,
            place,
            datasets,
            options.runs,
            methods=listed(options.methods),
            lines=options.lines,
        )
    except KeyboardInterrupt:
        log("dgb: stopped; what was measured is kept, the same command goes on")
        raise
    output(*made.splitlines())


def tune(options: Namespace) -> None:
    """Search a recipe for a graph, going on where an earlier call stopped."""
    from dgb.tune.found import RECIPE, TRIALS, rank_agreement
    from dgb.tune.space import parse_space
    from dgb.tune.study import Plan
    from dgb.tune.study import tune as search

    recipe = recipe_of(options)
    graph = graph_of(recipe.data, options)
    folder = Path(options.out or f"runs/tune-{graph.name}")
    plan = Plan(options.trials, options.seeds, options.criterion, options.every)
    output(f"{describe(graph)} → {folder}")
    try:
        found = search(graph, recipe, parse_space(options.search, recipe), folder, plan)
    except KeyboardInterrupt:
        log("dgb: stopped; the same command goes on from here")
        raise
    output(f"best {found.criterion}: {found.score:.4f} at epoch {found.recipe.train.epochs}")
    for name, (rho, n) in rank_agreement(found.lines).items():
        if n > 1:  # a graph without labels has none
            output(f"  {name:22} Spearman {rho:+.2f} with validation accuracy over {n} trials")
    output(f"recipe: {folder / RECIPE}", f"every trial: {folder / TRIALS}")
    output(f"use it: dgb train {options.graph} --recipe {folder / RECIPE}")
    if graph.labels is not None:
        output("(which prints a test accuracy; after a look at it, choose nothing any more)")
