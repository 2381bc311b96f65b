"""The parser of all verbs."""

import argparse
from collections.abc import Sequence
from typing import NoReturn

from dgb.arguments.looking import add_data, add_info
from dgb.arguments.measuring import add_compare, add_evaluate, add_reproduce, add_tune
from dgb.arguments.using import add_cluster, add_embed, add_neighbors, add_report, add_train
from dgb.errors import printable


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, printable(f"dgb: {message}; see `{self.prog} --help`") + "\n")


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
    add_train(verbs)
    add_embed(verbs)
    add_neighbors(verbs)
    add_cluster(verbs)
    add_report(verbs)
    add_evaluate(verbs)
    add_compare(verbs)
    add_tune(verbs)
    add_reproduce(verbs)
    add_data(verbs)
    add_info(verbs)
    return parser
