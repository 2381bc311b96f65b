"""Run all benchmarks (`make bench`): print figures of one run, write results/bench-*.json."""

import json
import sys
from pathlib import Path

import torch

import memory
import step
from dgb.run.machine import versions

RESULTS = Path(__file__).parent.parent / "results"


def main() -> None:
    """Measure every benchmark, print it and write it down."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    for name in ("cora", "citeseer"):
        report(f"step-{name}", step.measure(name, rounds))
    report("ppr-pubmed", memory.measure())


def report(name: str, figures: dict[str, float]) -> None:
    """Print the figures of one benchmark and write them with what they were measured on."""
    print(f"\n{name} ({torch.get_num_threads()} threads)")
    for key, value in figures.items():
        print(f"  {key:30}{value:12.4g}")
    RESULTS.mkdir(exist_ok=True)
    record = {"figures": figures, "threads": torch.get_num_threads(), "versions": versions()}
    (RESULTS / f"bench-{name}.json").write_text(json.dumps(record, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
