"""The step with its heads compiled by torch.compile, against the step as it is.

python benchmarks/compiled.py GRAPH ROUNDS
"""

import sys
import time
from unittest.mock import patch

import torch
import torch._dynamo

from dgb.model import bootstrap
from dgb.model.bootstrap import predict
from epoch import milliseconds
from fresh import Figures, measured, tell
from step import Step, make_setup, our_step

EAGER, COMPILED = "eager", "heads compiled"


def measure(graph: str, rounds: int) -> list[Figures]:
    """Return the rows of both, from a fresh process: compiling changes the process."""
    figures = measured("compiled.py", graph, str(rounds))
    rows = [{"name": name, "kind": "ours", "against": EAGER} for name in (EAGER, COMPILED)]
    if "failed" in figures:  # such as a machine without a C++ compiler
        return [row | figures for row in rows]
    return [row | figures[row["name"]] for row in rows]


def compare(graph: str, rounds: int) -> dict[str, Figures]:
    """Take steps of both in turns; the first ones, which compile, are timed apart."""
    eager = our_step(make_setup(graph, "PPR to 1e-3"))
    compiled = compiled_step(graph)
    start = time.perf_counter()
    for _ in range(2):  # the second may compile once more, for other shapes
        compiled()
    first = round(time.perf_counter() - start, 2)
    times = milliseconds({EAGER: eager, COMPILED: compiled}, rounds)
    return {EAGER: {"ms": times[EAGER]}, COMPILED: {"ms": times[COMPILED], "first_s": first}}


def compiled_step(graph: str) -> Step:
    """Return our step whose projector, predictor and target projector are compiled."""
    setup = make_setup(graph, "PPR to 1e-3")
    # Else the slope of PReLU, which is read as a number, would break the heads into pieces.
    torch._dynamo.config.capture_scalar_outputs = True
    setup.state.model.target_projector.compile()
    step, compiled = our_step(setup), torch.compile(predict)

    def take() -> None:
        with patch.object(bootstrap, "predict", compiled):
            step()

    return take


if __name__ == "__main__":
    tell(compare(sys.argv[1], int(sys.argv[2])))
