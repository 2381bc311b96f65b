"""N independent trainings of one recipe: mean ± std over trainings, resumable line by line."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dgb.cookbook import recipe_hash
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.evaluate.scores import score_embeddings
from dgb.progress import progress_bar
from dgb.recipe import Recipe
from dgb.run.training import describe, score_raw, train_encoder

FILE = "runs.jsonl"
SYSTEMS = {"dgb": "DGB", "random": "untrained GCN", "raw": "raw features"}


def evaluate_runs(graph: Graph, recipe: Recipe, runs: int, folder: Path) -> list[dict[str, Any]]:
    """Return a line of scores per training, seeds counting up; finished ones are kept."""
    if graph.labels is None:
        raise DGBError(f"{graph.name} has no labels, so there is nothing to evaluate against")
    if runs < 1:
        raise DGBError(f"--runs must be at least 1, not {runs}")
    folder.mkdir(parents=True, exist_ok=True)
    seeds = range(recipe.train.seed, recipe.train.seed + runs)
    done = {line["seed"]: line for line in _finished(folder, recipe) if line["seed"] in seeds}
    left = [seed for seed in seeds if seed not in done]
    for seed in progress_bar(left, "runs", unit="run", initial=len(done), total=runs):
        line = score_training(graph, replace(recipe, train=replace(recipe.train, seed=seed)))
        with (folder / FILE).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        done[seed] = line
    return [done[seed] for seed in seeds]


def score_training(graph: Graph, recipe: Recipe) -> dict[str, Any]:
    """Train once and return the scores of DGB, the untrained encoder and raw features."""
    trained = train_encoder(graph, recipe)
    z = trained.embeddings(recipe.embed.operator)
    return describe(graph, recipe) | {
        "seconds": round(trained.seconds, 2),
        "dgb": score_embeddings(z, graph, recipe.probe, recipe.train.seed),
        "random": score_embeddings(trained.untrained, graph, recipe.probe, recipe.train.seed),
        "raw": score_raw(graph, recipe),
    }


def mean_std(values: list[float]) -> tuple[float, float]:
    """Return mean and sample standard deviation; the deviation of one value is 0."""
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def scores_table(lines: list[dict[str, Any]]) -> str:
    """Return the scores as text: a row per system, accuracies in percent, mean ± std over lines."""
    columns = ["validation", "test", "cluster acc", "NMI", "ARI"]
    rows = [f"{'':14}" + "".join(f"{name:>14}" for name in columns)]
    for system, title in SYSTEMS.items():
        each = [_numbers(line[system]) for line in lines]
        cells = [_cell(list(values)) for values in zip(*each, strict=True)]
        rows.append(f"{title:14}" + "".join(f"{cell:>14}" for cell in cells))
    return "\n".join(rows)


def _numbers(scores: dict[str, Any]) -> tuple[float, ...]:
    probe, cluster = scores["probe"], scores["cluster"]
    return probe["validation"], probe["test"], cluster["accuracy"], cluster["nmi"], cluster["ari"]


def _cell(values: list[float]) -> str:
    mean, std = mean_std([100 * v for v in values])
    return f"{mean:.1f}" if len(values) == 1 else f"{mean:.1f} ± {std:.1f}"


def _finished(folder: Path, recipe: Recipe) -> list[dict[str, Any]]:
    path = folder / FILE
    if not path.exists():
        return []
    lines = []
    for text in path.read_text("utf-8").splitlines():
        try:
            lines.append(json.loads(text))
        except json.JSONDecodeError:
            continue  # a run killed while writing: it is trained again
    return [line for line in lines if line["recipe"] == recipe_hash(recipe)]
