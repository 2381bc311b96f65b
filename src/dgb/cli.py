"""The command `dgb`: a file in commands/ for each verb, which adds its options and runs."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from dgb.errors import DGBError, printable
from dgb.terminal import log

VERBS = (
    *("train", "embed", "align", "export", "report"),
    *("predict", "neighbors", "cluster", "links", "outliers"),
    *("evaluate", "compare", "tune", "reproduce", "data", "info"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; a mistake of the user's is one line on stderr and exit code 2."""
    options = parse(arguments)
    try:
        options.run_verb(options)
    except DGBError as error:
        log(f"dgb: {error}")
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `dgb … | head` has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:  # no space, no permission, a folder where a file should be
        from dgb.files.atomic import NO_ROOM

        advice = "; make room, and give the same command again" if error.errno in NO_ROOM else ""
        log(f"dgb: {error}{advice}")
        return 2
    except MemoryError as error:
        log(f"dgb: out of memory ({error}); end other programs, or take a smaller graph")
        return 2
    return 0


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
    """Return the parser of all verbs; torch is imported when one of them runs."""
    parser = _Parser(prog="dgb", description="Deep Graph Bootstrapping: label-free node embeddings")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name in VERBS:
        verb = import_module(f"dgb.commands.{name}")
        options = verbs.add_parser(name, help=verb.HELP)
        options.set_defaults(run_verb=verb.run)
        verb.add_options(options)
    return parser


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, printable(f"dgb: {message}; see `{self.prog} --help`") + "\n")
