"""How much memory the content of a file may take: asked before any of it is taken."""

from contextlib import suppress
from pathlib import Path

from dgb.errors import DGBError

GROUP = Path("/sys/fs/cgroup")  # where Linux tells the limits of a container
SHARE = 0.5  # of what is free: whatever is read is copied at least once on its way
UNTOLD = 16e9  # bytes that are taken for free where the system does not tell
NODE = 32  # bytes that a node takes at the least: an id, and its place in the rows of edges
TRUST = "if you trust it, read it where there is more memory, or get it in smaller parts"


def free_bytes() -> float | None:
    """Return the memory that a process can still take; None where it cannot be told."""
    import psutil

    try:
        return min(float(psutil.virtual_memory().available), _left_in_group())
    except (OSError, RuntimeError):  # such as a /proc that is not mounted
        return None


def _left_in_group() -> float:
    """Return the bytes that a container leaves to its processes, which psutil does not know."""
    with suppress(OSError, ValueError):  # no limit is told as "max"
        limit = int((GROUP / "memory.max").read_text())
        stat = dict(line.split() for line in (GROUP / "memory.stat").read_text().splitlines())
        return limit - int(stat["anon"])
    return float("inf")


def room() -> float:
    """Return the bytes that one file may take."""
    free = free_bytes()
    return SHARE * (UNTOLD if free is None else free)


def refuse_beyond_room(
    what: str, size: float, advice: str = TRUST, *, share: float = SHARE
) -> None:
    """Refuse content of so many bytes where there is no room for it; `what` ends in a verb."""
    limit = share / SHARE * room()
    if size > limit:
        free = "free" if free_bytes() is not None else "taken for free, as the system tells nothing"
        raise DGBError(
            f"{what} {_gb(size)}, more than {share:.0%} of the {_gb(limit / share)} of memory that "
            f"are {free}; {advice}"
        )


def refuse_nodes(count: int) -> None:
    """Refuse a number of nodes that a file declares and no memory holds."""
    advice = "correct the number of nodes that the file declares"
    refuse_beyond_room(f"{count:,} nodes take at least", NODE * count, advice)


def _gb(size: float) -> str:
    return f"{size / 1e9:,.1f} GB"
