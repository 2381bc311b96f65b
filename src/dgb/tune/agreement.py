"""How well a label-free criterion stands in for labels, measured on the trials of a search."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from dgb.tune.criteria import CRITERIA
from dgb.tune.labels import VALIDATION

Line = Mapping[str, Any]


def rank_agreement(lines: Iterable[Line]) -> dict[str, tuple[float, int]]:
    """Return Spearman's correlation of every criterion with validation accuracy.

    Every score of every trial counts, as a search chooses among trials and epochs alike; beside the
    correlation stands their number. A criterion that is the same in all agrees by 0.
    """
    from scipy.stats import spearmanr

    scores = _points(lines)
    truth = [point[VALIDATION] for point in scores]
    agreement: dict[str, tuple[float, int]] = {}
    for name in CRITERIA:
        values = [point[name] for point in scores]
        is_ranked = len(set(values)) > 1 and len(set(truth)) > 1
        rho = float(spearmanr(values, truth).statistic) if is_ranked else 0.0
        agreement[name] = (rho if math.isfinite(rho) else 0.0, len(scores))
    return agreement


def chosen_by(lines: Iterable[Line]) -> dict[str, float]:
    """Return the validation accuracy where each criterion is highest, over trials and epochs.

    That of `validation` itself is the most that any choice can reach.
    """
    points = _points(lines)
    if not points:
        return {}
    names = (VALIDATION, *CRITERIA)
    return {name: float(max(points, key=lambda point: point[name])[VALIDATION]) for name in names}


def _points(lines: Iterable[Line]) -> list[Line]:
    return [point for line in lines for point in line["history"] if VALIDATION in point]
