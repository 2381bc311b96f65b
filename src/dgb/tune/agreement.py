"""How well a label-free criterion stands in for labels, measured on the trials of a search."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from dgb.tune.criteria import CRITERIA
from dgb.tune.labels import VALIDATION

Line = Mapping[str, Any]


def rank_agreement(lines: Iterable[Line]) -> dict[str, tuple[float, int]]:
    """Return Spearman's correlation of every criterion with validation accuracy, and its n.

    It is taken over finished trials after their last epoch: a criterion that falls as training goes
    on may well rank runs of equal length. One that is the same in all agrees by 0.
    """
    from scipy.stats import spearmanr

    finished = _finished(lines)
    truth = [point[VALIDATION] for point in finished]
    agreement: dict[str, tuple[float, int]] = {}
    for name in CRITERIA:
        values = [point[name] for point in finished]
        is_ranked = len(set(values)) > 1 and len(set(truth)) > 1
        rho = float(spearmanr(values, truth).statistic) if is_ranked else 0.0
        agreement[name] = (rho if math.isfinite(rho) else 0.0, len(finished))
    return agreement


def chosen_by(lines: Iterable[Line]) -> dict[str, float]:
    """Return the validation accuracy of the finished trial that each criterion would choose.

    That of `validation` itself is the most that any choice can reach.
    """
    finished = _finished(lines)
    if not finished:
        return {}
    names = (VALIDATION, *CRITERIA)
    return {name: float(max(finished, key=lambda point: point[name])[VALIDATION]) for name in names}


def _finished(lines: Iterable[Line]) -> list[Line]:
    last = [line["history"][-1] for line in lines if line["state"] == "complete"]
    return [point for point in last if VALIDATION in point]
