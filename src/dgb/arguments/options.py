"""Options that several verbs share."""

import argparse
from typing import Any

Verbs = Any  # what argparse adds verbs to has no public name
GRAPH = "a known data set (dgb data list), a file of edges, or a folder with edges.* and nodes.*"


def add_recipe_options(parser: argparse.ArgumentParser) -> None:
    """Add which recipe, with which settings."""
    parser.add_argument("--recipe", help="a name or a .toml file (default: the graph's own recipe)")
    add_set_option(parser)
    parser.add_argument("--seed", type=int, help="short for --set train.seed=SEED")


def add_set_option(parser: argparse.ArgumentParser, keys: str = "such as train.decay=0.9") -> None:
    """Add `--set`."""
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help=keys)


def add_graph_options(parser: argparse.ArgumentParser) -> None:
    """Add which files and columns a graph is read from."""
    parser.add_argument("--nodes", metavar="FILE", help="node rows, where GRAPH is a file of edges")
    parser.add_argument("--labels", metavar="FILE", help="ids and labels (and splits)")
    parser.add_argument("--id", metavar="COLUMN", help="id column of the node rows")
    parser.add_argument("--label", metavar="COLUMN", help="label column of the node rows")
    parser.add_argument("--drop", metavar="A,B", help="columns of the node rows to leave out")
    add_data_options(parser)


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """Add where data may come from."""
    parser.add_argument("--data-folder", metavar="DIR", help="local folder with data files")
    parser.add_argument("--offline", action="store_true", help="refuse to use the network")
