"""Run all benchmarks (`make bench`): print a table a topic, write results/bench-*.json.

python benchmarks/run.py                      all but what takes long
python benchmarks/run.py --only diffusion --long
python benchmarks/run.py --doc                put the figures at hand into docs/performance.md
"""

import argparse
from pathlib import Path

import compiled
import diffusion
import epoch
import growth
import page
import parts
import plot
import records
import waiting

ROUNDS = {"cora": 12, "citeseer": 12, "pubmed": 4}
COMPILED_ON = WAITED_ON = "cora"
WAITED = 3  # rounds of six processes each
PARTED = ("cora", "citeseer", "pubmed")
PART_ROUNDS = 3  # of 13 trainings a graph
DIFFUSED = ("cora", "pubmed", diffusion.GENERATED)
TOPICS = ("step", "diffusion", "compiled", "growth", "waiting", "parts")


def main() -> None:
    """Measure the topics asked for, each written and printed as soon as it is measured."""
    options = arguments()
    if options.doc:
        plot.draw_growth()
        page.fill_page()
        return
    for topic in options.only:
        match topic:
            case "step":
                run_steps(options.rounds, is_long=options.long)
            case "diffusion":
                run_diffusion(is_long=options.long)
            case "compiled":
                rows = compiled.measure(COMPILED_ON, options.rounds or ROUNDS[COMPILED_ON])
                report(f"compiled-{COMPILED_ON}", rows)
            case "growth":
                run_growth(options.sizes, options.folder)
            case "waiting":
                report("waiting", waiting.measure(WAITED_ON, options.rounds or WAITED))
            case "parts":
                report("parts", parts.measure(PARTED, options.rounds or PART_ROUNDS))


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", choices=TOPICS, default=TOPICS)
    parser.add_argument("--rounds", type=int, default=0, help="steps timed (default: by graph)")
    parser.add_argument("--long", action="store_true", help="with dense S and push on Pubmed")
    parser.add_argument("--sizes", nargs="+", type=float, default=growth.SIZES, help="of growth")
    parser.add_argument("--folder", type=Path, help="where growth writes its graphs meanwhile")
    parser.add_argument("--doc", action="store_true", help="measure nothing, fill the page")
    return parser.parse_args()


def run_steps(rounds: int, *, is_long: bool) -> None:
    """Measure an epoch of every contender on every graph."""
    for graph, usual in ROUNDS.items():
        rows = epoch.measure(graph, rounds or usual, is_long=is_long)
        is_checked = graph != "pubmed"  # a dense S in five steps would take minutes there
        differences = epoch.loss_differences(graph) if is_checked else {}
        report(f"step-{graph}", rows, rounds=rounds or usual, loss_differences=differences)


def run_diffusion(*, is_long: bool) -> None:
    """Measure PPR on every graph."""
    for graph in DIFFUSED:
        rows, residual = diffusion.measure(graph, is_long=is_long)
        report(f"diffusion-{graph}", rows, residual=residual)


def run_growth(sizes: list[float], folder: Path | None) -> None:
    """Measure the growth curve, which writes down each of its points itself."""
    for size in sizes:
        growth.measure(int(size), folder)
    print_topic("growth")


def report(topic: str, rows: list[dict[str, object]], **more: object) -> None:
    """Write the figures of one topic and print its table."""
    records.write(topic, rows, **more)
    print_topic(topic)


def print_topic(topic: str) -> None:
    """Print the table of one topic."""
    print(f"\n{topic}\n{page.text(topic)}", flush=True)


if __name__ == "__main__":
    main()
