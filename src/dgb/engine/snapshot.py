"""What Ray Train remembers of its checkpoints in a run folder, looked at before Ray believes it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dgb.engine.cluster import CHECKPOINTS
from dgb.errors import DGBError

_LEADS_OUT = re.compile(r"[/\\]|^\.\.$|^[A-Za-z]:")


def check_snapshots(folder: Path) -> None:
    """Refuse a run folder whose checkpoints lie elsewhere: Ray removes the older ones of them."""
    for path in sorted((folder / CHECKPOINTS).rglob("*.json")):
        try:
            names = list(_texts(json.loads(path.read_text("utf-8"))))
        except (OSError, ValueError, RecursionError) as error:
            raise DGBError(f"{path} cannot be read ({error}); train again from the start") from None
        for name in names:
            if _LEADS_OUT.search(name):
                raise DGBError(f"{path} names what is not in its folder, {name!r}; do not use it")


def _texts(values: Any) -> Iterator[str]:
    if isinstance(values, str):
        yield values
    elif isinstance(values, dict | list):
        # Names of keys as well: which of them Ray takes for places is its own affair.
        for value in (*values, *(values.values() if isinstance(values, dict) else ())):
            yield from _texts(value)
