"""What a search has found: the recipe of the best trial, and a line for every trial."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dgb.cookbook import load_recipe, plain, recipe_hash
from dgb.data.typed.graph import AnyGraph
from dgb.files.atomic import write_text
from dgb.files.jsonl import rewrite_lines
from dgb.measure.job import Line
from dgb.recipe import Recipe
from dgb.tune.candidate import AUC, VALIDATION
from dgb.tune.criteria import CRITERIA
from dgb.tune.space import Space

RECIPE = "recipe.toml"
TRIALS = "trials.jsonl"


@dataclass(frozen=True, eq=False)
class Search:
    """What is searched, and by what."""

    graph: AnyGraph  # without test labels
    recipe: Recipe  # what all candidates share
    space: Space
    criterion: str
    seeds: range
    every: int  # epochs between two scores


@dataclass(frozen=True, eq=False)
class Found:
    """The best recipe, with the score and the trials that speak for it."""

    recipe: Recipe
    criterion: str
    score: float  # mean over seeds
    lines: list[Line]  # of all trials, as in trials.jsonl


def best_line(lines: list[Line]) -> Line | None:
    """Return the line of the complete trial with the best score, the first of equals."""
    complete = [line for line in lines if line["state"] == "complete"]
    return max(complete, key=lambda line: float(line["score"]), default=None)


def write_found(lines: list[Line], search: Search, folder: Path) -> Found | None:
    """Write all lines and the best recipe, if there is one yet, and return what was found."""
    import tomli_w

    rewrite_lines(folder / TRIALS, lines)
    best = best_line(lines)
    if best is None:
        return None
    recipe = load_recipe(search.recipe, [*best["overrides"], f"train.epochs={best['epoch']}"])
    found = Found(recipe, search.criterion, best["score"], lines)
    text = f"{_header(found, search)}\n{tomli_w.dumps(_differences(recipe))}"
    write_text(folder / RECIPE, text)
    return found


def _header(found: Found, search: Search) -> str:
    states = [line["state"] for line in found.lines]
    name = " ".join(search.graph.name.split())  # of a file, which may hold anything
    what = "accuracy on validation" if search.criterion == "validation" else search.criterion
    lines = [
        f"Found by `dgb tune` on {name}, starting from recipe {recipe_hash(search.recipe)}.",
        f"{what}: {found.score:.4f}, mean over {len(search.seeds)} seed(s) "
        f"from {search.seeds.start}, after {found.recipe.train.epochs} epochs.",
        f"Best of {len(states)} trials ({states.count('pruned')} pruned, "
        f"{states.count('failed')} failed) of at most {search.recipe.train.epochs} epochs, "
        f"scored every {search.every}.",
        "Searched:",
        *(f"  {knob}" for knob in search.space),
        "No test label was read.",
    ]
    return "".join(f"# {line}\n" for line in lines)


def _differences(recipe: Recipe) -> dict[str, dict[str, Any]]:
    # The graph is named by the command that runs a recipe, perhaps on another machine.
    recipe = replace(recipe, data=replace(recipe.data, graph=""))
    defaults = plain(Recipe())
    changed = {
        name: {key: value for key, value in section.items() if value != defaults[name][key]}
        for name, section in plain(recipe).items()
    }
    return {name: section for name, section in changed.items() if section}


def rank_agreement(lines: Iterable[Line]) -> dict[str, tuple[float, int]]:
    """Return Spearman's correlation of every criterion with validation accuracy, and its n.

    It is taken over finished trials after their last epoch: a criterion that falls as training goes
    on may well rank runs of equal length. One that is the same in all agrees by 0.
    """
    from scipy.stats import spearmanr

    last = [line["history"][-1] for line in lines if line["state"] == "complete"]
    finished = [point for point in last if VALIDATION in point]
    truth = [point[VALIDATION] for point in finished]
    agreement: dict[str, tuple[float, int]] = {}
    has_auc = bool(finished) and all(AUC in point for point in finished)
    for name in (*CRITERIA, AUC) if has_auc else CRITERIA:
        values = [point[name] for point in finished]
        is_ranked = len(set(values)) > 1 and len(set(truth)) > 1
        rho = float(spearmanr(values, truth).statistic) if is_ranked else 0.0
        agreement[name] = (rho if math.isfinite(rho) else 0.0, len(finished))
    return agreement
