"""What the paper reads off its tables, held against ours: does it hold on every data set?"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from dgb.errors import DGBError
from dgb.files.atomic import write_text
from dgb.measure.job import Job, Line
from dgb.pages import markdown_table, mean_std
from dgb.reproduce.curves import known_lines, plan_curves
from dgb.reproduce.plan import MOST_RUNS, by_dgi_too, plan
from dgb.reproduce.published import BEST, SWAPPED, rows
from dgb.reproduce.results import match_lines, of_probe


class Values(NamedTuple):
    """Accuracies of a cell in percent, one a training."""

    test: list[float]
    validation: list[float]


Cells = dict[tuple[str, str], Values]  # (table, row) of one data set
Pair = tuple[Values, Values]  # what is said to be higher, and what lower


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and the two sets of trainings that decide on it."""

    text: str
    pair: Callable[[Cells], Pair]


def _row(table: str, key: str) -> Callable[[Cells], Values]:
    return lambda cells: cells[table, key]


def _best(group: str, *without: str) -> Callable[[Cells], Values]:
    """Return the best row of a group of Table 3, which validation chooses: it is tested next."""
    keys = [row.key for row in rows("table3") if row.group == group and row.key not in without]
    return lambda cells: max((cells["table3", key] for key in keys), key=_choice)


def _worst(group: str) -> Callable[[Cells], Values]:
    keys = [row.key for row in rows("table3") if row.group == group]
    return lambda cells: min((cells["table3", key] for key in keys), key=_choice)


def _claim(text: str, higher: Callable[[Cells], Values], lower: Callable[[Cells], Values]) -> Claim:
    return Claim(text, lambda cells: (higher(cells), lower(cells)))


NONE, DIFF = _row("table3", "in+adj|in+adj"), _row("table3", "in+diff|in+adj")
DGB = _row("table4", "dgb")
CLAIMS = (
    _claim("1. Node augmentation helps (best NODE row against NO)", _best("node"), NONE),
    _claim("1. Adjacency augmentation helps (DIFF / ADJ against NO)", DIFF, NONE),
    _claim("1. Both together are best (best NODE + ADJ row against best NODE row)",
           _best("node+adj"), _best("node")),
    _claim("2. NFD does better than ND (IN / NFD against IN / ND)",
           _row("table3", "in+adj|nfd+adj"), _row("table3", "in+adj|nd+adj")),
    _claim("2. NFD does better than ND (NFD / NFD against ND / ND)",
           _row("table3", "nfd+adj|nfd+adj"), _row("table3", "nd+adj|nd+adj")),
    _claim("3. NFD / ND beats the rest of the NODE rows",
           _row("table3", "nfd+adj|nd+adj"), _best("node", "nfd+adj|nd+adj")),
    _claim("3. NFD + ADJ / ND + DIFF beats all but its swap",
           _row("table3", BEST), _best("node+adj", BEST, SWAPPED)),
    _claim("3. ND + ADJ / NFD + DIFF beats all but its swap",
           _row("table3", SWAPPED), _best("node+adj", BEST, SWAPPED)),
    _claim("4. NFD + ADJ / ND + DIFF beats ND + ADJ / NFD + DIFF",
           _row("table3", BEST), _row("table3", SWAPPED)),
    _claim("5. Node augmentation beats adjacency augmentation (worst NODE row against DIFF / ADJ)",
           _worst("node"), DIFF),
    _claim("The projection helps (DGB against without projection)",
           DGB, _row("table4", "without-projection")),
    _claim("Copying the target hurts (DGB against p = 0)", DGB, _row("table4", "p=0")),
    _claim("Freezing the target hurts (DGB against p = 1)", DGB, _row("table4", "p=1")),
    _claim("p = 0 is better than p = 1", _row("table4", "p=0"), _row("table4", "p=1")),
)  # fmt: skip


BY_TEST, BY_LENGTH = "On test nodes", "On validation nodes of {}, by the number of steps"
PROBES = {"solved": "the solved probe", "dgi": "DGI's probe"}
NOT_MEASURED = "–"


def write_claims(datasets: tuple[str, ...], results: Path) -> str:
    """Write results/claims.md: test accuracy by either probe, then the curves; return the text."""
    jobs = [job for t in ("table3", "table4") for job in plan(t, datasets, MOST_RUNS)]
    pairs = match_lines(by_dgi_too(jobs), results)
    tables = {}
    for probe, name in PROBES.items():
        cells = cells_of(of_probe(pairs, is_dgi=probe == "dgi"))
        tables[f"{BY_TEST}, by {name}"] = check_claims(cells) if cells else ""
    for dataset in datasets:
        curves = known_lines("curves", plan_curves((dataset,), runs=1), results)
        for probe, name in PROBES.items():
            title = f"{BY_LENGTH.format(dataset.capitalize())}, by {name}"
            tables[title] = judge_claims(cells_by_length(curves, probe)) if curves else ""
    text = "\n".join(f"{title}\n\n{table}" for title, table in tables.items() if table)
    write_text(results / "claims.md", text)
    return text


def check_claims(cells: dict[str, Cells]) -> str:
    """Return the table of all claims by columns that have all rows of both tables."""
    for column, each in cells.items():
        wanted = {(table, row.key) for table in ("table3", "table4") for row in rows(table)}
        if missing := sorted(row for _, row in wanted - set(each)):
            raise DGBError(
                f"not measured on {column}: {', '.join(missing)}; `dgb reproduce table3`"
            )
    return judge_claims(cells)


def judge_claims(cells: dict[str, Cells]) -> str:
    """Return a Markdown table: for each claim and column the difference and whether it holds.

    Claims on rows that no column has are left out.
    """
    made = [(claim.text, *(_judge(claim, each) for each in cells.values())) for claim in CLAIMS]
    shown = [row for row in made if set(row[1:]) != {NOT_MEASURED}]
    head = ("the paper says", *(column.capitalize() for column in cells))
    return markdown_table(head, shown, is_narrow=True) + "\n"


def _judge(claim: Claim, cells: Cells) -> str:
    try:
        pair = claim.pair(cells)
    except KeyError:  # the best of a group is known when all of it is
        return NOT_MEASURED
    return verdict(*pair)


def cells_by_length(lines: Sequence[Line], probe: str) -> dict[str, Cells]:
    """Return validation accuracies of the curves as cells, by the number of steps."""
    cells: dict[str, Cells] = {}
    for line in lines:
        for steps, scores in line["scores"].items():
            if steps == "0":
                continue  # the same encoder for all
            own = cells.setdefault(steps, {})
            for key in _places(line["method"]):
                values = own.setdefault(key, Values([], []))
                values.test.append(100 * scores[probe])
                values.validation.append(100 * scores["resplit"])
    return cells


def _places(row: str) -> list[tuple[str, str]]:
    """Return where a row of the curves stands in Tables 3 and 4: the best pair in both."""
    places = [("table3" if "|" in row else "table4", row)]
    return [*places, ("table4", "dgb")] if row == BEST else places


def verdict(higher: Values, lower: Values) -> str:
    """Return the difference and what Welch's test at 5 % says to it, one of many."""
    difference = mean_std(higher.test)[0] - mean_std(lower.test)[0]
    return f"{difference:+.1f}: {'holds' if difference > 0 else 'does not'}{_doubt(higher, lower)}"


def _doubt(higher: Values, lower: Values) -> str:
    from scipy.stats import ttest_ind

    if min(len(higher.test), len(lower.test)) < 2:
        return ", one training"  # nobody knows its noise
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # trainings may agree to the digit
        is_certain = ttest_ind(higher.test, lower.test, equal_var=False).pvalue < 0.05
    return "" if is_certain else ", within noise"


def cells_of(pairs: list[tuple[Job, dict[str, Any]]]) -> dict[str, Cells]:
    """Return the accuracies of each data set by table and row."""
    cells: dict[str, Cells] = {}
    for job, line in pairs:
        own = cells.setdefault(job.dataset, {})
        values = own.setdefault((job.table, job.method), Values([], []))
        values.test.append(100 * line["test_accuracy"])
        values.validation.append(100 * line["val_accuracy"])
    return cells


def _choice(values: Values) -> float:
    return mean_std(values.validation)[0]
