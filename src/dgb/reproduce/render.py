"""The paper's tables as Markdown and as pages: our figures next to the published ones.

A cell is mean ± std (n), with the published figure next to it, and whether they agree.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np

from dgb.baselines.methods import METHODS
from dgb.files.atomic import write_text
from dgb.measure.job import Line
from dgb.pages import (
    Part,
    html_page,
    html_row,
    html_table,
    make_note,
    markdown_table,
    mean_std,
    spread,
)
from dgb.reproduce.published import DATASETS, Anchor, Cell, anchors, find_published, rows
from dgb.reproduce.results import Pairs, of_probe

TITLES = {
    "table2": "Table 2: accuracy on test nodes, in percent",
    "table3": "Table 3: pairs of augmented views, accuracy in percent",
    "table4": "Table 4: ablation, accuracy in percent",
    "parts": "The default recipe: what each of its parts brings, accuracy in percent",
}
NOTE = (
    "mean ± standard deviation over (n) independent trainings, test nodes of the public split; "
    "every choice was made on validation. Then the published figure (the paper's, else the one of "
    "docs/results.md), the difference, and = where it lies inside the 95 % t interval of our mean, "
    "≠ where it does not; ▼ where we fall short of it by more than two published deviations, or "
    "1.5 points where none is published. In parentheses: published, not measured by us."
)
BY_DGI = (
    "The same trainings by DGI's probe: the mean of 50 linear heads, 100 steps of Adam, rows as "
    "they are"
)
# Rows that no published table has, and what they are.
OWN_TITLES = {
    "deepwalk-alone": "DeepWalk, without features",
    "dgb-shared": "DGB, one recipe for all",
    "dgb-default": "DGB, default recipe",
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
    def interval(self) -> tuple[float, float] | None:
        """The 95 % t interval of the mean; one training has none."""
        n = len(self.values)
        if n < 2:
            return None
        from scipy.stats import t

        mean, std = mean_std(self.values)
        half = float(t.ppf(0.975, n - 1)) * std / np.sqrt(n)
        return mean - half, mean + half

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        return None if self.paper is None else mean_std(self.values)[0] - self.paper.mean

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


def write_table(table: str, pairs: Pairs, results: Path) -> str:
    """Write results/TABLE.md and results/TABLE.html from lines; return the Markdown."""
    parts = [make_note(NOTE), _tables(summarise(table, of_probe(pairs, is_dgi=False)))]
    if dgi := of_probe(pairs, is_dgi=True):
        again = [row for row in summarise(table, dgi) if row.measured]
        parts += [(f"{BY_DGI}:", f"<h2>{escape(BY_DGI)}</h2>"), _tables(again)]
    return write_page(results / table, TITLES[table], parts)


def write_page(stem: Path, title: str, parts: Iterable[Part]) -> str:
    """Write the parts of a page below its title, as .md and as .html; return the Markdown."""
    texts, bodies = zip(*parts, strict=True)
    text = "\n\n".join([f"# {title}", *texts]) + "\n"
    write_text(stem.with_suffix(".md"), text)
    write_text(stem.with_suffix(".html"), html_page(title, "\n".join(bodies)))
    return text


def _tables(rows: list[SummaryRow]) -> Part:
    datasets = list(dict.fromkeys(d for row in rows for d in (*row.paper, *row.measured)))
    head = "", *(dataset.replace("_", " ").capitalize() for dataset in datasets)
    cells = [(row.title, *(_text(row, d) for d in datasets)) for row in rows]
    made = [html_row((escape(row.title), *(_html(row, d) for d in datasets))) for row in rows]
    return markdown_table(head, cells, is_narrow=True), html_table(head, made)


def _text(row: SummaryRow, dataset: str) -> str:
    cell, paper = row.measured.get(dataset), row.paper.get(dataset)
    if cell is None:
        return f"({_figure(paper)})" if paper else "–"
    return _ours(cell) + (f"; {_against(cell)}" if paper else "")


def _html(row: SummaryRow, dataset: str) -> str:
    cell, paper = row.measured.get(dataset), row.paper.get(dataset)
    if cell is None:
        return f'<span class="paper">({_figure(paper)})</span>' if paper else "–"
    mean = f"validation {sum(cell.validation) / len(cell.validation):.1f}"
    ours = f'<span title="{mean}">{_ours(cell)}</span>'
    if not paper:
        return ours
    kind = {True: "same", False: "other", None: ""}[cell.is_inside]
    return f'{ours}<br><span class="paper {kind}">{_against(cell)}</span>'


def _ours(cell: Measured) -> str:
    return f"{spread(cell.values)} ({len(cell.values)})"


def _against(cell: Measured) -> str:
    sign = {True: " =", False: " ≠", None: ""}[cell.is_inside]
    short = " ▼" if cell.is_short else ""
    return f"published {_figure(cell.paper)}, {cell.difference:+.1f}{sign}{short}"


def _figure(cell: Cell | None) -> str:
    assert cell is not None
    return f"{cell.mean:.1f}" + (f" ± {cell.std:.1f}" if cell.std is not None else "")


def summarise(table: str, pairs: Pairs) -> list[SummaryRow]:
    """Return the rows of a table by one probe: the paper's in its order, then those we added.

    After them stands what others have published on the same split and neither of us measured.
    """
    cells: dict[str, dict[str, list[Line]]] = {}
    for job, line in pairs:
        cells.setdefault(job.method, {}).setdefault(job.dataset, []).append(line)
    datasets = list(dict.fromkeys(job.dataset for job, _ in pairs))
    paper = {row.key: row.title for row in rows(table)} if table.startswith("table") else {}
    others = {anchor.key: anchor for anchor in anchors()} if table == "table2" else {}
    found = []
    for key in dict.fromkeys((*paper, *cells, *others)):
        # Of a system that the paper does not list, what is printed elsewhere.
        printed = others[key].cells if key in others else {}
        if key in paper:
            printed = {d: cell for d in DATASETS if (cell := find_published(table, key, d))}
        printed = {d: printed[d] for d in datasets if d in printed}
        own = cells.get(key, {})
        measured = {d: _measured(own[d], printed.get(d)) for d in datasets if d in own}
        title = paper.get(key) or (_own_title(key) if own else _anchor_title(others[key]))
        found.append(SummaryRow(key, title, measured, printed))
    return found


def _measured(lines: list[Line], paper: Cell | None) -> Measured:
    test, validation = (
        tuple(100 * line[name] for line in lines) for name in ("test_accuracy", "val_accuracy")
    )
    return Measured(test, validation, paper)


def _own_title(key: str) -> str:
    return OWN_TITLES.get(key, METHODS[key].title if key in METHODS else key)


def _anchor_title(anchor: Anchor) -> str:
    rerun = " / ".join(f"{cell.mean:.1f}" for cell in anchor.rerun.values())
    remarks = [remark for remark in ("published elsewhere", anchor.note, rerun) if remark]
    return f"{anchor.title} ({'; '.join(remarks)})"
