"""`dgb reproduce`: the paper's tables and figures."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dgb.commands.options import Verbs, add_count, add_data_options, check_counts
from dgb.reproduce.make import MADE, Asked, make
from dgb.settings import listed
from dgb.terminal import log, output


def add_options(verbs: Verbs) -> ArgumentParser:
    """Add the verb and its options."""
    reproduce: ArgumentParser = verbs.add_parser(
        "reproduce", help="measure the paper's tables, draw its figures"
    )
    reproduce.add_argument("what", choices=tuple(MADE), metavar="|".join(MADE))
    reproduce.add_argument(
        "--datasets",
        metavar="A,B",
        help="(default: cora,citeseer,pubmed; of hetero all that are at hand)",
    )
    reproduce.add_argument(
        "--methods", default="", metavar="A,B", help="rows of the table (default: all)"
    )
    add_count(reproduce, "--runs", None, "trainings a cell")
    add_count(reproduce, "--jobs", 1, "trainings at once")
    add_count(reproduce, "--lines", 5, "to verify")
    reproduce.add_argument(
        "--results", default="results", metavar="DIR", help="folder (default: results)"
    )
    add_data_options(reproduce)
    return reproduce


def run(options: Namespace) -> None:
    """Measure a table or draw a figure of the paper, resuming an earlier call."""
    from dgb.measure.place import Place
    from dgb.reproduce.plan import check_datasets
    from dgb.reproduce.published import DATASETS
    from dgb.reproduce.typed_plan import TABLE as HETERO

    check_counts(options, "runs", "jobs", "lines")
    place = Place(Path(options.results), options.data_folder, options.jobs, offline=options.offline)
    asked = options.datasets
    if options.what == HETERO:
        datasets = listed(asked or "")
    else:
        datasets = DATASETS if asked is None else check_datasets(asked)
    try:
        rest = (options.runs, listed(options.methods), options.lines)
        made = make(options.what, place, Asked(datasets, *rest))
    except KeyboardInterrupt:
        log("dgb: stopped; what was measured is kept, the same command resumes")
        raise
    output(*made.splitlines())
