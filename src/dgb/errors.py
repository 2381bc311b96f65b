"""The one exception of the project: what a user can fix, said in one line."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# What a terminal obeys instead of showing it: control characters, also those of eight bits, and
# what turns the direction of writing; halves of characters, which cannot be written at all.
_OBEYED = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_LONGEST_ERROR = 2000  # characters; a cell that is quoted may have millions
_LONGEST_LINE = 10_000


class DGBError(ValueError):
    """Wrong input or a missing file; the message says what to do about it.

    A ValueError, which is what scikit-learn and its users expect of an estimator given bad input.

    Args:
        message: What is wrong, and what to do.

    Example:
        >>> raise DGBError(f"{path} does not exist; check the path")
    """

    def __init__(self, message: str) -> None:
        """Keep the message to one line of printable text, whatever of a file it quotes."""
        half = _LONGEST_ERROR // 2
        is_long = len(message) > _LONGEST_ERROR
        super().__init__(printable(f"{message[:half]} … {message[-half:]}" if is_long else message))


def printable(text: str) -> str:
    """Return text in one line that a terminal only shows: \\x1b for what it would obey."""
    more = f"… ({len(text):,} characters)" if len(text) > _LONGEST_LINE else ""
    return _OBEYED.sub(_escape, text[:_LONGEST_LINE]) + more


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


@contextmanager
def refusing(path: Path, problem: str, advice: str, *others: str) -> Iterator[None]:
    """Turn what is raised over a file into one error: the file, the problem; and what to do.

    All of it, because parsers of broken bytes raise nearly anything: tokenize errors, recursion
    errors, attributes of half-made objects. `others` are files that belong to it, one of which an
    error may name in its place.
    """
    try:
        yield
    except DGBError as error:
        message = str(error)
        is_named = any(name and Path(name).name in message for name in (str(path), *others))
        raise DGBError(message if is_named else f"{path}: {message}") from None
    except MemoryError as error:
        advice = "end other programs, or take a smaller graph"
        raise DGBError(f"{path}: out of memory ({error}); {advice}") from error
    except Exception as error:
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        if isinstance(error, OSError) and error.strerror:  # the disk's word, not the parser's
            problem, reason = "cannot be read", error.strerror
        raise DGBError(f"{path}: {problem} ({reason}); {advice}") from error
