"""How far the reading of a large file is."""

from typing import Any

from dgb.progress import progress_bar


def byte_bar(what: str, total: int) -> Any:
    """Return a bar of bytes to `update`; what ends within a second shows none."""
    return progress_bar(None, what, unit="B", total=total, unit_scale=True, delay=1)
