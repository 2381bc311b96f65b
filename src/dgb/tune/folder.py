"""The folder of a search: Optuna's study, a line for every trial, and the recipe of the best."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dgb.cookbook import load_recipe, plain, recipe_hash
from dgb.data.typed.graph import AnyGraph
from dgb.errors import DGBError
from dgb.files.atomic import rewrite_lines, write_text
from dgb.measure.job import Line
from dgb.recipe import Recipe
from dgb.tune.space import Space

RECIPE = "recipe.toml"
TRIALS = "trials.jsonl"
FILE = "study.db"
ATTRIBUTE = "made_for"
DONE = ("COMPLETE", "PRUNED")


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


def import_optuna() -> Any:
    """Return Optuna, quiet but for warnings; it comes with an extra of this package."""
    try:
        import optuna
    except ImportError:
        raise DGBError("tune needs Optuna: pip install 'deep-graph-bootstrapping[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def open_study(folder: Path, made_for: dict[str, Any], warm_up: int) -> Any:
    """Return the folder's study, a new one where there is none; refuse one of another search.

    `warm_up` is the number of epochs before which no trial is given up.
    """
    optuna = import_optuna()
    folder.mkdir(parents=True, exist_ok=True)
    pruner = optuna.pruners.MedianPruner(n_startup_trials=5, n_warmup_steps=warm_up)
    try:
        study = optuna.create_study(
            study_name="dgb",
            storage=f"sqlite:///{folder / FILE}",
            direction="maximize",
            pruner=pruner,
            load_if_exists=True,
        )
        _check_purpose(study, made_for, folder)
    except DGBError:
        raise
    except Exception as error:  # SQLAlchemy's, SQLite's or Optuna's own, by what is broken
        reason = str(error).splitlines()[0]
        raise DGBError(f"cannot open {folder / FILE}: {reason}; give another --out") from error
    states = optuna.trial.TrialState
    for trial in study.get_trials(deepcopy=False, states=(states.RUNNING,)):
        study.tell(trial.number, state=states.FAIL)
    return study


def finished_trials(study: Any) -> list[Any]:
    """Return the trials that came to an end, in order; those that were interrupted do not count."""
    return [trial for trial in study.get_trials(deepcopy=False) if trial.state.name in DONE]


def next_trial(study: Any, seed: int, start: dict[str, Any]) -> Any:
    """Return a new trial, which depends on the finished ones and the seed alone.

    The first one is at `start`. A sampler that lived on through all trials would propose
    something else after an interruption.
    """
    optuna = import_optuna()
    count = len(finished_trials(study))
    state = np.random.SeedSequence([seed, count]).generate_state(1)
    study.sampler = optuna.samplers.TPESampler(seed=int(state[0]))
    waiting = study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.WAITING,))
    if count == 0 and start and not waiting:
        study.enqueue_trial(start)
    return study.ask()


def _check_purpose(study: Any, made_for: dict[str, Any], folder: Path) -> None:
    made_for = json.loads(json.dumps(made_for))
    known = study.user_attrs.get(ATTRIBUTE)
    if known is None:
        study.set_user_attr(ATTRIBUTE, made_for)
        return
    other = [name for name in made_for if known.get(name) != made_for[name]]
    if other:
        raise DGBError(
            f"{folder} holds a search with another {', '.join(other)}; "
            "give this one a folder of its own (--out), or the same settings to resume it"
        )
