"""JSON lines that survive a kill: a half-written line is left out, and gone by the next write."""

import json
from pathlib import Path
from typing import Any

from dgb.files.atomic import refuse_link, write_text


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the whole lines of a JSON-lines file, none where there is no file."""
    if not path.exists():
        return []
    lines = []
    for text in path.read_text("utf-8", errors="replace").splitlines():
        try:
            lines.append(json.loads(text))
        except (ValueError, RecursionError):
            continue
    return [line for line in lines if isinstance(line, dict)]


def rewrite_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    """Write a JSON-lines file again, atomically."""
    write_text(path, "".join(json.dumps(line) + "\n" for line in lines))


def append_line(path: Path, line: dict[str, Any]) -> None:
    """Append one JSON line in a single write, so that processes do not mix theirs."""
    refuse_link(path)
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(json.dumps(line) + "\n")
