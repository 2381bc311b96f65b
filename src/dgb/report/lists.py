"""Links and outliers on the page: the first rows of what `dgb links` and `dgb outliers` wrote."""

import csv
from collections.abc import Iterator
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any

from dgb.errors import DGBError
from dgb.pages import html_row, html_table, section
from dgb.report.map import LONGEST
from dgb.run.folder import EMBEDDINGS

SHOWN = 10  # rows of a list
Row = dict[str, str]
LINKS, OUTLIERS = "links.csv", "outliers.csv"


def lists_section(folder: Path) -> str:
    """Return what should be joined and what does not fit, or how to find out."""
    return "".join(_list_section(folder, *which) for which in (_LINKS, _OUTLIERS))


def _list_section(folder: Path, name: str, title: str, note: str, columns: Any) -> str:
    verb, path = Path(name).stem, folder / name
    again = f"<code>dgb {verb} {escape(str(folder))}</code>, then make this page again."
    if not path.exists():
        return section(
            verb, title, f'<p class="note">{note} They are listed here after {again}</p>'
        )
    if path.stat().st_mtime < (folder / EMBEDDINGS).stat().st_mtime:
        old = f"{name} is older than the vectors of this run. Renew it with"
        return section(verb, title, f'<p class="card missing">{old} {again}</p>')
    rows = _align_scores(list(_read(path, [key for key, _ in columns])))
    cells = [[_cell(row, key) for key, _ in columns] for row in rows]
    table = html_table([head for _, head in columns], map(html_row, cells), scope="col")
    more = f"The first {len(rows)} of <code>{name}</code>; a click shows a node on the map."
    return section(
        verb, title, f'<p class="note">{note} {more}</p><div class="found">{table}</div>'
    )


def _read(path: Path, wanted: list[str]) -> Iterator[Row]:
    """Yield the first rows of a list, no line of which is read beyond what is shown."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            if not set(wanted) <= set(reader.fieldnames or ()):
                raise DGBError(f"{path} lacks some of {', '.join(wanted)}; write it again")
            yield from islice(reader, SHOWN)
    except (csv.Error, UnicodeDecodeError) as error:
        verb = path.stem
        raise DGBError(f"{path} is damaged ({error}); run `dgb {verb}` again") from error


def _align_scores(rows: list[Row]) -> list[Row]:
    """Return the rows with as many decimals in each score; 0.947 is 0.9470 below 0.9573."""
    digits = [len((row["score"] or "").partition(".")[2]) for row in rows]
    try:
        return [row | {"score": f"{float(row['score'] or ''):.{max(digits)}f}"} for row in rows]
    except ValueError:  # not by us
        return rows


def _cell(row: Row, key: str) -> str:
    text = escape((row[key] or "–")[: 4 * LONGEST])
    if not key.endswith("_id"):
        return f'<td class="reason">{text}</td>' if key == "reason" else text
    return (
        f'<button type="button" class="node" data-node="{escape(row[key] or "")}">{text}</button>'
    )


_LINKS = (
    LINKS,
    "Suggested links",
    "Pairs of nodes without an edge that score highest, by a decoder or the cosine of vectors.",
    (
        ("node_id", "Node"),
        ("other_id", "Other"),
        ("score", "Score"),
        ("common_neighbors", "Common neighbors"),
    ),
)
_OUTLIERS = (
    OUTLIERS,
    "Outliers",
    "Nodes whose features do not fit those of their neighbors. The score counts standard "
    "deviations: 0 is usual, and from about 5 on it is worth a look.",
    (("node_id", "Node"), ("score", "Score"), ("reason", "Unlike its neighbors in")),
)
