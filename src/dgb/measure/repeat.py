"""N independent trainings of one recipe: mean ± std over trainings, resumable line by line."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dgb.cookbook import recipe_hash, with_seed
from dgb.data.fingerprint import fingerprint
from dgb.data.typed.graph import AnyGraph
from dgb.errors import DGBError
from dgb.evaluate.scores import why_not_scored
from dgb.files.jsonl import append_line, read_lines, rewrite_lines
from dgb.files.lock import locked
from dgb.recipe import Recipe
from dgb.run.score import describe, score_systems
from dgb.run.train import train
from dgb.terminal import log, progress_bar

RUNS = "runs.jsonl"
SYSTEMS = {"dgb": "DGB", "random": "untrained GCN", "raw": "raw features"}
COLUMNS = {
    "validation": ("probe", "validation"),
    "test": ("probe", "test"),
    "Macro-F1": ("probe", "macro_f1"),  # these two of the probe as HeCo has it alone
    "AUC": ("probe", "auc"),
    "cluster acc": ("cluster", "accuracy"),
    "NMI": ("cluster", "nmi"),
    "ARI": ("cluster", "ari"),
}
CLUSTER_COLUMNS = tuple(name for name, (part, _) in COLUMNS.items() if part == "cluster")


def evaluate_runs(graph: AnyGraph, recipe: Recipe, runs: int, folder: Path) -> list[dict[str, Any]]:
    """Return a line of scores per training, seeds counting up; finished ones are kept."""
    for seed in seeds_of(recipe, runs):
        if reason := why_not_scored(graph, seed):
            raise DGBError(f"nothing to evaluate against: {reason}")
    return repeat(graph, recipe, runs, folder / RUNS, score_training)


def repeat(
    graph: AnyGraph,
    recipe: Recipe,
    runs: int,
    path: Path,
    train_once: Callable[[Any, Recipe], dict[str, Any]],
) -> list[dict[str, Any]]:
    """Return what `train_once` returns for every seed, taken from the lines of a file if there."""
    with locked(path.parent, path.name):
        return _repeat(graph, recipe, seeds_of(recipe, runs), path, train_once)


def _repeat(
    graph: AnyGraph,
    recipe: Recipe,
    seeds: range,
    path: Path,
    train_once: Callable[[Any, Recipe], dict[str, Any]],
) -> list[dict[str, Any]]:
    lines = read_lines(path)
    rewrite_lines(path, lines)  # without a half-written one, which the next line would join
    key = (recipe_hash(recipe), fingerprint(graph))
    same = [m for m in lines if (m.get("recipe"), m.get("graph_hash")) == key]
    done = {line["seed"]: line for line in same if line["seed"] in seeds}
    if done:
        log(f"{len(done)} of {len(seeds)} trainings taken from {path}")
    left = [seed for seed in seeds if seed not in done]
    for seed in progress_bar(left, "runs", unit="run", initial=len(done), total=len(seeds)):
        line = train_once(graph, with_seed(recipe, seed))
        append_line(path, line)
        done[seed] = line
    return [done[seed] for seed in seeds]


def seeds_of(recipe: Recipe, runs: int) -> range:
    """Return the seeds of N trainings, counting up from the recipe's."""
    if runs < 1:
        raise DGBError(f"--runs must be at least 1, not {runs}")
    return range(recipe.train.seed, recipe.train.seed + runs)


def score_training(graph: AnyGraph, recipe: Recipe) -> dict[str, Any]:
    """Train once and return the scores, with what is needed to measure them again."""
    trained = train(graph, recipe)
    scores, _ = score_systems(trained, trained.embeddings(), graph)
    line = describe(graph, recipe) | {"seconds": round(trained.seconds, 2)}
    if trained.setup.schema:
        line["attention"] = trained.attention()
    return line | scores


def mean_std(values: list[float]) -> tuple[float, float]:
    """Return mean and sample standard deviation; the deviation of one value is 0."""
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def scores_table(lines: list[dict[str, Any]], columns: Collection[str] = tuple(COLUMNS)) -> str:
    """Return the scores as text: a row per system, in percent, mean ± std over lines.

    A column for which a line has no number is left out.
    """
    places = {
        name: (part, key)
        for name, (part, key) in COLUMNS.items()
        if name in columns and all(key in line["dgb"][part] for line in lines)
    }
    cells = {
        title: {
            name: [line[system][part][key] for line in lines]
            for name, (part, key) in places.items()
        }
        for system, title in SYSTEMS.items()
        if system in lines[0]
    }
    return percent_table(cells)


def percent_table(cells: Mapping[str, Mapping[str, list[float]]]) -> str:
    """Return rows of named cells as text, in percent, mean ± std over the values of a cell."""
    names = list(next(iter(cells.values())))
    width = max(14, max(map(len, cells)) + 1)
    rows = [" " * width + "".join(f"{name:>14}" for name in names)]
    for title, row in cells.items():
        rows.append(f"{title:{width}}" + "".join(f"{_cell(row[name]):>14}" for name in names))
    return "\n".join(rows)


def _cell(values: list[float]) -> str:
    mean, std = mean_std([100 * v for v in values])
    return f"{mean:.1f}" if len(values) == 1 else f"{mean:.1f} ± {std:.1f}"


SPLIT_COLUMNS = {
    "validation": "validation_macro_f1",
    "Macro-F1": "macro_f1",
    "Micro-F1": "micro_f1",
    "AUC": "auc",
}
ACCURACIES = {"validation": "validation", "test": "test"}  # of probes that know no F1
CLUSTERED = {"NMI": "nmi", "ARI": "ari"}


def split_columns(splits: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Return what the probe has measured: the names of columns, and their keys."""
    return SPLIT_COLUMNS if all("macro_f1" in told for told in splits.values()) else ACCURACIES


def split_table(lines: list[dict[str, Any]]) -> str:
    """Return a row per split and system, in percent, mean ± std over lines of scores."""
    first = lines[0]["dgb"]["splits"]
    cells = {
        f"{title}, {name}" if len(first) > 1 else title: {
            column: [line[system]["splits"][name][key] for line in lines]
            for column, key in split_columns(first).items()
            if all(key in line[system]["splits"][name] for line in lines)
        }
        for name in first
        for system, title in SYSTEMS.items()
        if system in lines[0]
    }
    clusters = {
        title: {
            column: [line[system]["cluster"][key] for line in lines]
            for column, key in CLUSTERED.items()
        }
        for system, title in SYSTEMS.items()
        if system in lines[0]
    }
    return f"{percent_table(cells)}\n\n{percent_table(clusters)}"
