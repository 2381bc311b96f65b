"""Optuna's study in a folder: opened, or resumed when it was made for the same search."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from dgb.errors import DGBError

FILE = "study.db"
ATTRIBUTE = "made_for"
DONE = ("COMPLETE", "PRUNED")


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
