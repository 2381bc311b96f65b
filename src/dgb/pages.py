"""Tables as text for the terminal, as Markdown and as HTML, and self-contained pages around them.

Of a page nothing is fetched, and nothing but its own script may run.
"""

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources
from string import Template
from typing import Any

import numpy as np

Cells = Sequence[str]
Part = tuple[str, str]  # of a page, in Markdown and in HTML


def mean_std(values: Sequence[float]) -> tuple[float, float]:
    """Return mean and sample standard deviation; the deviation of one value is 0."""
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def spread(values: Sequence[float], digits: int = 1) -> str:
    """Return mean ± standard deviation as text, one value without a deviation, none as nothing."""
    if not values:
        return ""
    mean, std = mean_std(values)
    text = f"{mean:.{digits}f}"
    return text if len(values) == 1 else f"{text} ± {std:.{digits}f}"


def percent(values: Iterable[float], digits: int = 1) -> str:
    """Return mean ± standard deviation of shares, in percent."""
    return spread([100 * value for value in values], digits)


def text_table(head: Cells, rows: Iterable[Cells], first: int = 0, cell: int = 0) -> str:
    """Return a table for the terminal: titles to the left, cells to the right of their columns.

    `first` and `cell` are the least widths of the first column and of the others.
    """
    rows = [head, *rows]
    longest = [max(len(row[i]) for row in rows) for i in range(len(head))]
    widths = [max(cell, width + 2) for width in longest[1:]]
    return "\n".join(
        f"{row[0]:{max(first, longest[0])}}"
        + "".join(f"{text:>{width}}" for text, width in zip(row[1:], widths, strict=True))
        for row in rows
    )


def markdown_table(head: Cells, rows: Iterable[Cells], *, is_narrow: bool = False) -> str:
    """Return a table in Markdown; a narrow one has no spaces where nothing stands."""
    lines = [_markdown(head), _markdown(["---"] * len(head)), *map(_markdown, rows)]
    if is_narrow:
        lines[:2] = [lines[0].replace("|  |", "| |", 1), lines[1].replace(" ", "")]
    return "\n".join(lines)


def _markdown(cells: Cells) -> str:
    return f"| {' | '.join(cells)} |"


def html_table(head: Cells, rows: Iterable[str], *, scope: str = "") -> str:
    """Return a table that scrolls on its own, of rows that `html_row` has made."""
    kind = f' scope="{scope}"' if scope else ""
    heads = "".join(f"<th{kind}>{escape(cell)}</th>" for cell in head)
    body = f"<tbody>\n{chr(10).join(rows)}\n</tbody>"
    return f'<div class="scroll"><table><thead><tr>{heads}</tr></thead>{body}</table></div>'


def html_row(cells: Iterable[str], *, is_ours: bool = False) -> str:
    """Return a row of cells that are HTML already; one may bring its own <td>."""
    made = (cell if cell.startswith("<td") else f"<td>{cell}</td>" for cell in cells)
    kind = ' class="ours"' if is_ours else ""
    return f"<tr{kind}>{''.join(made)}</tr>"


def make_note(text: str) -> Part:
    """Return a paragraph about a table."""
    return text, f'<p class="note">{escape(text)}</p>'


def make_list(lines: Iterable[str]) -> Part:
    """Return a list of lines."""
    lines = list(lines)
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return "\n".join(f"- {line}" for line in lines), f"<ul>{items}</ul>"


def html_page(
    title: str, body: str, *, facts: str = "", style: str = "", script: str = "", data: Any = None
) -> str:
    """Return a page of ready-made HTML below an escaped title and a line of facts.

    `data` is what the script reads, as JSON in the element #data.
    """
    code = read_part("page.js") + script
    values = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    values = values.replace("<", "\\u003c")  # which could end the element it stands in
    json_part = f'<script type="application/json" id="data">{values}</script>\n'
    digest = hashlib.sha256(code.encode("utf-8")).digest()
    return Template(read_part("page.html")).substitute(
        title=escape(title),
        facts=f'<p class="facts">{escape(facts)}</p>' if facts else "",
        style=read_part("page.css") + style,
        body=body,
        data="" if data is None else json_part,
        script=code,
        # What a Content-Security-Policy calls a script by, so that no other one runs.
        hash=f"sha256-{base64.b64encode(digest).decode()}",
    )


def section(key: str, title: str, body: str) -> str:
    """Return a part of the page below its heading."""
    head = f'<section aria-labelledby="{key}"><h2 id="{key}">{title}</h2>'
    return f"{head}{body}</section>\n"


def read_part(name: str) -> str:
    """Return a file of the report: a style, a script or a template."""
    return (resources.files("dgb.report") / name).read_text("utf-8")
