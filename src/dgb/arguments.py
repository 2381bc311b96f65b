"""The verbs of the command line and their options."""

import argparse
from collections.abc import Sequence
from typing import NoReturn

GRAPH = "a known data set (dgb data list), a file of edges, or a folder with edges.* and nodes.*"

REPRODUCED = (
    *("table1", "table2", "table3", "table4", "plus"),
    *("figure1", "figure2", "rates", "claims", "verify"),
)

COMPARED = (
    *("lp", "planetoid", "chebyshev", "gcn", "gat", "gwnn"),
    *("raw", "deepwalk", "deepwalk-alone", "ep-b", "gmi-mean", "gmi-adaptive", "dgi"),
    *("gmnn-q", "gmnn", "bgrl", "mvgrl", "grace", "cca-ssg", "graphmae", "sgc", "random", "dgb"),
)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"dgb: {message}; see `{self.prog} --help`\n")


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of a command line."""
    parser = make_parser()
    options, rest = parser.parse_known_args(arguments)
    # argparse takes an optional list for empty before the first option, and words after it for
    # unknown ones: `neighbors RUN --vectors FILE NODE`.
    if rest and options.verb == "neighbors" and not any(word.startswith("-") for word in rest):
        options.nodes += rest
    elif rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    return options


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all verbs."""
    parser = _Parser(prog="dgb", description="Deep Graph Bootstrapping: label-free node embeddings")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    _add_train(verbs)
    _add_embed(verbs)
    _add_neighbors(verbs)
    _add_cluster(verbs)
    _add_report(verbs)
    _add_evaluate(verbs)
    _add_compare(verbs)
    _add_tune(verbs)
    _add_reproduce(verbs)
    _add_data(verbs)
    info = verbs.add_parser("info", help="versions and devices, or all settings of a recipe")
    info.add_argument("recipe", nargs="?", help="a name or a .toml file")
    return parser


def _add_train(verbs: "argparse._SubParsersAction[_Parser]") -> None:
    train = verbs.add_parser("train", help="train once, write a run folder, score it if labelled")
    train.add_argument("graph", nargs="?", help=GRAPH)
    train.add_argument("--out", metavar="DIR", help="run folder (default: runs/GRAPH-TIME)")
    train.add_argument("--resume", metavar="RUN", help="go on with an unfinished run folder")
    _add_recipe_options(train)
    _add_graph_options(train)


def _add_embed(verbs: "argparse._SubParsersAction[_Parser]") -> None:
    embed = verbs.add_parser("embed", help="embed a graph with a finished run")
    embed.add_argument("run", help="run folder")
    embed.add_argument("graph", nargs="?", help="another graph (default: the run's own)")
    embed.add_argument(
        "--operator", choices=("adj", "diff", "adj+diff"), help="instead of the recipe's"
    )
    embed.add_argument("--out", metavar="FILE", help="Parquet file (default: in the run folder)")
    embed.add_argument("--npy", action="store_true", help="write .npy beside it")
    _add_set_option(embed)
    _add_graph_options(embed)


def _add_neighbors(verbs: "argparse._SubParsersAction[_Parser]") -> None:
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


def _add_cluster(verbs: "argparse._SubParsersAction[_Parser]") -> None:
    cluster = verbs.add_parser("cluster", help="group the nodes of a run by k-means")
    cluster.add_argument("run", help="run folder")
    cluster.add_argument(
        "--clusters", type=int, metavar="K", help="how many (default: by silhouette)"
    )
    cluster.add_argument(
        "--out", metavar="FILE", help=".csv or .parquet (default: clusters.csv in the run folder)"
    )


def _add_report(verbs: "argparse._SubParsersAction[_Parser]") -> None:
    report = verbs.add_parser("report", help="one page to look at a run or a comparison")
    report.add_argument("run", help="run folder, or the folder of a comparison")
    report.add_argument("--compare", metavar="DIR", help="a comparison to show beside the run")
    report.add_argument("--open", action="store_true", help="open it in the browser")


def _add_evaluate(verbs: "argparse._SubParsersAction[_Parser]") -> None:
    evaluate = verbs.add_parser("evaluate", help="train N times, report mean ± std over trainings")
    evaluate.add_argument("graph", help=GRAPH)
    evaluate.add_argument(
        "--task",
        choices=("classify", "cluster", "links"),
        default="classify",
        help="what the embeddings are scored by (default: classify); links needs no labels",
    )
    evaluate.add_argument("--runs", type=int, default=5, metavar="N", help="trainings (default: 5)")
    evaluate.add_argument("--out", metavar="DIR", help="folder (default: runs/evaluate-GRAPH)")
    _add_recipe_options(evaluate)
    _add_graph_options(evaluate)


def _add_compare(verbs: "argparse._SubParsersAction[_Parser]") -> None:
    compare = verbs.add_parser(
        "compare",
        help="DGB beside other systems on one graph",
        epilog=f"methods: {', '.join(COMPARED)}; a setting of one is --set gat.dropout=0.5",
    )
    compare.add_argument("graph", help=GRAPH)
    compare.add_argument(
        "--methods",
        default="",
        metavar="A,B",
        help="or all (default: dgb,dgi,bgrl,gcn,sgc,random,raw)",
    )
    compare.add_argument("--runs", type=int, default=5, metavar="N", help="trainings (default: 5)")
    compare.add_argument(
        "--splits",
        type=int,
        default=1,
        metavar="N",
        help="splits that a training is scored on (default: 1)",
    )
    compare.add_argument("--jobs", type=int, default=1, metavar="N", help="trainings at once")
    compare.add_argument("--out", metavar="DIR", help="folder (default: runs/compare-GRAPH)")
    _add_recipe_options(compare)
    _add_graph_options(compare)


def _add_tune(verbs: "argparse._SubParsersAction[_Parser]") -> None:
    tune = verbs.add_parser("tune", help="search a recipe for a graph, with or without labels")
    tune.add_argument("graph", help=GRAPH)
    tune.add_argument(
        "--search",
        action="append",
        default=[],
        metavar="KEY=VALUES",
        help="train.decay=0.8:0.99, train.learning_rate=1e-4:1e-2:log or encoder.width=256,512 "
        "(default: the keys that matter most)",
    )
    tune.add_argument("--trials", type=int, default=30, metavar="N", help="in all (default: 30)")
    tune.add_argument("--seeds", type=int, default=1, metavar="N", help="trainings a trial")
    tune.add_argument("--criterion", metavar="NAME", help="validation, or one that needs no labels")
    tune.add_argument("--every", type=int, metavar="EPOCHS", help="between two scores of a trial")
    tune.add_argument("--out", metavar="DIR", help="folder (default: runs/tune-GRAPH)")
    _add_recipe_options(tune)
    _add_graph_options(tune)


def _add_reproduce(verbs: "argparse._SubParsersAction[_Parser]") -> None:
    reproduce = verbs.add_parser("reproduce", help="measure the paper's tables, draw its figures")
    reproduce.add_argument("what", choices=REPRODUCED, metavar="|".join(REPRODUCED))
    reproduce.add_argument(
        "--datasets", default="cora,citeseer,pubmed", metavar="A,B", help="(default: all three)"
    )
    reproduce.add_argument(
        "--methods", default="", metavar="A,B", help="rows of the table (default: all)"
    )
    reproduce.add_argument("--runs", type=int, metavar="N", help="trainings a cell")
    reproduce.add_argument("--jobs", type=int, default=1, metavar="N", help="trainings at once")
    reproduce.add_argument("--lines", type=int, default=5, metavar="N", help="to verify")
    reproduce.add_argument(
        "--results", default="results", metavar="DIR", help="folder (default: results)"
    )
    _add_data_options(reproduce)


def _add_data(verbs: "argparse._SubParsersAction[_Parser]") -> None:
    data = verbs.add_parser("data", help="list, fetch and check graphs")
    actions = data.add_subparsers(dest="action", required=True, metavar="list|fetch|check|make")
    actions.add_parser("list", help="known data sets and where they stand")
    fetch = actions.add_parser("fetch", help="get a data set into the cache")
    fetch.add_argument("graph", help="a known data set")
    _add_data_options(fetch)
    make = actions.add_parser("make", help="write an invented graph of any size, for trying out")
    make.add_argument("folder", help="to write edges.npy, nodes.npy and labels.npy into")
    make.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="nodes, edges, features, classes, homophily, signal, exponent or seed",
    )
    check = actions.add_parser("check", help="describe a graph, and what may be wrong with it")
    check.add_argument("graph", help=GRAPH)
    _add_set_option(check)
    _add_graph_options(check)


def _add_recipe_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--recipe", help="a name or a .toml file (default: the graph's own recipe)")
    _add_set_option(parser)
    parser.add_argument("--seed", type=int, help="short for --set train.seed=SEED")


def _add_set_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="such as train.decay=0.9"
    )


def _add_graph_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--nodes", metavar="FILE", help="node rows, where GRAPH is a file of edges")
    parser.add_argument("--labels", metavar="FILE", help="ids and labels (and splits)")
    parser.add_argument("--id", metavar="COLUMN", help="id column of the node rows")
    parser.add_argument("--label", metavar="COLUMN", help="label column of the node rows")
    parser.add_argument("--drop", metavar="A,B", help="columns of the node rows to leave out")
    _add_data_options(parser)


def _add_data_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data-folder", metavar="DIR", help="local folder with data files")
    parser.add_argument("--offline", action="store_true", help="refuse to use the network")
