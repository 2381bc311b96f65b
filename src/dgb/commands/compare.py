"""The verb that sets systems beside each other on one graph."""

from argparse import Namespace
from pathlib import Path

from dgb.commands.options import describe, listed, named_graph, recipe_of
from dgb.errors import DGBError
from dgb.progress import say


def compare(options: Namespace) -> None:
    """Train every system N times on one graph; print one table and write it as a page."""
    from dgb.baselines.choices import settings_of
    from dgb.baselines.methods import METHODS
    from dgb.compare.runner import FILE
    from dgb.compare.runner import compare as run
    from dgb.compare.table import as_text, make_table, write
    from dgb.compare.tasks import Repeats, choose_methods, leave_out, make_tasks, why_no_accuracy
    from dgb.reproduce.place import Place

    for name in ("runs", "splits", "jobs"):
        if getattr(options, name) < 1:
            raise DGBError(f"--{name} must be at least 1, not {getattr(options, name)}")
    methods = choose_methods(listed(options.methods))
    graph = named_graph(options.graph, options)
    is_method = [override.partition(".")[0] in METHODS for override in options.set]
    for_methods = [o for o, own in zip(options.set, is_method, strict=True) if own]
    options.set = [o for o, own in zip(options.set, is_method, strict=True) if not own]
    recipe = recipe_of(options, graph)
    missing = leave_out(methods, graph, recipe.train.seed)
    chosen = {
        key: settings_of(key, graph.name, recipe, for_methods)
        for key in methods
        if key not in missing
    }
    folder = Path(options.out or f"runs/compare-{graph.name}")
    place = Place(folder, options.data_folder, options.jobs, offline=options.offline)
    print(f"{describe(graph)} → {folder}")
    repeats = Repeats(options.runs, options.splits)
    tasks = make_tasks(options.graph, graph, chosen, recipe, repeats)
    if reason := why_no_accuracy(graph, tasks):
        say(f"no accuracies: {reason}")
    if not tasks:
        raise DGBError("; ".join(f"{key}: {why}" for key, why in missing.items()))
    try:
        lines, failed = run(tasks, place)
    except KeyboardInterrupt:
        say("dgb: stopped; what was measured is kept, the same command goes on")
        raise
    table = make_table(f"Systems on {graph.name}", lines, missing | failed)
    write(table, folder)
    print(f"\n{as_text(table)}\n\nevery training: {folder / FILE}")
    print(f"page: {folder / 'compare.html'}")
