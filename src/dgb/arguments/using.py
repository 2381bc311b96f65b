"""The verbs that train, and that use what was trained."""

import argparse

from dgb.arguments.options import (
    GRAPH,
    Verbs,
    add_graph_options,
    add_recipe_options,
    add_set_option,
)


def add_train(verbs: Verbs) -> None:
    """Add `dgb train`."""
    train = verbs.add_parser("train", help="train once, write a run folder, score it if labelled")
    train.add_argument("graph", nargs="?", help=GRAPH)
    train.add_argument("--out", metavar="DIR", help="run folder (default: runs/GRAPH-TIME)")
    train.add_argument("--resume", metavar="RUN", help="go on with an unfinished run folder")
    add_engine_options(train)
    add_recipe_options(train)
    add_graph_options(train)


def add_engine_options(train: argparse.ArgumentParser) -> None:
    """Add where the training happens."""
    train.add_argument(
        "--engine", choices=("local", "ray"), default="local", help="one process, or many machines"
    )
    train.add_argument(
        "--address", metavar="HOST:PORT", help="of a Ray cluster (default: this machine alone)"
    )
    train.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="ranks that share the rows (default: one a machine)",
    )


def add_embed(verbs: Verbs) -> None:
    """Add `dgb embed`."""
    embed = verbs.add_parser("embed", help="embed a graph with a finished run")
    embed.add_argument("run", help="run folder")
    embed.add_argument("graph", nargs="?", help="another graph (default: the run's own)")
    embed.add_argument(
        "--operator", choices=("adj", "diff", "adj+diff"), help="instead of the recipe's"
    )
    embed.add_argument("--out", metavar="FILE", help="Parquet file (default: in the run folder)")
    embed.add_argument("--npy", action="store_true", help="write .npy beside it")
    add_set_option(embed)
    add_graph_options(embed)


def add_neighbors(verbs: Verbs) -> None:
    """Add `dgb neighbors`."""
    neighbors = verbs.add_parser("neighbors", help="the nodes nearest to some nodes, by cosine")
    neighbors.add_argument("run", help="run folder")
    neighbors.add_argument("nodes", nargs="*", metavar="NODE", help="ids as in your own files")
    neighbors.add_argument("--all", action="store_true", help="write those of all nodes to a file")
    neighbors.add_argument("-k", type=int, default=10, metavar="N", help="of each (default: 10)")
    neighbors.add_argument("--vectors", metavar="FILE", help="other embeddings, made by dgb embed")
    neighbors.add_argument("--json", action="store_true", help="for programs")
    neighbors.add_argument(
        "--out", metavar="FILE", help="of --all (default: neighbors.parquet in the run folder)"
    )


def add_cluster(verbs: Verbs) -> None:
    """Add `dgb cluster`."""
    cluster = verbs.add_parser("cluster", help="group the nodes of a run by k-means")
    cluster.add_argument("run", help="run folder")
    cluster.add_argument(
        "--clusters", type=int, metavar="K", help="how many (default: by silhouette)"
    )
    cluster.add_argument(
        "--out", metavar="FILE", help=".csv or .parquet (default: clusters.csv in the run folder)"
    )


def add_report(verbs: Verbs) -> None:
    """Add `dgb report`."""
    report = verbs.add_parser("report", help="one page to look at a run or a comparison")
    report.add_argument("run", help="run folder, or the folder of a comparison")
    report.add_argument("--compare", metavar="DIR", help="a comparison to show beside the run")
    report.add_argument("--open", action="store_true", help="open it in the browser")
