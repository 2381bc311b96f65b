"""metrics.jsonl: one line an epoch, cut back to the checkpoint when a run is resumed."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

FILE = "metrics.jsonl"


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of a run's metrics; a half-written last line is left out."""
    path = folder / FILE
    if not path.exists():
        return []
    lines = []
    for text in path.read_text("utf-8").splitlines():
        try:
            lines.append(json.loads(text))
        except json.JSONDecodeError:
            break
    return lines


@contextmanager
def open_metrics(folder: Path | None, epoch: int) -> Iterator[TextIO | None]:
    """Open the metrics for appending after `epoch`; later lines of a killed run go first."""
    if folder is None:
        yield None
        return
    kept = [json.dumps(line) + "\n" for line in read_metrics(folder) if line["epoch"] <= epoch]
    part = folder / (FILE + ".part")
    part.write_text("".join(kept), "utf-8")
    part.replace(folder / FILE)
    with (folder / FILE).open("a", encoding="utf-8", buffering=1) as file:
        yield file
