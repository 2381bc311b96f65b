"""results/bench-*.json: rows of figures, each with its ratio to ours, and what they ran on."""

import json
from pathlib import Path
from typing import Any

import torch

from dgb.run.machine import machine_kind, versions
from fresh import Figures

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results"


def write(topic: str, rows: list[Figures], **more: Any) -> None:
    """Write the rows of a topic; rows that this run did not measure stay as they were."""
    RESULTS.mkdir(exist_ok=True)
    for row in rows:
        row["threads"] = torch.get_num_threads()
    add_ratios(rows)
    names = [row["name"] for row in rows]
    kept = [row for row in read(topic).get("rows", []) if row["name"] not in names]
    # A curve goes by size; contenders keep the order in which they are listed.
    rows = sorted(rows + kept, key=lambda row: int(row.get("nodes", 0)))
    record = {"rows": rows, **more, "machine": machine_kind(), "versions": versions()}
    path(topic).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")


def read(topic: str) -> dict[str, Any]:
    """Return the record of a topic, or nothing where it was not measured yet."""
    if not path(topic).exists():
        return {}
    record: dict[str, Any] = json.loads(path(topic).read_text("utf-8"))
    return record


def path(topic: str) -> Path:
    """Return where a topic's figures lie."""
    return RESULTS / f"bench-{topic}.json"


def add_ratios(rows: list[Figures]) -> None:
    """Add to each row how many times the time and the memory of ours it took in the same run.

    The ratio is kept with the row because a row that stays from an earlier run was measured
    against ours of that run.
    """
    by_name = {row["name"]: row for row in rows}
    for row in rows:
        ours = by_name.get(row.get("against", ""), {})
        for key, ratio in (("ms", "time"), ("seconds", "time"), ("above_mb", "memory")):
            if row.get(key) is not None and ours.get(key):
                row[f"times_our_{ratio}"] = round(row[key] / ours[key], 3)
