"""`dgb compare`: DGB next to other systems on one graph."""

from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from dgb.baselines.methods import METHODS, settings_of
from dgb.commands.graphs import choose_recipe, describe_graph, open_graph
from dgb.commands.options import GRAPH, add_count, add_list, add_recipe_options, check_counts
from dgb.cookbook import split_override
from dgb.errors import DGBError
from dgb.recipe import Recipe
from dgb.settings import check_names, split_list
from dgb.terminal import log, output, resumable

if TYPE_CHECKING:
    from dgb.data.typed.graph import AnyGraph
    from dgb.measure.job import Job


HELP = "DGB next to other systems on one graph"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the verb."""
    methods = ", ".join(METHODS)
    parser.epilog = f"methods: {methods}; a setting of one is --set gat.dropout=0.5"
    parser.add_argument("graph", help=GRAPH)
    usual = "or all (default: dgb,dgi,bgrl,gcn,sgc,diffused,random,raw)"
    add_list(parser, "--methods", usual)
    add_count(parser, "--runs", 5, "trainings (default: 5)")
    add_count(parser, "--splits", 1, "splits that a training is scored on (default: 1)")
    add_count(parser, "--jobs", 1, "trainings at once")
    parser.add_argument("--out", metavar="DIR", help="folder (default: runs/compare-GRAPH)")
    add_recipe_options(parser)


def run(options: Namespace) -> None:
    """Train every system N times on one graph; print one table and write it as a page."""
    from dgb.measure.compare import COMPARISON, compare
    from dgb.measure.comparison import as_text, make_comparison, write
    from dgb.measure.job import Place
    from dgb.report.page import write_comparison

    graph, jobs, missing = _choose_jobs(options)
    folder = Path(options.out or f"runs/compare-{graph.name}")
    threads = jobs[0].recipe.train.threads  # one for all systems
    place = Place(folder, options.data_folder, options.jobs, options.offline, threads)
    output(f"{describe_graph(graph)} → {folder}")
    with resumable("what was measured is kept, the same command resumes"):
        lines, failed = compare(jobs, graph, place)
    counts = Counter(key for key, _ in {(job.method, job.training) for job in jobs})
    remarks = missing + [
        f"{METHODS[key].title} failed in {len(why)} of {counts[key]} trainings: {why[0]}"
        for key, why in failed.items()
    ]
    if not lines:
        raise DGBError("nothing could be measured: " + "; ".join(remarks))
    table = make_comparison(f"Systems on {graph.name}", lines, remarks)
    write(table, folder)
    output("", *as_text(table).splitlines(), "", f"every training: {folder / COMPARISON}")
    output(f"page: {write_comparison(folder, table)}")


def _choose_jobs(options: Namespace) -> tuple["AnyGraph", list["Job"], list[str]]:
    """Return the graph, the trainings asked for, and what to say of those left out."""
    from dgb.data.load import is_hetero
    from dgb.measure.compare import Repeats, choose_methods, leave_out, make_jobs, why_no_accuracy
    from dgb.run.resolve import resolve_recipe

    check_counts(options, "runs", "splits", "jobs")
    methods = choose_methods(split_list(options.methods or ""), is_typed=is_hetero(options.graph))
    recipe, for_methods = _choose_settings(options, methods)
    graph = open_graph(recipe.data, options)
    recipe = resolve_recipe(graph, recipe)
    repeats = Repeats(options.runs, options.splits).of(graph)
    if repeats.splits < options.splits:
        log(f"{graph.name} has {len(graph.splits)} of its own: --splits is {repeats.splits}")
    missing = leave_out(methods, graph, recipe.train.seed * repeats.splits)
    settings = {key: settings_of(key, graph.name, recipe, for_methods) for key in methods}
    chosen = {key: settings[key] for key in methods if key not in missing}
    jobs = make_jobs(graph, chosen, recipe, repeats)
    remarks = [f"{METHODS[key].title} was left out: {why}" for key, why in missing.items()]
    if not jobs:
        raise DGBError("nothing to compare: " + "; ".join(remarks))
    if reason := why_no_accuracy(graph, jobs):
        log(f"no accuracies: {reason}")
    return graph, jobs, remarks


def _choose_settings(options: Namespace, methods: Sequence[str]) -> tuple[Recipe, list[str]]:
    """Return the recipe, after a check, and those of --set that are for methods."""
    from dgb.evaluate.probe import refuse_blocks
    from dgb.run.resolve import check_recipe

    sections = [f.name for f in fields(Recipe)]
    for_methods = [o for o in options.set if split_override(o)[0] not in sections]
    named = [split_override(override)[0] for override in for_methods]
    check_names("section of a recipe or method that is compared,", named, [*sections, *methods])
    options.set = [o for o in options.set if o not in for_methods]
    recipe = choose_recipe(options)
    check_recipe(recipe)
    refuse_blocks(recipe.probe)
    if recipe.train.device != "auto":
        raise DGBError(
            "compare runs all systems on the device that torch finds; leave train.device as it is, "
            "or hide a GPU with CUDA_VISIBLE_DEVICES="
        )
    return recipe, for_methods
