"""`dgb reproduce`: the paper's tables and figures, drop rates, claims, and a check of them.

Modules are imported when something is made: the names are known at once.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dgb.commands.options import add_count, add_data_options, add_list, check_counts
from dgb.errors import DGBError
from dgb.settings import split_list
from dgb.terminal import log, output, resumable

if TYPE_CHECKING:
    from dgb.measure.job import Place


class Asked(NamedTuple):
    """What is asked for; an empty choice is every data set, or every row."""

    datasets: tuple[str, ...] = ()
    runs: int | None = None
    methods: tuple[str, ...] = ()
    lines: int = 5


def make(what: str, place: "Place", asked: Asked) -> str:
    """Make one of MADE, with its files in the results folder; return what to print."""
    if asked.methods and what not in MEASURED:
        raise DGBError(f"--methods picks rows of {', '.join(MEASURED)}; {what} has none")
    if what not in MEASURED:  # those make it when they may write
        place.results.mkdir(parents=True, exist_ok=True)
    return MADE[what](what, place, asked)


def make_table(table: str, place: "Place", asked: Asked) -> str:
    """Measure what is missing of a table, or of some of its rows, and write it again."""
    from dgb.reproduce.plan import by_dgi_too, plan
    from dgb.reproduce.render import write_table
    from dgb.reproduce.results import measure_missing, table_lines

    try:
        jobs = plan(table, asked.datasets, asked.runs, asked.methods)
        measure_missing(by_dgi_too(jobs), place)
    finally:
        # All that the results hold is shown, also what another call has measured, and what there
        # is when a training has failed.
        pairs = table_lines(table, place.results)
        text = write_table(table, pairs, place.results) if pairs else ""
    return text


def make_hetero(table: str, place: "Place", asked: Asked) -> str:
    """Measure what is missing on data sets of several node types, or all at hand."""
    from dgb.evaluate.scores import why_not_scored
    from dgb.reproduce.results import measure_missing, table_lines
    from dgb.reproduce.typed_plan import load_set, locate, plan_hetero, sets_at_hand
    from dgb.reproduce.typed_table import write_hetero_table

    graphs = {name: load_set(name, place) for name in asked.datasets or sets_at_hand(place)}
    if not graphs:
        raise DGBError("no heterogeneous data set is there; name some with --datasets, as imdb")
    for name, graph in graphs.items():
        for note in graph.notes:
            log(f"note on {name}: {note}")
        if reason := why_not_scored(graph, 0):
            raise DGBError(f"nothing to measure {name} by: {reason}")
    jobs = plan_hetero(graphs, asked.runs, asked.methods)
    try:
        measure_missing([locate(job, place) for job in jobs], place)
    finally:
        pairs = table_lines(table, place.results)
        text = write_hetero_table(pairs, place.results) if pairs else ""
    return text


def make_table1(_: str, place: "Place", asked: Asked) -> str:
    """Count nodes, edges, features and classes of the data sets."""
    from dgb.reproduce.table1 import write_table1

    return write_table1(place, asked.datasets)


def make_figure2(_: str, place: "Place", _asked: Asked) -> str:
    """Draw the representations of Cora in the plane."""
    from dgb.reproduce.figures import draw_figure2

    return draw_figure2(place)


def make_rates(_: str, place: "Place", asked: Asked) -> str:
    """Choose the drop rates of Tables 3 and 4 on resplits."""
    from dgb.reproduce.rates import find_rates

    found = find_rates(asked.datasets, place)
    count = sum(len(cells) for cells in found.values())
    return (
        f"rates of {count} rows: {place.results / 'rates.toml'}\n"
        "copy it to src/dgb/reproduce/rates.toml and commit it before `dgb reproduce table3`"
    )


def make_curves(table: str, place: "Place", asked: Asked) -> str:
    """Measure validation accuracy by the length of training, and draw it."""
    from dgb.reproduce.curve_figure import write_curves
    from dgb.reproduce.curves import known_lines, measure_curves, plan_curves
    from dgb.reproduce.published import DATASETS

    try:
        measure_curves(plan_curves(asked.datasets, asked.runs, asked.methods), place)
    finally:
        lines = known_lines(table, plan_curves(DATASETS, runs=1), place.results)
        text = write_curves(lines, place.results) if lines else ""
    return text


def make_search(_: str, place: "Place", asked: Asked) -> str:
    """Search what the paper leaves open at its length, on resplits."""
    from dgb.reproduce.curves import measure_curves
    from dgb.reproduce.search import plan_search, write_search

    try:
        measure_curves(plan_search(asked.datasets, asked.runs), place)
    finally:
        text = write_search(place.results)
    return text


def make_by_test(_: str, place: "Place", _asked: Asked) -> str:
    """Show what choosing by test accuracy would have given; nothing else reads it."""
    from dgb.reproduce.by_test import look

    return look(place)


def make_claims(_: str, place: "Place", asked: Asked) -> str:
    """Hold the paper's observations against Tables 3 and 4 as measured, and against the curves."""
    from dgb.reproduce.claims import write_claims

    return write_claims(asked.datasets, place.results)


def make_verdicts(_: str, place: "Place", asked: Asked) -> str:
    """Measure some lines again; one that comes out otherwise is an error."""
    from dgb.reproduce.results import verdict_line, verify

    verdicts = verify(place, asked.lines)
    lines = [verdict_line(verdict) for verdict in verdicts]
    if any(verdict["same"] is False for verdict in verdicts):
        output(*lines)
        raise DGBError(
            "not every line came out the same: on another kind of machine, with other versions or "
            "other code that may be so; else report it"
        )
    return "\n".join(lines)


Make = Callable[[str, "Place", Asked], str]
MEASURED: dict[str, Make] = {
    **dict.fromkeys(("table2", "table3", "table4", "parts"), make_table),
    "hetero": make_hetero,
    "curves": make_curves,
}
MADE: dict[str, Make] = {
    "table1": make_table1,
    **MEASURED,
    "figure2": make_figure2,
    "rates": make_rates,
    "search": make_search,
    "claims": make_claims,
    "by-test": make_by_test,
    "verify": make_verdicts,
}


HELP = "measure the paper's tables, draw its figures"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the verb."""
    parser.add_argument("what", choices=tuple(MADE), metavar="|".join(MADE))
    usual = "(default: cora,citeseer,pubmed; of hetero all at hand; parts: files of graphs too)"
    add_list(parser, "--datasets", usual)
    add_list(parser, "--methods", "rows of the table (default: all)")
    add_count(parser, "--runs", None, "trainings a cell")
    add_count(parser, "--jobs", 1, "trainings at once")
    add_count(parser, "--lines", 5, "to verify")
    parser.add_argument(
        "--results", default="results", metavar="DIR", help="folder (default: results)"
    )
    add_data_options(parser)


def run(options: Namespace) -> None:
    """Measure a table or draw a figure of the paper, resuming an earlier call."""
    from dgb.measure.job import Place
    from dgb.reproduce.plan import check_datasets
    from dgb.reproduce.published import DATASETS
    from dgb.reproduce.typed_plan import TABLE as HETERO

    check_counts(options, "runs", "jobs", "lines")
    place = Place(Path(options.results), options.data_folder, options.jobs, offline=options.offline)
    asked = options.datasets
    if options.what == HETERO:
        datasets = split_list(asked or "")
    else:
        datasets = DATASETS if asked is None else check_datasets(asked, options.what)
    rest = (options.runs, split_list(options.methods or ""), options.lines)
    with resumable("what was measured is kept, the same command resumes"):
        made = make(options.what, place, Asked(datasets, *rest))
    output(*made.splitlines())
