"""What a person sees on the terminal: bars and remarks on stderr, results on stdout."""

import re
import sys
from collections.abc import Iterable
from typing import Any

# What a terminal obeys instead of showing it: control characters, also those of eight bits, and
# what turns the direction of writing; halves of characters, which cannot be written at all.
_OBEYED = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_LONGEST = 10_000  # characters of a line


def printable(text: str) -> str:
    """Return text in one line that a terminal only shows: \\x1b for what it would obey."""
    more = f"… ({len(text):,} characters)" if len(text) > _LONGEST else ""
    return _OBEYED.sub(lambda found: _escaped(ord(found[0])), text[:_LONGEST]) + more


def _escaped(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


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
