"""The one exception of the project: what a user can mend, said in one line."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LONGEST = 2000  # letters of a message; a cell that it quotes may have millions
# Control characters, ends of lines, turns of the direction of writing, halves of letters.
_STEERING = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


class DGBError(ValueError):
    """Wrong input or a missing file; the message says what to do about it.

    A ValueError, which is what scikit-learn and its users expect of an estimator given bad input.
    """

    def __init__(self, message: str) -> None:
        """Keep the message to one line of printable text, whatever of a file it quotes."""
        text, half = printable(message), _LONGEST // 2
        super().__init__(text if len(text) <= _LONGEST else f"{text[:half]} … {text[-half:]}")


def printable(text: str) -> str:
    """Return text with escapes for what would steer a terminal."""
    return _STEERING.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


@contextmanager
def refusing(path: Path, problem: str, advice: str) -> Iterator[None]:
    """Turn what is raised over a file into one error: the file, the problem; and what to do.

    All of it, because parsers of broken bytes raise nearly anything: tokenize errors, recursion
    errors, attributes of half-made objects.
    """
    try:
        yield
    except DGBError as error:
        told = str(error)
        raise DGBError(told if str(path) in told else f"{path}: {told}") from None
    except Exception as error:
        raise DGBError(f"{path}: {_told(problem, error)}; {advice}") from None


def _told(problem: str, error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:  # the disk's word, not the parser's
        return f"cannot be read ({error.strerror})"
    reason = next(iter(str(error).splitlines()), "") or type(error).__name__
    return f"{problem} ({reason})"
