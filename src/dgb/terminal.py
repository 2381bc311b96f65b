"""What a person sees on the terminal: bars and log lines on stderr, results on stdout."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dgb.errors import printable

_QUIET = "DGB_QUIET"


def progress_bar(items: Iterable[Any] | None, what: str, *, unit: str, **options: Any) -> Any:
    """Return tqdm's bar over items: lively on a terminal, a line every ten seconds in a log."""
    from tqdm import tqdm

    options |= {"disable": True} if os.environ.get(_QUIET) else {}
    options |= {"mininterval": 0.1 if sys.stderr.isatty() else 10, "dynamic_ncols": True}
    return tqdm(items, desc=printable(what), unit=unit, leave=False, **options)


def set_quiet(is_quiet: bool) -> None:
    """Draw no bars and print no notes, here and in processes that start later, or do so again."""
    os.environ.pop(_QUIET, None)
    if is_quiet:
        os.environ[_QUIET] = "1"


@contextmanager
def quietly(is_quiet: bool = True) -> Iterator[None]:
    """Be quiet within a block, if so asked; after it as before."""
    was_quiet = bool(os.environ.get(_QUIET))
    set_quiet(was_quiet or is_quiet)
    try:
        yield
    finally:
        set_quiet(was_quiet)


def log(message: str) -> None:
    """Print one line on stderr without breaking a progress bar; if quiet, what is wrong alone."""
    from tqdm import tqdm

    if os.environ.get(_QUIET) and not message.startswith(("dgb:", "warning:")):
        return
    tqdm.write(printable(message), file=sys.stderr)


def output(*lines: str) -> None:
    """Print lines of a result on stdout; each stays one line."""
    for line in lines:
        print(printable(line))


@contextmanager
def resumable(how: str) -> Iterator[None]:
    """Say how to resume what a user stops within a block."""
    try:
        yield
    except KeyboardInterrupt:
        log(f"dgb: stopped; {how}")
        raise


def byte_bar(what: str, total: int) -> Any:
    """Return a bar of bytes to `update`; what ends within a second shows none."""
    return progress_bar(None, what, unit="B", total=total, unit_scale=True, delay=1)


def some(names: Sequence[str], most: int = 5) -> str:
    """Return the first names of a list, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def readable(value: Any) -> str:
    """Return a number, text, list or mapping as one would write it down."""
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {readable(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return "; ".join(readable(part) for part in value)
    return str(value)
