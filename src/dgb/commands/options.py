"""Options that several verbs share."""

import re
from argparse import Action, ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from dgb.errors import DGBError

GRAPH = "a known data set (dgb data list), a file of edges, or a folder with edges.* and nodes.*"


def add_recipe_options(parser: ArgumentParser) -> None:
    """Add which recipe with which settings, and what a graph is read from."""
    about = "a name or a .toml file (default: `default`, or `hetero` of several node types)"
    parser.add_argument("--recipe", help=about)
    add_set_option(parser)
    parser.add_argument("--seed", type=int, help="short for --set train.seed=SEED")
    add_graph_options(parser)


def add_set_option(parser: ArgumentParser, keys: str = "such as train.decay=0.9") -> None:
    """Add `--set`."""
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help=keys)


def add_graph_options(parser: ArgumentParser) -> None:
    """Add which files and columns a graph is read from."""
    parser.add_argument("--nodes", metavar="FILE", help="node rows, where GRAPH is a file of edges")
    parser.add_argument("--labels", metavar="FILE", help="ids and labels (and splits)")
    parser.add_argument("--id", metavar="COLUMN", help="id column of the node rows")
    parser.add_argument("--label", metavar="COLUMN", help="label column of the node rows")
    parser.add_argument("--ends", metavar="A,B", help="columns of the two ends of edges")
    parser.add_argument("--weight", metavar="COLUMN", help="weight column of the edges")
    add_list(parser, "--drop", "columns of the node rows to leave out")
    parser.add_argument("--encoding", dest="charset", metavar="NAME", help="of text files")
    add_data_options(parser)


def add_data_options(parser: ArgumentParser) -> None:
    """Add where data may come from."""
    parser.add_argument("--data-folder", metavar="DIR", help="local folder with data files")
    parser.add_argument("--offline", action="store_true", help="refuse to use the network")


class _Joined(Action):
    """An option whose values are joined, given as a list or several times."""

    def __call__(
        self, _parser: ArgumentParser, options: Namespace, values: Any, _option: str | None = None
    ) -> None:
        before = getattr(options, self.dest)
        setattr(options, self.dest, f"{before},{values}" if before else values)


def add_list(parser: ArgumentParser, name: str, about: str) -> None:
    """Add an option that is a list of names, and may be given several times."""
    parser.add_argument(name, action=_Joined, metavar="A,B", help=about)


def as_options(text: str) -> str:
    """Write a setting that a text advises, such as data.drop=age, as a command line takes it."""
    return re.sub(r"(?<![\w.])(?<!--set )(?=data\.\w+=)", "--set ", text)


def add_count(parser: ArgumentParser, name: str, default: int | None, about: str) -> None:
    """Add an option that is a number of things."""
    parser.add_argument(name, type=int, default=default, metavar="N", help=about)


def check_counts(options: Namespace, *names: str) -> None:
    """Refuse a number of runs, jobs and the like below one; what was not given is None."""
    for name in names:
        if (value := getattr(options, name)) is not None and value < 1:
            dashes = "-" if len(name) == 1 else "--"
            raise DGBError(f"{dashes}{name} must be at least 1, not {value}")


def check_out(out: str | None, default: Path) -> Path:
    """Return the file to write, of the default's kind or Parquet, in a folder that exists."""
    if not out:  # in a run folder, which is looked at with what else it needs
        return default
    path, suffixes = Path(out), dict.fromkeys((default.suffix, ".parquet"))
    if path.suffix not in suffixes or not path.parent.is_dir():
        kinds = " or ".join(suffixes)
        raise DGBError(f"--out must be a {kinds} file in a folder that exists, not {path}")
    return path
