"""The command `dgb`: one verb parses, calls one function and prints."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from dgb.errors import DGBError

REPRODUCED = (
    *("table1", "table2", "table3", "table4", "plus"),
    *("figure1", "figure2", "rates", "claims", "verify"),
)

COMPARED = (
    *("lp", "planetoid", "chebyshev", "gcn", "gat", "gwnn"),
    *("raw", "deepwalk", "deepwalk-alone", "ep-b", "gmi-mean", "gmi-adaptive", "dgi"),
    *("gmnn-q", "gmnn", "bgrl", "mvgrl", "grace", "cca-ssg", "graphmae", "sgc", "random", "dgb"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; a mistake of the user's is one line on stderr and exit code 2."""
    options = make_parser().parse_args(arguments)
    try:
        # Only now: the verbs import torch, which takes seconds that --help should not.
        from dgb import commands

        getattr(commands, options.verb)(options)
    except DGBError as error:
        print(f"dgb: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `dgb … | head` has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:  # no space, no permission, a folder where a file should be
        print(f"dgb: {error}", file=sys.stderr)
        return 2
    return 0


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"dgb: {message}; see `{self.prog} --help`\n")


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all verbs."""
    parser = _Parser(prog="dgb", description="Deep Graph Bootstrapping: label-free node embeddings")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    _add_train(verbs)
    _add_embed(verbs)
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
    train.add_argument("graph", nargs="?", help="a known data set (dgb data list) or an .npz file")
    train.add_argument("--out", metavar="DIR", help="run folder (default: runs/GRAPH-TIME)")
    train.add_argument("--resume", metavar="RUN", help="go on with an unfinished run folder")
    _add_recipe_options(train)
    _add_data_options(train)


def _add_embed(verbs: "argparse._SubParsersAction[_Parser]") -> None:
    embed = verbs.add_parser("embed", help="embed a graph with a finished run")
    embed.add_argument("run", help="run folder")
    embed.add_argument("graph", nargs="?", help="another graph (default: the run's own)")
    embed.add_argument(
        "--operator", choices=("adj", "diff", "adj+diff"), help="instead of the recipe's"
    )
    embed.add_argument("--out", metavar="FILE", help="Parquet file (default: in the run folder)")
    embed.add_argument("--npy", action="store_true", help="write .npy beside it")
    _add_data_options(embed)


def _add_evaluate(verbs: "argparse._SubParsersAction[_Parser]") -> None:
    evaluate = verbs.add_parser("evaluate", help="train N times, report mean ± std over trainings")
    evaluate.add_argument("graph", help="a known data set or an .npz file, with labels")
    evaluate.add_argument("--runs", type=int, default=5, metavar="N", help="trainings (default: 5)")
    evaluate.add_argument("--out", metavar="DIR", help="folder (default: runs/evaluate-GRAPH)")
    _add_recipe_options(evaluate)
    _add_data_options(evaluate)


def _add_compare(verbs: "argparse._SubParsersAction[_Parser]") -> None:
    compare = verbs.add_parser(
        "compare",
        help="DGB beside other systems on one graph",
        epilog=f"methods: {', '.join(COMPARED)}; a setting of one is --set gat.dropout=0.5",
    )
    compare.add_argument("graph", help="a known data set or an .npz file")
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
    _add_data_options(compare)


def _add_tune(verbs: "argparse._SubParsersAction[_Parser]") -> None:
    tune = verbs.add_parser("tune", help="search a recipe for a graph, with or without labels")
    tune.add_argument("graph", help="a known data set or an .npz file")
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
    _add_data_options(tune)


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
    actions = data.add_subparsers(dest="action", required=True, metavar="list|fetch|check")
    actions.add_parser("list", help="known data sets and where they stand")
    for name, text in (("fetch", "get a data set into the cache"), ("check", "describe a graph")):
        action = actions.add_parser(name, help=text)
        action.add_argument("graph")
        _add_data_options(action)


def _add_recipe_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--recipe", help="a name or a .toml file (default: the graph's own recipe)")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="such as train.decay=0.9"
    )
    parser.add_argument("--seed", type=int, help="short for --set train.seed=SEED")


def _add_data_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data-folder", metavar="DIR", help="local folder with data files")
    parser.add_argument("--offline", action="store_true", help="refuse to use the network")
