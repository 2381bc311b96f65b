"""From a folder to its report.html."""

from pathlib import Path

from dgb.compare.runner import FILE as COMPARED
from dgb.compare.table import Table, read_table
from dgb.errors import DGBError
from dgb.page.shell import html_page
from dgb.report.comparison import comparison as comparison_body
from dgb.report.run_page import read_run, run_page
from dgb.run.folder import RECIPE, write_text

FILE = "report.html"


def write_report(folder: Path, comparison: Path | None = None) -> Path:
    """Write report.html into a run folder or a comparison's; return its path.

    With `comparison`, the page of a run shows it beside the other systems measured there.
    """
    if not folder.is_dir():
        raise DGBError(f"{folder} is no folder; give one that `dgb train` or `dgb compare` wrote")
    if (folder / RECIPE).exists():
        run, table = read_run(folder), read_table(comparison) if comparison else None
        if table and run.scores and table.graph_hash != run.scores.get("graph_hash"):
            raise DGBError(f"{comparison} compares systems on another graph than that of {folder}")
        write_text(folder / FILE, run_page(run, table))
        return folder / FILE
    if not (folder / COMPARED).exists():
        raise DGBError(f"{folder} holds neither a run ({RECIPE}) nor a comparison ({COMPARED})")
    if comparison:
        raise DGBError(f"{folder} is a comparison itself; give a run folder to set beside another")
    return write_comparison(folder, read_table(folder))


def write_comparison(folder: Path, table: Table) -> Path:
    """Write the page of a comparison whose table is known; return its path."""
    write_text(folder / FILE, html_page(table.title, comparison_body(table)))
    return folder / FILE
