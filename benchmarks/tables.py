"""Tables of the figures in results/bench-*.json, with the verdict on ours in words."""

from collections.abc import Callable, Iterable

import records
from fresh import Figures

Column = tuple[str, Callable[[Figures], str]]
SAME = 0.02  # a difference that two runs of the same thing have


def number(value: float | None, unit: str = "") -> str:
    """Return three digits of a number, a dash for none."""
    if value is None:
        return "–"
    digits = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{digits}{unit}"


def faster(row: Figures) -> str:
    """Say in words how ours compares in time."""
    return _verdict(row, "times_our_time", "faster", "ours is behind")


def smaller(row: Figures) -> str:
    """Say in words how ours compares in memory above the imports."""
    if row["kind"] == "floor":  # products hold no graph and no model: no bound of memory
        return "–"
    return _verdict(row, "times_our_memory", "smaller", "ours is larger")


def _verdict(row: Figures, key: str, better: str, worse: str) -> str:
    ratio = row.get(key)
    if ratio is None or row["name"] == row["against"]:
        return "–" if ratio is None else "ours"
    if row["kind"] == "floor":
        return f"ours takes {1 / ratio:.2f} × this"
    if row["kind"] == "ours":
        return f"{ratio:.2f} × {row['against']}"
    if abs(ratio - 1) <= SAME:
        return "the same"
    return f"ours is {ratio:.2g} × {better}" if ratio > 1 else f"**{worse}**: {ratio:.2f} ×"


MEMORY: tuple[Column, ...] = (
    ("peak MB", lambda row: number(row.get("peak_mb"))),
    ("above imports", lambda row: number(row.get("above_mb"))),
    ("memory", smaller),
)
STEP: tuple[Column, ...] = (("ms", lambda row: number(row.get("ms"))), ("time", faster), *MEMORY)
DIFFUSION: tuple[Column, ...] = (
    ("build S, s", lambda row: number(row.get("build_s"))),
    ("apply, s", lambda row: number(row.get("apply_s"))),
    ("time", faster),
    ("error of S X", lambda row: _power(row.get("error"))),
    ("mass kept", lambda row: _percent(row.get("mass"))),
    *MEMORY,
)
GROWTH: tuple[Column, ...] = (
    *(
        (f"{part}, s", lambda row, part=part: number(row.get(f"{part}_s")))
        for part in ("load", "prepare", "epoch", "embed")
    ),
    ("peak MB", lambda row: number(row.get("peak_mb"))),
    ("above imports", lambda row: number(row.get("above_mb"))),
    ("anonymous MB", lambda row: number(row.get("anonymous_mb"))),
)
COMPILED: tuple[Column, ...] = (
    ("ms", lambda row: number(row.get("ms"))),
    ("against eager", lambda row: number(row.get("times_our_time"), " ×")),
    ("first steps (compiling), s", lambda row: number(row.get("first_s"))),
)
MILLION: tuple[Column, ...] = (
    ("validation", lambda row: _percent(row.get("validation"))),
    ("test", lambda row: _percent(row.get("test"))),
)
WAITING: tuple[Column, ...] = (
    ("seconds", lambda row: number(row.get("seconds"))),
    ("against passive", lambda row: number(row.get("times_our_time"), " ×")),
    ("CPU seconds", lambda row: number(row.get("cpu_s"))),
)
PARTS: tuple[Column, ...] = (
    ("Cora, s", lambda row: number(row.get("cora_s"))),
    ("Citeseer, s", lambda row: number(row.get("citeseer_s"))),
    ("Pubmed, s", lambda row: number(row.get("pubmed_s"))),
)
COLUMNS = {
    "step": STEP,
    "diffusion": DIFFUSION,
    "growth": GROWTH,
    "compiled": COMPILED,
    "million": MILLION,
    "waiting": WAITING,
    "parts": PARTS,
}


def table(topic: str) -> str:
    """Return the Markdown table of a topic such as step-cora."""
    rows = records.read(topic).get("rows", [])
    if not rows:
        return "not measured yet"
    columns = COLUMNS[topic.partition("-")[0]]
    threads = rows[0]["threads"]
    lines = [["", *(title for title, _ in columns)]]
    lines += [[_name(row, threads), *_cells(row, columns)] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        [_line(lines[0], widths), _rule(widths), *(_line(x, widths) for x in lines[1:])]
    )


def _name(row: Figures, threads: int) -> str:
    other = "" if row["threads"] == threads else f" ({row['threads']} threads)"
    return f"{row['name']}{other}"


def _cells(row: Figures, columns: Iterable[Column]) -> list[str]:
    cells = [cell(row) for _, cell in columns]
    if "failed" in row:
        cells[-1] = f"failed: {row['failed']}".replace("|", "/")
    return cells


def _line(cells: list[str], widths: list[int]) -> str:
    return "| " + " | ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)) + " |"


def _rule(widths: list[int]) -> str:
    return "|" + "|".join("-" * (width + 2) for width in widths) + "|"


def _power(value: float | None) -> str:
    return "–" if value is None else f"{value:.1e}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"
