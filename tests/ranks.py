"""Two processes that work together, started for the price of one."""

from collections.abc import Callable
from typing import Any

from torch.multiprocessing.spawn import spawn, start_processes


def run_ranks(function: Callable[..., None], *arguments: Any) -> None:
    """Run `function(rank, *arguments)` as ranks 0 and 1; a failure of one is raised here.

    Both are forked from a new process that has imported all, which takes longer than what they do;
    not from this one, which may have the threads of a Ray cluster.
    """
    spawn(_fork, (function, arguments))  # type: ignore[no-untyped-call]


def _fork(_: int, function: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    start_processes(function, arguments, nprocs=2, start_method="fork")  # type: ignore[no-untyped-call]
