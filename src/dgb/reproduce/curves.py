"""Accuracy by length: rows of Tables 3 and 4 after 10 to 1000 optimizer steps, on validation."""

import json
import shutil
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from dgb.arrays import Array
from dgb.baselines.methods import USUAL_PROBE
from dgb.cookbook import load_recipe, with_seed
from dgb.data.graph import Graph, Split
from dgb.data.typed.graph import AnyGraph
from dgb.evaluate.heads import dgi_accuracies, resplit_accuracy
from dgb.evaluate.labels import draw_resplits, without_test_labels
from dgb.evaluate.probe import choose_classifier
from dgb.files.atomic import read_lines, write_json
from dgb.measure.job import Job, Line, Place, load
from dgb.measure.measure import make_head, train_lengths
from dgb.measure.runner import Work, require_lines, run
from dgb.recipe import Recipe
from dgb.reproduce.plan import with_seeds
from dgb.reproduce.published import ABLATIONS, BEST, BEYOND_TABLE_3, SWAPPED, rows, view_settings
from dgb.run.machine import choose_device, set_threads
from dgb.run.model import embed_graph
from dgb.run.resolve import resolve_recipe
from dgb.run.setup import Setup, make_setup
from dgb.settings import check_names

TABLE = "curves"
KEY = ("graph_hash", "recipe", "seed")
STEPS = (0, 10, 30, 100, 300, 600, 1000)  # of the optimizer; an epoch of row batches has several
STEPS_AN_EPOCH = {"cora": 1, "citeseer": 1, "pubmed": 5}
# What the paper's observations hang on: more trainings, and all that is measured on Pubmed.
MAIN = (
    *("in+adj|in+adj", "in+diff|in+adj", "nfd+adj|nd+adj", BEST, SWAPPED),
    *("without-projection", "p=0", "p=1"),
)
MAIN_RUNS, OTHER_RUNS, PUBMED_RUNS = 5, 3, 3
# In all rows alike, whatever a search makes of the paper's recipes later. The diffusion is an
# augmentation here: an error of 0.01 saves a third of its hops. What that and narrower heads do to
# the accuracy is measured on Cora.
SHARED = (
    *("encoder.width=512", "encoder.activation=prelu", "train.target_start=copy"),
    *("heads.hidden=256", "heads.width=256"),
    *(f"view{i}.{word}" for i in (1, 2) for word in ("nfd_drop_rate=0.7", "nd_drop_rate=0.5")),
    *("diffusion.kernel=ppr", "diffusion.alpha=0.05", "diffusion.heat_time=5"),
    *("diffusion.self_loops=false", "diffusion.error=0.01"),
)
CHEAPNESS = {
    "error 0.001": ("diffusion.error=0.001",),
    "heads 128": ("heads.hidden=128", "heads.width=128"),
}


def curve_recipes(dataset: str) -> dict[str, Recipe]:
    """Return the recipe of every row, at the same drop rates in all."""
    recipes = {row.key: long_recipe(dataset, view_settings(row.key)) for row in rows("table3")}
    changes = ABLATIONS | BEYOND_TABLE_3 | (CHEAPNESS if dataset == "cora" else {})
    recipes |= {row: long_recipe(dataset, sets) for row, sets in changes.items() if sets}
    if dataset == "pubmed":
        return {row: recipes[row] for row in MAIN}
    return {row: recipes[row] for row in (*MAIN, *(key for key in recipes if key not in MAIN))}


def long_recipe(dataset: str, sets: tuple[str, ...], steps: int = STEPS[-1]) -> Recipe:
    """Return the paper's recipe at a number of steps, with changes."""
    epochs = steps // STEPS_AN_EPOCH[dataset]
    length = (f"train.epochs={epochs}", f"train.monitor_every={epochs}")
    return load_recipe(f"paper-{dataset}", (*SHARED, *length, *sets))


def plan_curves(
    datasets: tuple[str, ...], runs: int | None = None, methods: tuple[str, ...] = ()
) -> list[Job]:
    """Return all trainings, a seed of every row of a data set before the next."""
    check_names("row of the curves", methods, curve_recipes("cora"))
    jobs: list[Job] = []
    for dataset in datasets:
        cells = [
            Job(TABLE, row, dataset, "dgb", recipe)
            for row, recipe in curve_recipes(dataset).items()
            if not methods or row in methods
        ]
        jobs += with_seeds(cells, [runs or _runs(cell) for cell in cells])
    return jobs


def _runs(cell: Job) -> int:
    if cell.dataset == "pubmed":
        return PUBMED_RUNS
    return MAIN_RUNS if cell.method in MAIN else OTHER_RUNS


def measure_curves(jobs: Sequence[Job], place: Place) -> list[Line]:
    """Return a line per training; those that were measured before are not repeated."""
    graphs = {job.dataset: _without_test(load(job.data, place)) for job in jobs}
    outcome = run(jobs, graphs, Work(measure_lengths, KEY), place)
    return require_lines(jobs, outcome)


def known_lines(table: str, jobs: Sequence[Job], results: Path) -> list[Line]:
    """Return the lines in a results folder that have the recipes of some jobs, of any seed."""
    cells = {(job.dataset, job.method, job.hash) for job in jobs}
    lines = read_lines(results / f"{table}.jsonl")
    return [m for m in lines if (m["dataset"], m["method"], m["recipe"]) in cells]


@lru_cache(maxsize=3)
def _without_test(graph: AnyGraph) -> Graph:
    assert isinstance(graph, Graph)  # the paper's all are
    return without_test_labels(graph, seed=0)


def measure_lengths(jobs: Sequence[Job], graph: AnyGraph, place: Place) -> list[Line]:
    """Return the lines of jobs that share a training, which never saw a test label.

    What is known after each length is kept next to the training's checkpoint until it ends.
    """
    set_threads(place.threads)
    graph = _without_test(graph)
    first, start = jobs[0], time.perf_counter()
    heads = [make_head(job, graph) for job in jobs]
    folder = place.results / "unfinished" / f"{first.dataset}-{first.hash}-{first.seed}"
    folder.mkdir(parents=True, exist_ok=True)
    scores = _read_scores(folder)
    setup = _shared_setup(graph, with_seed(first.recipe, 0))
    an_epoch = STEPS_AN_EPOCH[first.dataset]
    lengths = [n for steps in STEPS if (n := steps // an_epoch) <= first.recipe.train.epochs]
    for epochs, encoder, _ in train_lengths(setup, first.recipe, lengths, folder):
        for job in jobs:
            z = embed_graph(encoder, graph, job.recipe, is_own=True)
            scores.setdefault(job.method, {})[str(epochs * an_epoch)] = score_validation(z, graph)
        write_json(folder / SCORES, scores)
    shutil.rmtree(folder)
    seconds = {"seconds": round(time.perf_counter() - start, 1), "threads": place.threads}
    return [
        _line(head, scores[job.method]) | seconds for job, head in zip(jobs, heads, strict=True)
    ]


SCORES = "scores.json"
Scores = dict[str, dict[str, dict[str, float]]]  # by row, then steps, then what was measured


def _read_scores(folder: Path) -> Scores:
    path = folder / SCORES
    found: Scores = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return found


def _line(head: Line, scores: dict[str, dict[str, float]]) -> Line:
    del head["system"]  # no line of a table: it has no test accuracy
    return head | {"scores": scores}


@lru_cache(maxsize=1)
def _shared_setup(graph: Graph, recipe: Recipe) -> Setup:
    """Return what trainings of one row share, whatever their seed."""
    recipe = resolve_recipe(graph, recipe)
    return make_setup(graph, recipe, choose_device(recipe.train.device))


@lru_cache(maxsize=3)
def _resplits(graph: Graph) -> list[Split]:
    return draw_resplits(_labels(graph), graph.splits[0])


def score_validation(z: Array, graph: Graph) -> dict[str, float]:
    """Return accuracies by the solved probe and by DGI's, and DGI's over resplits."""
    labels, split = _labels(graph), graph.splits[0]
    return {
        "solved": choose_classifier(z, labels, split, USUAL_PROBE).validation,
        "dgi": float(dgi_accuracies(z, labels, split, seed=0)[0].mean()),
        "resplit": round(resplit_accuracy(z, labels, _resplits(graph)), 5),
    }


def _labels(graph: Graph) -> Array:
    assert graph.labels is not None
    return graph.labels
