"""The command `dgb`: a file in commands/ for each verb, which adds its options and runs."""

import argparse
import difflib
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import dgb
from dgb.commands.options import as_options
from dgb.cookbook import plain
from dgb.errors import DGBError, printable
from dgb.recipe import Recipe
from dgb.terminal import log, set_quiet

VERBS = (
    *("train", "update", "embed", "align", "export", "report"),
    *("predict", "neighbors", "cluster", "links", "outliers"),
    *("evaluate", "compare", "tune", "reproduce", "data", "info"),
)
# By which a user says how threads wait that have nothing to do.
_WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
_CHOICE = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; a mistake of the user's is a line on stderr for each fault, and exit code 2."""
    if not any(name in os.environ for name in _WAITING):
        # Before torch is imported. Threads that wait in a loop take the cores from those that
        # have work, if there are more of both than cores.
        os.environ["OMP_WAIT_POLICY"] = "passive"
    options = parse(arguments)
    set_quiet(options.quiet)
    try:
        options.run_verb(options)
    except DGBError as error:
        for fault in error.args:
            log(f"dgb: {as_options(fault)}")
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
    """Return the options of a command line; `help VERB` is `VERB --help`."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    options, rest = make_parser().parse_known_args(words)
    # argparse takes an optional list for empty before the first option, and words after it for
    # unknown ones: `neighbors RUN --vectors FILE NODE`.
    if rest and options.verb == "neighbors" and not any(word.startswith("-") for word in rest):
        options.nodes += rest
    elif rest:
        options.parser.refuse(rest)
    return options


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all verbs; torch is imported when one of them runs."""
    about = "Deep Graph Bootstrapping: label-free node embeddings"
    parser = _Parser(prog="dgb", description=about, epilog="dgb help VERB: the options of a verb")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    parser.set_defaults(quiet=False)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name in VERBS:
        verb = import_module(f"dgb.commands.{name}")
        options = verbs.add_parser(name, help=verb.HELP)
        options.set_defaults(run_verb=verb.run)
        verb.add_options(options)
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        print(f"dgb {dgb.__version__}")
        parser.exit()


class _Parser(argparse.ArgumentParser):
    """A parser of the command, a verb or an action, whose errors name what is like a mistake."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        quiet = "print results, warnings and errors alone"
        unset = argparse.SUPPRESS  # so that what stands before a verb is not forgotten
        self.add_argument("--quiet", action="store_true", default=unset, help=quiet)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, and say in the options which parser, the innermost one, has read them."""
        options, rest = super().parse_known_args(args, namespace)
        if not hasattr(options, "parser"):
            options.parser = self
        return options, rest

    def refuse(self, rest: list[str]) -> NoReturn:
        """Refuse words that are not options, with the option or setting they are like."""
        word = next((w for w in rest if w.startswith("-")), rest[0]).partition("=")[0]
        key, known = word.strip("-").replace("-", "_"), list(self._option_string_actions)
        sections = plain(Recipe()).items() if "--set" in known else ()
        near = [f"--set {section}.{key}=…" for section, values in sections if key in values]
        near += difflib.get_close_matches(word, known, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        self.error(f"unrecognized arguments: {' '.join(rest)}{hint}")

    def error(self, message: str) -> NoReturn:
        """Print a mistake in one line, with where to read more, and end."""
        if found := _CHOICE.search(message):
            near = difflib.get_close_matches(found[1], re.findall(r"[\w-]+", found[2]), n=1)
            message += f"; did you mean {near[0]}?" if near else ""
        self.exit(2, printable(f"dgb: {message}; see `{self.prog} --help`") + "\n")
