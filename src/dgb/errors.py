"""The one exception of the project: what a user can fix, said in a line for each fault."""

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
_MOST_FAULTS = 20


class DGBError(ValueError):
    """Wrong input or a missing file; the message says what to do about it.

    A ValueError, which is what scikit-learn and its users expect of an estimator given bad input.

    Args:
        faults: What is wrong, and what to do; a line for each of several faults.

    Example:
        >>> raise DGBError(f"{path} does not exist; check the path")
    """

    def __init__(self, *faults: str) -> None:
        """Keep each fault to one line of printable text, whatever of a file it quotes."""
        more = [f"and {len(faults) - _MOST_FAULTS:,} more faults"] * (len(faults) > _MOST_FAULTS)
        super().__init__(*map(_shorten, faults[:_MOST_FAULTS]), *more)

    def __str__(self) -> str:
        """Return a line for each fault."""
        return "\n".join(self.args)


def too_large(what: str) -> DGBError:
    """Return the error for numbers that float32 cannot hold, or not the squares of."""
    return DGBError(
        f"{what} too large for float32; scale the features, as data.normalise=row does, or divide "
        "them by a constant"
    )


class Faults:
    """Gathers what is wrong, so that a user hears of all of it at once: `with faults: …`.

    Example:
        >>> faults = Faults()
        >>> with faults:
        ...     read(one)
        >>> with faults:
        ...     read(other)
        >>> faults.refuse()
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.found: list[str] = []

    def __enter__(self) -> None:
        """Begin a part that may be refused."""

    def __exit__(self, _kind: object, error: object, _trace: object) -> bool:
        """Keep what the part was refused for, and continue after it."""
        if isinstance(error, DGBError):
            self.found += [fault for fault in error.args if fault not in self.found]
        return isinstance(error, DGBError)

    def refuse(self) -> None:
        """Raise what was found, if anything."""
        if self.found:
            raise DGBError(*self.found)


def _shorten(message: str) -> str:
    half = _LONGEST_ERROR // 2
    is_long = len(message) > _LONGEST_ERROR
    return printable(f"{message[:half]} … {message[-half:]}" if is_long else message)


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
        names = [Path(name).name for name in (str(path), *others) if name]
        is_named = any(name in str(error) for name in names)
        raise error if is_named else DGBError(f"{path}: {error.args[0]}", *error.args[1:]) from None
    except MemoryError as error:
        advice = "end other programs, or take a smaller graph"
        raise DGBError(f"{path}: out of memory ({error}); {advice}") from error
    except Exception as error:
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        if isinstance(error, OSError) and error.strerror:  # the disk's word, not the parser's
            problem, reason = "cannot be read", error.strerror
        raise DGBError(f"{path}: {problem} ({reason}); {advice}") from error
