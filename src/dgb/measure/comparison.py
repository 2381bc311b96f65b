"""A comparison as a table: made of lines, and read again from its folder."""

from pathlib import Path
from typing import NamedTuple

from dgb.baselines.methods import METHODS
from dgb.errors import DGBError
from dgb.files.atomic import read_lines, write_text
from dgb.measure.compare import COMPARISON
from dgb.measure.job import Line
from dgb.pages import markdown_table, mean_std, spread, text_table

MARKDOWN = "compare.md"
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
    share: float  # of the best in the column that rows are ordered by


class Comparison(NamedTuple):
    """All rows, and remarks on systems that are missing or have failed."""

    title: str
    head: tuple[str, ...]
    note: str
    rows: list[Row]
    remarks: list[str]
    graph_hash: str = ""
    ordered_by: int = 1  # the column


def make_comparison(title: str, lines: list[Line], remarks: list[str]) -> Comparison:
    """Return the table of a comparison, best validation accuracy first."""
    is_scored = any("test_accuracy" in line for line in lines)
    first, second = ("test_accuracy", "val_accuracy") if is_scored else ("effective_rank", "")
    head, note = (HEAD, NOTE) if is_scored else (HEAD_WITHOUT_LABELS, NOTE_WITHOUT_LABELS)
    lines = [line for line in lines if first in line]
    keys = dict.fromkeys(line["method"] for line in lines)
    by_key = {key: [line for line in lines if line["method"] == key] for key in keys}
    means = {key: _mean(own, second or first) for key, own in by_key.items()}
    most = max(means.values(), default=0) or 1
    order = sorted(means, key=lambda key: -means[key])
    rows = [Row(key, _cells(by_key[key], first, second), means[key] / most) for key in order]
    graph_hash = lines[-1].get("graph_hash", "") if lines else ""
    return Comparison(title, head, note, rows, remarks, graph_hash, 2 if second else 1)


def as_text(table: Comparison) -> str:
    """Return the table for the terminal."""
    return "\n".join([text_table(table.head, [row.cells for row in table.rows]), *table.remarks])


def write(table: Comparison, folder: Path) -> None:
    """Write compare.md."""
    body = markdown_table(table.head, [row.cells for row in table.rows])
    remarks = "".join(f"\n- {line}" for line in table.remarks)
    text = f"# {table.title}\n\n{table.note}\n\n{body}\n" + (f"{remarks}\n" if remarks else "")
    write_text(folder / MARKDOWN, text)


def read_comparison(folder: Path) -> Comparison:
    """Return the table of a comparison's folder, a system's last settings where it has several."""
    needed = {"graph", "graph_hash", "method", "recipe", "seed"}
    known = [line for line in read_lines(folder / COMPARISON) if needed <= line.keys()]
    lines = [line for line in known if str(line["method"]) in METHODS]
    if not lines:
        raise DGBError(f"{folder} holds no comparison ({COMPARISON}); make one with `dgb compare`")
    try:
        same = [line for line in lines if line["graph_hash"] == lines[-1]["graph_hash"]]
        last = {line["method"]: line["recipe"] for line in same}
        shown = [line for line in same if line["recipe"] == last[line["method"]]]
        remarks = _read_remarks(folder / MARKDOWN)
        if left := len(lines) - len(shown):
            remarks.append(f"{left} older measurements, of other settings or data, are left out")
        return make_comparison(f"Systems on {shown[-1]['graph']}", shown, remarks)
    except (TypeError, ValueError, ArithmeticError) as error:
        raise DGBError(
            f"{folder / COMPARISON} is not as `dgb compare` writes it ({error!r}); compare again"
        ) from error


def _read_remarks(path: Path) -> list[str]:
    """Return the remarks that `write` left: what failed is in no line of measurements."""
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [line.removeprefix("- ") for line in lines if line.startswith("- ")]


def _cells(lines: list[Line], first: str, second: str) -> tuple[str, ...]:
    factor = 100 if second else 1
    shown = (spread([factor * v for v in _values(lines, name)]) for name in (first, second))
    means = ((_values(lines, name), _mean(lines, name)) for name in ("seconds", "peak_mb"))
    cost = (f"{mean:.{int(mean < 10)}f}" if values else "" for values, mean in means)
    runs = len({line["seed"] for line in lines})
    splits = f" × {len(lines) // runs}" if len(lines) > runs else ""
    return (METHODS[lines[0]["method"]].title, *shown, *cost, f"{runs}{splits}")


def _values(lines: list[Line], name: str) -> list[float]:
    return [line[name] for line in lines if line.get(name) is not None]


def _mean(lines: list[Line], name: str) -> float:
    values = _values(lines, name)
    return mean_std(values)[0] if values else 0.0
