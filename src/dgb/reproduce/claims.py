"""What the paper reads off its tables, held against ours: does it hold on every data set?"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from dgb.errors import DGBError
from dgb.measure.job import Job
from dgb.measure.table import mean_std
from dgb.reproduce.plan import BEST, SWAPPED
from dgb.reproduce.published import rows


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


def check_claims(cells: dict[str, Cells]) -> str:
    """Return a Markdown table: for each claim and data set the difference and whether it holds."""
    for dataset, each in cells.items():
        wanted = {(table, row.key) for table in ("table3", "table4") for row in rows(table)}
        if missing := sorted(row for _, row in wanted - set(each)):
            raise DGBError(
                f"not measured on {dataset}: {', '.join(missing)}; `dgb reproduce table3`"
            )
    head = f"| the paper says | {' | '.join(d.capitalize() for d in cells)} |"
    lines = [head, f"|---|{'---|' * len(cells)}"]
    lines += [
        f"| {claim.text} | {' | '.join(verdict(*claim.pair(each)) for each in cells.values())} |"
        for claim in CLAIMS
    ]
    return "\n".join(lines) + "\n"


def verdict(higher: Values, lower: Values) -> str:
    """Return the difference and what Welch's test at 5 % says to it, one of many."""
    difference = mean_std(higher.test)[0] - mean_std(lower.test)[0]
    word = "holds" if difference > 0 else "does not"
    return f"{difference:+.1f}: {word}{'' if _is_certain(higher, lower) else ', within noise'}"


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


def _is_certain(higher: Values, lower: Values) -> bool:
    from scipy.stats import ttest_ind

    if min(len(higher.test), len(lower.test)) < 2:
        return False
    return bool(ttest_ind(higher.test, lower.test, equal_var=False).pvalue < 0.05)
