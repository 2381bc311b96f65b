"""What a person sees on the terminal: bars and remarks on stderr, results on stdout."""

import sys
from collections.abc import Iterable
from typing import Any

from dgb.errors import printable


def progress_bar(items: Iterable[Any] | None, what: str, *, unit: str, **options: Any) -> Any:
    """Return tqdm's bar over items: lively on a terminal, a line every ten seconds in a log."""
    from tqdm import tqdm

    options |= {"mininterval": 0.1 if sys.stderr.isatty() else 10, "dynamic_ncols": True}
    return tqdm(items, desc=printable(what), unit=unit, leave=False, **options)


def say(message: str) -> None:
    """Print a line for the person at the terminal without breaking a bar."""
    from tqdm import tqdm

    tqdm.write(printable(message), file=sys.stderr)


def tell(*lines: str) -> None:
    """Print lines of a result, each of which stays one line."""
    for line in lines:
        print(printable(line))
