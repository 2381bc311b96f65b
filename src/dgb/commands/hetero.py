"""What the verbs do on heterogeneous graphs."""

from argparse import Namespace
from pathlib import Path

from dgb.commands.options import describe
from dgb.cookbook import recipe_hash
from dgb.data.typed.graph import HeteroGraph
from dgb.errors import DGBError
from dgb.recipe import Recipe
from dgb.terminal import output


def tell_paths(graph: HeteroGraph, recipe: Recipe) -> None:
    """Print the meta-paths of a run, and how dense the graphs are that they make."""
    from dgb.commands.counts import path_lines
    from dgb.views.metapaths.inputs import metapaths_of

    if recipe.hetero.encoder != "relations":
        output(*path_lines(graph, metapaths_of(graph, recipe)), "")


def evaluate_hetero(graph: HeteroGraph, recipe: Recipe, options: Namespace, folder: Path) -> None:
    """Train N times and print mean ± std over the trainings, split by split."""
    from dgb.evaluate.hetero_scores import why_not_scored_by_split
    from dgb.measure.repeat import RUNS, repeat, seeds_of, split_table
    from dgb.run.hetero import score_hetero_training
    from dgb.run.hetero_parts import resolve

    if options.task == "links":
        raise DGBError("--task links is for graphs of one node type; leave it out")
    for seed in seeds_of(recipe, options.runs):
        if reason := why_not_scored_by_split(graph, seed):
            raise DGBError(f"nothing to evaluate against: {reason}")
    recipe = resolve(graph, recipe)
    output(f"{describe(graph)}, recipe {recipe_hash(recipe)}, {options.runs} trainings")
    lines = repeat(graph, recipe, options.runs, folder / RUNS, score_hetero_training)
    counted = f"mean ± std over {len(lines)} independent trainings"
    output("", *split_table(lines).splitlines(), "")
    output(counted if len(lines) > 1 else "one training")
    output(f"every training: {folder / RUNS}")
