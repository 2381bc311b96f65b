"""One contender in a process of its own, so that its peak of memory is nobody else's."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

from dgb.run.machine import peak_mb, reset_peak

HERE = Path(__file__).parent
KILLED = 9  # the signal that the system sends when memory runs out
SHARE = 0.75  # of the machine's memory that a contender may take before it is told to stop
Figures = dict[str, Any]


def measured(script: str, *words: str, seconds: float = 3600) -> Figures:
    """Run a script of this folder and return the figures it prints, or why there are none."""
    command = [sys.executable, str(HERE / script), *words]
    threads = str(torch.get_num_threads())
    same_threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), threads)
    environment = os.environ | same_threads | {"NUMBA_NUM_THREADS": threads}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds, env=environment
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"stopped after {seconds:.0f} s"}
    if done.returncode:
        return {"failed": _reason(done)}
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def _reason(done: "subprocess.CompletedProcess[str]") -> str:
    if done.returncode == -KILLED:
        return "killed by the system: out of memory"
    lines = done.stderr.strip().splitlines()
    return lines[-1][:200] if lines else f"ended with code {done.returncode}"


def limit_memory() -> None:
    """Let an allocation beyond our share of the machine fail, before the system kills others."""
    with suppress(ImportError, ValueError, OSError, AttributeError):
        import resource

        limit = int(SHARE * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def memory_now() -> float | None:
    """Return the MB this process holds at present, and forget the peak so far (Linux)."""
    reset_peak()
    return peak_mb()


def memory_figures(before: float | None) -> Figures:
    """Return the peak in all, what was held after the imports, and the difference."""
    peak = peak_mb()
    above = None if peak is None or before is None else round(peak - before, 1)
    return {"peak_mb": peak, "imports_mb": before, "above_mb": above}


def tell(figures: Mapping[str, Any]) -> None:
    """Print the figures where the process that started this one looks for them."""
    print(json.dumps(figures))
