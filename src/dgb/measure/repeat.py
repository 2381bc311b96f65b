"""N independent trainings of one recipe, for classes, clusters or links: mean ± std over them."""

from collections.abc import Callable, Mapping
from functools import reduce
from itertools import chain
from pathlib import Path
from typing import Any

from dgb.cookbook import with_seed
from dgb.data.typed.graph import AnyGraph
from dgb.errors import DGBError
from dgb.evaluate.link_split import split_edges
from dgb.evaluate.links import edge_scores, link_scores
from dgb.evaluate.scores import why_not_scored
from dgb.measure.job import Job, Line, Place
from dgb.measure.runner import Group, Work, require_lines, run
from dgb.pages import percent, spread, text_table
from dgb.recipe import ALL_TYPES, Recipe
from dgb.run.score import describe, reference_systems, score_own, score_references
from dgb.run.train import train

RUNS, LINKS = "runs.jsonl", "links.jsonl"
KEY = ("graph_hash", "recipe", "seed")
SYSTEMS = {"dgb": "DGB", "random": "untrained GCN", "start": "DGB before", "raw": "raw features"}
TITLES = SYSTEMS | {"edges": "edges alone"}
Keys = tuple[str, ...]  # where a score lies in a line, from the outside in
COLUMNS: dict[str, Keys] = {
    "validation": ("probe", "validation"),
    "test": ("probe", "test"),
    "Macro-F1": ("probe", "macro_f1"),  # only HeCo's probe measures this and AUC
    "AUC": ("probe", "auc"),
    "cluster acc": ("cluster", "accuracy"),
    "NMI": ("cluster", "nmi"),
    "ARI": ("cluster", "ari"),
}
CLUSTER_COLUMNS = {name: keys for name, keys in COLUMNS.items() if keys[0] == "cluster"}
SPLIT_COLUMNS = {
    "validation": "validation_macro_f1",
    "Macro-F1": "macro_f1",
    "Micro-F1": "micro_f1",
    "AUC": "auc",
}
ACCURACIES = {"validation": "validation", "test": "test"}  # of probes that measure no F1
LINK_COLUMNS: dict[str, Keys] = {
    "validation AUC": ("validation_auc",),
    "test AUC": ("test_auc",),
    "test AP": ("test_ap",),
}
WIDTHS = (14, 14)  # of the columns on the terminal, at least
TrainOnce = Callable[[Any, Recipe], Line]


def evaluate_runs(graph: AnyGraph, recipe: Recipe, runs: int, folder: Path) -> list[Line]:
    """Return a line of scores per training, seeds counting up; finished ones are kept."""
    for seed in seeds_of(recipe, runs):
        if reason := why_not_scored(graph, seed):
            raise DGBError(
                f"nothing to evaluate against: {reason}; name a column of labels with --label, or "
                "take --task links, which needs none"
            )
    return repeat(graph, recipe, runs, folder / RUNS, score_training)


def evaluate_links(graph: AnyGraph, recipe: Recipe, runs: int, folder: Path) -> list[Line]:
    """Return a line of link scores per training, each with its own split of the edges."""
    # What cannot be split is an error at once.
    split_edges(graph, seeds_of(recipe, runs)[0], is_whole=recipe.data.target == ALL_TYPES)
    return repeat(graph, recipe, runs, folder / LINKS, train_on_split)


def repeat(
    graph: AnyGraph, recipe: Recipe, runs: int, path: Path, train_once: TrainOnce
) -> list[Line]:
    """Return what `train_once` returns for every seed, taken from the lines of a file if there."""

    def measure(group: Group, graph: AnyGraph, _: Place) -> list[Line]:
        return [train_once(graph, job.recipe) for job in group]

    recipes = [with_seed(recipe, seed) for seed in seeds_of(recipe, runs)]
    jobs = [Job(path.stem, "dgb", graph.name, "dgb", recipe) for recipe in recipes]
    outcome = run(jobs, {graph.name: graph}, Work(measure, KEY), Place(path.parent))
    return require_lines(jobs, outcome)


def seeds_of(recipe: Recipe, runs: int) -> range:
    """Return the seeds of N trainings, counting up from the recipe's."""
    if runs < 1:
        raise DGBError(f"--runs must be at least 1, not {runs}")
    return range(recipe.train.seed, recipe.train.seed + runs)


def score_training(graph: Any, recipe: Recipe) -> Line:
    """Train once and return the scores, with what is needed to measure them again."""
    trained = train(graph, recipe)
    own, _ = score_own(trained, trained.embeddings(), graph)
    line = describe(graph, recipe) | {"seconds": round(trained.seconds, 2)}
    if trained.setup.schema:
        line["attention"] = trained.attention()
    return line | {"dgb": own} | score_references(trained, graph)


def train_on_split(graph: Any, recipe: Recipe) -> Line:
    """Split the edges, train on those left, and score DGB and its baselines on the others."""
    split = split_edges(graph, recipe.train.seed, is_whole=recipe.data.target == ALL_TYPES)
    trained = train(split.train_graph, recipe)
    systems = {"dgb": trained.embeddings} | reference_systems(trained, is_whole=True)
    scores = {name: link_scores(rows(), split) for name, rows in systems.items()}
    scores["edges"] = edge_scores(split)
    # Of the whole graph: by its hash a later call finds this line again.
    return describe(graph, recipe) | {"seconds": round(trained.seconds, 2)} | scores


def scores_table(lines: list[Line], columns: Mapping[str, Keys] = COLUMNS) -> str:
    """Return a row per system, in percent, mean ± std over lines."""
    rows = {title: (system,) for system, title in TITLES.items() if system in lines[0]}
    return _table(lines, rows, columns)


def _table(lines: list[Line], rows: Mapping[str, Keys], columns: Mapping[str, Keys]) -> str:
    """Return a table of what lines have at the keys of a row and then of a column.

    A column for which a line has no number is left out.
    """
    values: dict[str, list[list[Any]]] = {
        name: [[reduce(_get, (*row, *keys), line) for line in lines] for row in rows.values()]
        for name, keys in columns.items()
    }
    whole = {name: cells for name, cells in values.items() if {} not in chain(*cells)}
    cells = zip(rows, *(map(percent, column) for column in whole.values()), strict=True)
    return text_table(("", *whole), cells, *WIDTHS)


def blocks_lines(lines: list[Line]) -> list[str]:
    """Return a table of the scores with weights that validation chose for blocks, if there is one.

    It stands apart: other systems have no blocks to weigh.
    """
    weighed = {
        title: [line[system]["blocks"] for line in lines]
        for system, title in SYSTEMS.items()
        if all("blocks" in line.get(system, {}) for line in lines)
    }
    if not weighed:
        return []
    names = next(iter(weighed.values()))[0]["settings"]["weights"]
    rows = [
        (
            title,
            *(percent(scores[part] for scores in found) for part in ACCURACIES),
            *(spread([s["settings"]["weights"][name] for s in found], 2) for name in names),
        )
        for title, found in weighed.items()
    ]
    head = ("", *ACCURACIES, *(f"× {name}" for name in names))
    about = "weights of blocks chosen on validation (probe.blocks), apart from the figures above:"
    return ["", about, *text_table(head, rows, *WIDTHS).splitlines()]


def _get(values: Any, key: str) -> Any:
    return values.get(key, {})


def split_columns(splits: dict[str, Line]) -> dict[str, str]:
    """Return what the probe has measured: the names of columns, and their keys."""
    return SPLIT_COLUMNS if all("macro_f1" in found for found in splits.values()) else ACCURACIES


def split_table(lines: list[Line]) -> str:
    """Return a row per split and system, in percent, then one per system for the clusters."""
    splits = lines[0]["dgb"]["splits"]
    rows = {
        f"{title}, {name}" if len(splits) > 1 else title: (system, "splits", name)
        for name in splits
        for system, title in SYSTEMS.items()
        if system in lines[0]
    }
    columns = {name: (key,) for name, key in split_columns(splits).items()}
    clusters = {name: COLUMNS[name] for name in ("NMI", "ARI")}
    return f"{_table(lines, rows, columns)}\n\n{scores_table(lines, clusters)}"
