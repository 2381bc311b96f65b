"""What the paper leaves open, searched at its length: settings drawn once, scored on resplits."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dgb.files.atomic import write_text
from dgb.measure.job import Job, Line
from dgb.measure.table import markdown_table, spread
from dgb.reproduce.curves import STEPS, known_lines, long_recipe
from dgb.reproduce.plan import with_seeds
from dgb.reproduce.published import DATASETS

TABLE = "search"
# The learning rate, the decay p, one layer and row normalisation stand in the paper's source.
OPEN: dict[str, tuple[str, ...]] = {
    "view1.nfd_drop_rate": ("0.4", "0.5", "0.6", "0.7", "0.8"),
    "view2.nd_drop_rate": ("0.1", "0.2", "0.3", "0.5", "0.6"),
    "heads.hidden": ("256", "512"),
    "heads.width": ("128", "256", "512"),
    "diffusion.alpha": ("0.05", "0.1", "0.15", "0.2"),
    "diffusion.kernel": ("ppr", "ppr", "ppr", "heat"),  # mostly what the tables are about
    "diffusion.self_loops": ("false", "true"),
    "encoder.width": ("256", "512", "1024"),
    "encoder.activation": ("prelu", "prelu", "relu"),
    "train.target_start": ("copy", "independent"),
}
SETTINGS = {"cora": (24, 3), "citeseer": (24, 3), "pubmed": (8, 2)}  # and trainings of each


class Ranked(NamedTuple):
    """A setting, the steps after which it was best on resplits, and how good it was there."""

    sets: tuple[str, ...]
    steps: int
    resplit: list[float]  # percent, a training each
    validation: list[float]  # by DGI's probe on the public split


def draw_settings(count: int) -> list[tuple[str, ...]]:
    """Return overrides of the paper's recipe: none first, then drawn ones, always the same."""
    rng = np.random.default_rng(0)
    drawn = [tuple(f"{key}={rng.choice(OPEN[key])}" for key in OPEN) for _ in range(count - 1)]
    return [(), *drawn]


def plan_search(datasets: tuple[str, ...], runs: int | None = None) -> list[Job]:
    """Return all trainings of the search, a seed of every setting before the next."""
    jobs: list[Job] = []
    for dataset in datasets:
        count, seeds = SETTINGS[dataset]
        cells = [
            Job(TABLE, f"setting {number}", dataset, "dgb", long_recipe(dataset, sets))
            for number, sets in enumerate(draw_settings(count))
        ]
        jobs += with_seeds(cells, [runs or seeds] * count)
    return jobs


def write_search(results: Path) -> str:
    """Write what was found, the best setting of a data set first; return the text."""
    lines = known_lines(TABLE, plan_search(DATASETS, runs=1), results)
    parts = []
    for dataset in DATASETS:
        if own := [line for line in lines if line["dataset"] == dataset]:
            parts.append(f"{dataset.capitalize()}\n\n{_table(rank_settings(own))}")
    text = "\n\n".join(parts)
    write_text(results / f"{TABLE}.md", text + "\n")
    return text


def rank_settings(lines: Sequence[Line]) -> list[Ranked]:
    """Return the settings of a data set, each at its best number of steps, the best first."""
    by_setting: dict[int, list[Line]] = {}
    for line in lines:
        by_setting.setdefault(int(line["method"].split()[-1]), []).append(line)
    drawn = draw_settings(1 + max(by_setting))
    found = [_best(drawn[number], own) for number, own in by_setting.items()]
    return sorted(found, key=lambda each: -np.mean(each.resplit))


def _best(sets: tuple[str, ...], lines: Sequence[Line]) -> Ranked:
    def values(steps: int, measure: str) -> list[float]:
        return [100 * line["scores"][str(steps)][measure] for line in lines]

    steps = max(STEPS[1:], key=lambda steps: np.mean(values(steps, "resplit")))
    return Ranked(sets, steps, values(steps, "resplit"), values(steps, "dgi"))


def _table(found: Sequence[Ranked]) -> str:
    head = ("setting", "steps", "resplits", "validation", "trainings")
    rows = (
        (
            ", ".join(each.sets) or "as the recipe has it",
            str(each.steps),
            spread(each.resplit),
            spread(each.validation),
            str(len(each.resplit)),
        )
        for each in found
    )
    return markdown_table(head, rows)
