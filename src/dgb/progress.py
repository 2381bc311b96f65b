"""Progress on the terminal; everything a person watches goes to stderr, results go to stdout."""

import sys
from collections.abc import Iterable
from typing import Any


def progress_bar(items: Iterable[Any] | None, what: str, *, unit: str, **options: Any) -> Any:
    """Return tqdm's bar over items: lively on a terminal, a line every ten seconds in a log."""
    from tqdm import tqdm

    options |= {"mininterval": 0.1 if sys.stderr.isatty() else 10, "dynamic_ncols": True}
    return tqdm(items, desc=what, unit=unit, leave=False, **options)


def say(message: str) -> None:
    """Print a line for the person at the terminal without breaking a bar."""
    from tqdm import tqdm

    tqdm.write(message, file=sys.stderr)
