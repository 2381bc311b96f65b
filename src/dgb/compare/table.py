"""A comparison as a table: on the terminal, in Markdown and as a page."""

from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from dgb.baselines.methods import METHODS
from dgb.reproduce.render import html_page
from dgb.run.folder import write_text
from dgb.run.repeat import mean_std

HEAD = ("", "test accuracy", "validation", "seconds", "peak MB", "runs")
HEAD_WITHOUT_LABELS = ("", "effective rank", "", "seconds", "peak MB", "runs")
NOTE = (
    "Accuracy in percent, mean ± standard deviation over independent trainings and their splits "
    "(trainings × splits a training); every choice was made on validation nodes, and rows are "
    "ordered by validation, by which to choose. Seconds are those of one training, peak MB is the "
    "most memory that its process held."
)
NOTE_WITHOUT_LABELS = (
    "Without labels there is no accuracy; the effective rank says how many directions the "
    "embeddings use. Mean ± standard deviation over independent trainings."
)


class Row(NamedTuple):
    """A system's cells as text, and how long its bar is on the page."""

    key: str
    cells: tuple[str, ...]
    share: float  # of the best test accuracy


class Table(NamedTuple):
    """All rows, and remarks on systems that are missing or have failed."""

    title: str
    head: tuple[str, ...]
    note: str
    rows: list[Row]
    remarks: list[str]


def make_table(title: str, lines: list[dict[str, Any]], remarks: list[str]) -> Table:
    """Return the table of a comparison, best validation accuracy first."""
    is_scored = any("test_accuracy" in line for line in lines)
    first, second = ("test_accuracy", "val_accuracy") if is_scored else ("effective_rank", "")
    lines = [line for line in lines if first in line]
    keys = dict.fromkeys(line["method"] for line in lines)
    by_key = {key: [line for line in lines if line["method"] == key] for key in keys}
    order = sorted(by_key, key=lambda key: -_mean(by_key[key], second or first))
    most = max((_mean(own, first) for own in by_key.values()), default=0) or 1
    rows = [
        Row(key, _cells(key, by_key[key], first, second), _mean(by_key[key], first) / most)
        for key in order
    ]
    if is_scored:
        return Table(title, HEAD, NOTE, rows, remarks)
    return Table(title, HEAD_WITHOUT_LABELS, NOTE_WITHOUT_LABELS, rows, remarks)


def as_text(table: Table) -> str:
    """Return the table for the terminal."""
    rows = [table.head, *(row.cells for row in table.rows)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(table.head))]
    lines = [
        f"{row[0]:{widths[0]}}  "
        + "  ".join(f"{cell:>{w}}" for cell, w in zip(row[1:], widths[1:], strict=True))
        for row in rows
    ]
    return "\n".join([*lines, *table.remarks])


def write(table: Table, folder: Path) -> None:
    """Write compare.md and compare.html."""
    write_text(folder / "compare.md", _markdown(table))
    write_text(folder / "compare.html", _page(table))


def _markdown(table: Table) -> str:
    rows = [table.head, ("---",) * len(table.head), *(row.cells for row in table.rows)]
    body = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    remarks = "".join(f"\n- {line}" for line in table.remarks)
    return f"# {table.title}\n\n{table.note}\n\n{body}\n" + (f"{remarks}\n" if remarks else "")


def _page(table: Table) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in table.head)
    body = "\n".join(_page_row(row) for row in table.rows)
    remarks = "".join(f"<li>{escape(line)}</li>" for line in table.remarks)
    return html_page(
        table.title,
        f"<p>{escape(table.note)}</p>\n<table><thead><tr>{head}</tr></thead>\n"
        f"<tbody>{body}</tbody></table>" + (f"<ul>{remarks}</ul>" if remarks else ""),
    )


def _page_row(row: Row) -> str:
    title, first, *others = (escape(cell) for cell in row.cells)
    bar = f'<div class="bar" style="width:{100 * row.share:.1f}%"></div>'
    cells = "".join(f"<td>{cell}</td>" for cell in others)
    kind = ' class="ours"' if row.key == "dgb" else ""
    return f"<tr{kind}><td>{title}</td><td>{first}{bar}</td>{cells}</tr>"


def _cells(key: str, lines: list[dict[str, Any]], first: str, second: str) -> tuple[str, ...]:
    factor = 100 if second else 1
    shown = (_spread(_values(lines, name, factor)) for name in (first, second))
    cost = (_plain(_values(lines, name)) for name in ("seconds", "peak_mb"))
    runs = len({line["seed"] for line in lines})
    splits = f" × {len(lines) // runs}" if len(lines) > runs else ""
    return (METHODS[key].title, *shown, *cost, f"{runs}{splits}")


def _values(lines: list[dict[str, Any]], name: str, factor: float = 1) -> list[float]:
    return [factor * line[name] for line in lines if line.get(name) is not None]


def _spread(values: list[float]) -> str:
    if not values:
        return ""
    mean, std = mean_std(values)
    return f"{mean:.1f}" if len(values) == 1 else f"{mean:.1f} ± {std:.1f}"


def _plain(values: list[float]) -> str:
    if not values:
        return ""
    mean, _ = mean_std(values)
    return f"{mean:.1f}" if mean < 10 else f"{mean:.0f}"


def _mean(lines: list[dict[str, Any]], name: str) -> float:
    values = _values(lines, name)
    return mean_std(values)[0] if values else 0.0
