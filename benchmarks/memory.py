"""Exact PPR on Pubmed's features: memory and error, in a process that does nothing else."""

import json
import subprocess
import sys
import time

import numpy as np
import torch

from dgb.data.load import load_graph
from dgb.recipe import Diffusion
from dgb.run.machine import peak_mb
from dgb.views.operators import make_diff, row_normalise
from dgb.views.product import Operator

ALPHA = 0.05


def measure() -> dict[str, float]:
    """Return peak memory, seconds and residual of S X for Pubmed, from a fresh process."""
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, check=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def apply_ppr() -> dict[str, float]:
    """Apply PPR to 1e-6 to Pubmed's features, and check it against the equation that defines it."""
    before = peak_mb() or 0.0
    graph = load_graph("pubmed")
    x = torch.from_numpy(row_normalise(graph.x).toarray())
    diff = make_diff(graph.adjacency, Diffusion(alpha=ALPHA, error=1e-6))
    start = time.perf_counter()
    z = diff.multiply(x)
    return {
        "seconds": round(time.perf_counter() - start, 3),
        "peak MB in all": peak_mb() or 0.0,
        "peak MB before (imports)": before,
        "residual of Eq. 6": _residual(diff, z, x),
        "MB of a dense S": round(graph.num_nodes**2 * 4 / 2**20, 1),
    }


def _residual(diff: Operator, z: torch.Tensor, x: torch.Tensor) -> float:
    """Return ‖(I − (1 − α) T) z − α x‖ / ‖α x‖: S is right if and only if this vanishes."""
    t = diff.transition  # type: ignore[attr-defined]
    rest = z - (1 - ALPHA) * t.multiply(z) - ALPHA * x
    return float(np.linalg.norm(rest) / np.linalg.norm(ALPHA * x))


if __name__ == "__main__":
    print(json.dumps(apply_ppr()))
