"""What each verb of the command line does, once its options are parsed."""

import time
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

from dgb.cookbook import load_recipe, recipe_hash, recipe_names
from dgb.data.check import check_graph
from dgb.data.graph import Graph
from dgb.data.load import fetch_dataset, list_datasets, load_graph
from dgb.data.sources import cache_folder
from dgb.errors import DGBError
from dgb.progress import say
from dgb.readable import readable, setting_lines
from dgb.recipe import Recipe


def train(options: Namespace) -> None:
    """Train once into a run folder, or go on with one."""
    from dgb.run import folder as files
    from dgb.run.repeat import scores_table
    from dgb.run.training import check_recipe, train_run

    if bool(options.graph) == bool(options.resume):
        raise DGBError("give a graph to train on, or --resume RUN; `dgb data list` shows data sets")
    if options.resume:
        if options.set or options.recipe or options.out or options.seed is not None:
            raise DGBError(
                "--resume goes on with the run's own recipe and folder; leave out the rest"
            )
        folder = Path(options.resume)
        recipe = files.read_recipe(folder)
        if (folder / files.SCORES).exists():
            raise DGBError(f"{folder} is finished; its embeddings are {folder / files.EMBEDDINGS}")
        graph = _graph(recipe.data.graph, options)
    else:
        graph = _graph(options.graph, options)
        recipe = _recipe(options, graph)
        check_recipe(recipe)
        folder = Path(options.out or f"runs/{graph.name}-{time.strftime('%Y%m%d-%H%M%S')}")
        files.make_folder(folder, recipe)
    print(f"{_describe(graph)} → {folder}")
    try:
        scores = train_run(graph, recipe, folder)
    except KeyboardInterrupt:
        say(f"dgb: stopped; go on with `dgb train --resume {folder}`")
        raise
    if "dgb" in scores:
        print(f"\n{scores_table([scores])}\n")
    print(f"trained in {scores['seconds']:.0f} s, effective rank {scores['effective_rank']:.0f}")
    print(f"embeddings: {folder / files.EMBEDDINGS}")


def embed(options: Namespace) -> None:
    """Embed a graph with the encoder of a finished run."""
    from dgb.estimator import embed_graph
    from dgb.run import folder as files
    from dgb.run.machine import choose_device

    folder = Path(options.run)
    if (options.graph or options.operator) and not options.out:
        raise DGBError("give --out FILE.parquet, so that the run keeps its own embeddings")
    if options.out and (
        not options.out.endswith(".parquet") or not Path(options.out).parent.is_dir()
    ):
        raise DGBError(f"--out must be a .parquet file in a folder that exists, not {options.out}")
    recipe = files.read_recipe(folder)
    if options.operator:
        recipe = replace(recipe, embed=replace(recipe.embed, operator=options.operator))
    graph = _graph(options.graph or recipe.data.graph, options)
    encoder = files.load_encoder(folder, recipe, choose_device("auto"))
    z = embed_graph(encoder, graph, recipe)
    out = Path(options.out) if options.out else folder / files.EMBEDDINGS
    files.write_embeddings(out, graph.node_ids, z, npy=options.npy or recipe.embed.npy)
    print(f"{z.shape[0]} × {z.shape[1]} embeddings: {out}")


def evaluate(options: Namespace) -> None:
    """Train N times and print mean ± std over the trainings."""
    from dgb.run.repeat import FILE, evaluate_runs, scores_table

    graph = _graph(options.graph, options)
    recipe = _recipe(options, graph)
    folder = Path(options.out or f"runs/evaluate-{graph.name}")
    print(f"{_describe(graph)}, recipe {recipe_hash(recipe)}, {options.runs} trainings")
    lines = evaluate_runs(graph, recipe, options.runs, folder)
    print(f"\n{scores_table(lines)}\n\nmean ± std over {len(lines)} independent trainings")
    print(f"every training: {folder / FILE}")


def data(options: Namespace) -> None:
    """List the known data sets, fetch one, or check a graph."""
    if options.action == "list":
        print(f"{'name':18}{'nodes':>9}{'edges':>11}{'features':>10}{'classes':>9}  state")
        for row in list_datasets():
            counts = (
                f"{row['nodes']:>9,}{row['edges']:>11,}{row['features']:>10,}{row['classes']:>9}"
            )
            print(f"{row['name']:18}{counts}  {row['state']}")
    elif options.action == "fetch":
        print(fetch_dataset(options.graph, **_data_options(options)) or "bundled: nothing to fetch")
    else:
        for name, value in check_graph(_graph(options.graph, options)).items():
            print(f"{name.replace('_', ' '):24}{readable(value)}")


def info(options: Namespace) -> None:
    """Print versions, devices, recipes and folders, or every setting of one recipe."""
    from dgb.run.machine import devices, git_hash, versions

    if options.recipe:
        print("\n".join(setting_lines(load_recipe(options.recipe))))
        return
    facts = versions() | {"git": git_hash() or "no checkout"} | devices()
    facts |= {"recipes": ", ".join(recipe_names()), "cache": str(cache_folder())}
    for name, value in facts.items():
        print(f"{name:18}{value}")


def _graph(source: str, options: Namespace) -> Graph:
    return load_graph(source, **_data_options(options))


def _data_options(options: Namespace) -> dict[str, Any]:
    return {"data_folder": options.data_folder, "offline": options.offline}


def _recipe(options: Namespace, graph: Graph) -> Recipe:
    """Return the recipe asked for, else the one named like the graph, else the default."""
    named = graph.name if graph.name in recipe_names() else "default"
    seed = [] if options.seed is None else [f"train.seed={options.seed}"]
    recipe = load_recipe(options.recipe or named, [*options.set, *seed])
    is_file = options.graph.endswith(".npz")
    source = str(Path(options.graph).resolve()) if is_file else graph.name
    return replace(recipe, data=replace(recipe.data, graph=source))


def _describe(graph: Graph) -> str:
    return (
        f"{graph.name}: {graph.num_nodes:,} nodes, {graph.num_edges:,} edges, "
        f"{graph.num_features:,} features"
    )
