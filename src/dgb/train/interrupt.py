"""Ctrl-C that lets the current epoch finish, so that what is saved is whole."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def deferred_interrupt() -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether Ctrl-C was pressed; a second Ctrl-C ends at once."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False  # only the main thread may set signal handlers
        return
    pressed: list[int] = []
    before = signal.getsignal(signal.SIGINT)

    def remember(signum: int, _frame: FrameType | None) -> None:
        pressed.append(signum)
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, remember)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)
