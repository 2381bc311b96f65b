"""N trainings for link prediction, each on a graph without the edges it is asked for."""

from pathlib import Path
from typing import Any

from dgb.data.graph import Graph
from dgb.evaluate.links import edge_scores, link_scores, split_edges
from dgb.measure.repeat import SYSTEMS, percent_table, repeat, seeds_of
from dgb.recipe import Recipe
from dgb.run.score import describe, reference_systems
from dgb.run.train import train

LINKS = "links.jsonl"
ROWS = SYSTEMS | {"edges": "edges alone"}
COLUMNS = {"validation AUC": "validation_auc", "test AUC": "test_auc", "test AP": "test_ap"}


def evaluate_links(graph: Graph, recipe: Recipe, runs: int, folder: Path) -> list[dict[str, Any]]:
    """Return a line of link scores per training, each with its own split of the edges."""
    split_edges(graph, seeds_of(recipe, runs)[0])  # what cannot be split is told before training
    return repeat(graph, recipe, runs, folder / LINKS, train_on_split)


def train_on_split(graph: Graph, recipe: Recipe) -> dict[str, Any]:
    """Split the edges, train on those left, and score DGB and its baselines on the others."""
    split = split_edges(graph, recipe.train.seed)
    trained = train(split.train_graph, recipe)
    systems = {"dgb": trained.embeddings()} | reference_systems(trained)
    scores = {name: link_scores(z, split) for name, z in systems.items()}
    scores["edges"] = edge_scores(split)
    # Of the whole graph: by its hash a later call finds this line again.
    return describe(graph, recipe) | {"seconds": round(trained.seconds, 2)} | scores


def links_table(lines: list[dict[str, Any]]) -> str:
    """Return the scores as text: a row per system, in percent, mean ± std over lines."""
    cells = {
        title: {name: [line[system][key] for line in lines] for name, key in COLUMNS.items()}
        for system, title in ROWS.items()
    }
    return percent_table(cells)
