"""From lines to cells: mean ± std (n), the published figure next to it, and whether they agree."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dgb.baselines.methods import METHODS
from dgb.measure.job import Job
from dgb.measure.table import mean_std
from dgb.reproduce.published import DATASETS, Anchor, Cell, anchors, find_published, rows

# Rows that no published table has, and what they are.
OWN_TITLES = {
    "deepwalk-alone": "DeepWalk, without features",
    "dgb-shared": "DGB, one recipe for all",
    "dgb-default": "DGB, default recipe",
    "dgb-plus": "DGB, a recipe of its own",
    "heat": "NFD + ADJ / ND + DIFF, heat kernel",
    "error 0.001": "NFD + ADJ / ND + DIFF, diffusion to 0.001",
    "heads 128": "NFD + ADJ / ND + DIFF, heads of 128",
    "embed-diff": "NFD + ADJ / ND + DIFF, embedded with DIFF (DGB-DIFF)",
}


@dataclass(frozen=True)
class Measured:
    """A cell as we measured it, in percent, with what the paper prints."""

    values: tuple[float, ...]
    validation: tuple[float, ...]
    paper: Cell | None

    @property
    def mean(self) -> float:
        """Mean over independent trainings."""
        return mean_std(list(self.values))[0]

    @property
    def std(self) -> float:
        """Sample standard deviation over independent trainings."""
        return mean_std(list(self.values))[1]

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % t interval of the mean; one training has none."""
        n = len(self.values)
        if n < 2:
            return None
        from scipy.stats import t

        half = float(t.ppf(0.975, n - 1)) * self.std / np.sqrt(n)
        return self.mean - half, self.mean + half

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        return None if self.paper is None else self.mean - self.paper.mean

    @property
    def is_short(self) -> bool:
        """Tell whether we fall short by more than two published deviations, or 1.5 points."""
        if self.paper is None or self.difference is None:
            return False
        return self.difference < -(1.5 if self.paper.std is None else 2 * self.paper.std)

    @property
    def is_inside(self) -> bool | None:
        """Tell whether the paper's figure lies inside our interval, as far as both exist."""
        if self.paper is None or self.interval is None:
            return None
        low, high = self.interval
        return bool(low <= self.paper.mean <= high)


@dataclass(frozen=True)
class SummaryRow:
    """A row of a table: measured cells by data set, and the published ones where ours are not."""

    key: str
    title: str
    measured: dict[str, Measured]
    paper: dict[str, Cell]


def summarise(table: str, pairs: list[tuple[Job, dict[str, Any]]]) -> list[SummaryRow]:
    """Return the rows of a table by one probe: the paper's in its order, then those we added."""
    cells: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for job, line in pairs:
        cells.setdefault((job.method, job.dataset), []).append(line)
    datasets = list(dict.fromkeys(job.dataset for job, _ in pairs))
    paper = {row.key: row for row in rows(table)} if table.startswith("table") else {}
    keys = [*paper, *(key for key in dict.fromkeys(m for m, _ in cells) if key not in paper)]
    known = [_row(table, key, paper, cells, datasets) for key in keys]
    return known + _anchor_rows(datasets, without=set(keys)) if table == "table2" else known


def _row(
    table: str,
    key: str,
    paper: dict[str, Any],
    cells: dict[tuple[str, str], list[dict[str, Any]]],
    datasets: list[str],
) -> SummaryRow:
    printed = _find_cells(table, key, key in paper)
    printed = {d: printed[d] for d in datasets if d in printed}
    measured = {}
    for d in (d for d in datasets if (key, d) in cells):
        test, validation = (
            tuple(100 * line[name] for line in cells[key, d])
            for name in ("test_accuracy", "val_accuracy")
        )
        measured[d] = Measured(test, validation, printed.get(d))
    method = METHODS.get(key)
    title = OWN_TITLES.get(key, method.title if method else key)
    return SummaryRow(key, paper[key].title if key in paper else title, measured, printed)


def _find_cells(table: str, key: str, is_in_paper: bool) -> dict[str, Cell]:
    """Return the paper's cells of a row; those of a system it does not list, from elsewhere."""
    if is_in_paper:
        cells = {d: find_published(table, key, d) for d in DATASETS}
        return {d: cell for d, cell in cells.items() if cell is not None}
    elsewhere = {anchor.key: anchor.cells for anchor in anchors()} if table == "table2" else {}
    return elsewhere.get(key, {})


def _anchor_rows(datasets: list[str], without: set[str]) -> list[SummaryRow]:
    """Return what others have published on the same split and the paper does not list."""
    return [
        SummaryRow(
            anchor.key,
            f"{anchor.title} ({'; '.join(_remarks(anchor))})",
            {},
            {d: cell for d, cell in anchor.cells.items() if d in datasets},
        )
        for anchor in anchors()
        if anchor.key not in without
    ]


def _remarks(anchor: Anchor) -> list[str]:
    rerun = " / ".join(f"{cell.mean:.1f}" for cell in anchor.rerun.values())
    remarks = ("published elsewhere", anchor.note, rerun)
    return [remark for remark in remarks if remark]
