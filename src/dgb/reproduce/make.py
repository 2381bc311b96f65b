"""Everything that can be reproduced by name: tables, figures, drop rates, and a check of them."""

from collections.abc import Callable

from dgb.errors import DGBError
from dgb.files.atomic import write_text
from dgb.measure.place import Place
from dgb.measure.runner import matched, run
from dgb.reproduce.architecture import draw_architecture
from dgb.reproduce.claims import cells_of, check_claims
from dgb.reproduce.figures import make_figure2
from dgb.reproduce.plan import MOST_RUNS, TABLES, plan
from dgb.reproduce.published import DATASETS
from dgb.reproduce.rates import find_rates
from dgb.reproduce.render import write_table
from dgb.reproduce.summary import summarise
from dgb.reproduce.table1 import write_table1
from dgb.reproduce.typed import make_hetero
from dgb.reproduce.typed_plan import TABLE as HETERO
from dgb.reproduce.verify import verdict_line, verify

Datasets = tuple[str, ...]


def make(
    what: str,
    place: Place,
    datasets: Datasets,
    runs: int | None = None,
    *,
    methods: tuple[str, ...] = (),
    lines: int = 5,
) -> str:
    """Make one of them, with its files in the results folder; return what to print."""
    if what in TABLES:
        return make_table(what, place, datasets, runs, methods)
    if what == HETERO:
        return make_hetero(place, datasets, runs, methods)
    if methods:
        raise DGBError(f"--methods picks rows of {', '.join(TABLES)}, {HETERO}; {what} has none")
    makers: dict[str, Callable[[], str]] = {
        "table1": lambda: write_table1(place, datasets),
        "figure1": lambda: "\n".join(map(str, draw_architecture(place.results / "figure1"))),
        "figure2": lambda: make_figure2(place),
        "rates": lambda: make_rates(place, datasets),
        "claims": lambda: make_claims(place, datasets),
        "verify": lambda: make_verdicts(place, lines),
    }
    place.results.mkdir(parents=True, exist_ok=True)
    return makers[what]()


def make_table(
    table: str,
    place: Place,
    datasets: Datasets,
    runs: int | None = None,
    methods: tuple[str, ...] = (),
) -> str:
    """Measure what is missing of a table, or of some of its rows, and write it anew."""
    try:
        run(plan(table, datasets, runs, methods), place)
    finally:
        # All that the results hold is shown, also what another call has measured, and what there
        # is when a training has failed.
        pairs = matched(plan(table, DATASETS, MOST_RUNS), place.results)
        text = write_table(table, summarise(table, pairs), place.results) if pairs else ""
    return text


def make_rates(place: Place, datasets: Datasets) -> str:
    """Choose Table 3's drop rates on validation."""
    found = find_rates(datasets, place)
    count = sum(len(cells) for cells in found.values())
    return (
        f"rates of {count} cells: {place.results / 'rates.toml'}\n"
        "copy it to src/dgb/reproduce/rates.toml and commit it before `dgb reproduce table3`"
    )


def make_claims(place: Place, datasets: Datasets) -> str:
    """Hold the paper's observations against Tables 3 and 4 as measured."""
    jobs = [job for table in ("table3", "table4") for job in plan(table, datasets, MOST_RUNS)]
    text = check_claims(cells_of(matched(jobs, place.results)))
    write_text(place.results / "claims.md", text)
    return text


def make_verdicts(place: Place, lines: int) -> str:
    """Measure some lines again; one that comes out otherwise is an error."""
    verdicts = verify(place, lines)
    text = "\n".join(verdict_line(verdict) for verdict in verdicts)
    if any(verdict["same"] is False for verdict in verdicts):
        raise DGBError(
            "not every line came out the same: on another kind of machine, with other versions or "
            f"other code that may be so; else report it\n{text}"
        )
    return text
