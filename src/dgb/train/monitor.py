"""Label-free health of a run: effective rank, spread, and a warning on collapse."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import torch
from numpy.typing import NDArray
from torch import Tensor

from dgb.files.atomic import read_lines, rewrite_lines
from dgb.model.bootstrap import Outputs
from dgb.model.layers import l2_normalise
from dgb.recipe import Train
from dgb.terminal import log

METRICS = "metrics.jsonl"
SAMPLE = 1024  # rows that are looked at: enough for both measures, and cheap for any width
# A healthy run stays far above both, a collapsed one falls below within some epochs.
LEAST_SPREAD = 0.02
LEAST_RANK = 2.0
_HIGH_DECAY = 0.99  # above it a target hardly moves in the epochs that runs have
FEWEST = 10  # nodes, of which a low rank says nothing


@torch.no_grad()
def health(outputs: Outputs) -> dict[str, float]:
    """Return the effective rank of the representations and the spread of the projections."""
    h, z = outputs.representation1, outputs.target2
    # Without a target the representations themselves tell whether all nodes have become alike.
    return {"effective_rank": effective_rank(h), "spread": spread(z if len(z) else h)}


def effective_rank(z: Tensor) -> float:
    """Return exp of the entropy of the centred rows' normalised singular values (Roy 2007)."""
    z = _sample(z).cpu().double()  # Apple's GPU has no double precision
    z = z - z.mean(dim=0)
    gram = z @ z.T if z.shape[0] < z.shape[1] else z.T @ z
    singular = torch.linalg.eigvalsh(gram).clamp(min=0).sqrt()
    if singular.sum() < 1e-12:
        return 0.0
    p = singular / singular.sum()
    return float(torch.exp(-(p * torch.log(p.clamp(min=1e-300))).sum()))


def spread(z: Tensor) -> float:
    """Return the variance of the ℓ2-normalised rows: 0 when all are alike, at most 1."""
    return float(1 - l2_normalise(_sample(z)).mean(dim=0).square().sum())


def is_collapsed(measures: Mapping[str, float]) -> bool:
    """Tell whether a line of metrics with health in it shows all nodes alike, or along one line."""
    if "spread" not in measures:
        return False
    return measures["spread"] < LEAST_SPREAD or measures["effective_rank"] < LEAST_RANK


def describe_cures(recipe: Train, *, has_norm: bool) -> str:
    """Return what may keep a run from collapsing and is not set already."""
    cures = [] if has_norm else ["set heads.batch_norm=true"]
    if recipe.decay < _HIGH_DECAY:
        cures.append(f"raise train.decay={recipe.decay:g}")
    cures.append(f"lower train.learning_rate={recipe.learning_rate:g}")
    return f"{', '.join(cures)}, or see with `dgb data check` whether the features say anything"


def measure_rank(z: NDArray[Any]) -> float:
    """Return the effective rank of embeddings, and warn where rows hardly differ."""
    rank = effective_rank(torch.from_numpy(z))
    if rank < LEAST_RANK and len(z) > FEWEST:
        log(
            f"warning: the embeddings have effective rank {rank:.1f}: they hardly tell nodes "
            "apart; `dgb data check` lists columns that say nothing"
        )
    return round(rank, 1)


def area_under_curve(scores: Tensor, truth: Tensor) -> dict[str, float]:
    """Return the share of (true, false) pairs that scores order rightly, ties for a half."""
    true, false = scores[truth > 0], scores[truth <= 0].sort().values
    if not len(true) or not len(false):
        return {}
    below, upto = (torch.searchsorted(false, true, right=right) for right in (False, True))
    return {"auc": int((below + upto).sum()) / (2 * len(true) * len(false))}


def _sample(z: Tensor) -> Tensor:
    step = max(1, z.shape[0] // SAMPLE)
    return z[::step][:SAMPLE]


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """Return the metrics of a run, a line an epoch."""
    return [line for line in read_lines(folder / METRICS) if isinstance(line.get("epoch"), int)]


@contextmanager
def open_metrics(folder: Path | None, epoch: int) -> Iterator[TextIO | None]:
    """Open the metrics for appending after `epoch`; later lines of a killed run go first."""
    if folder is None:
        yield None
        return
    rewrite_lines(folder / METRICS, [m for m in read_metrics(folder) if m["epoch"] <= epoch])
    with (folder / METRICS).open("a", encoding="utf-8", buffering=1) as file:
        yield file


def show_line(bar: Any, line: dict[str, Any], cures: str) -> None:
    """Move the bar by an epoch, and warn of a collapse in its metrics, unless without cures."""
    shown = {"loss": f"{line['loss']:.4f}"}
    if "auc" in line:
        shown |= {"auc": f"{line['auc']:.3f}"}
    if "spread" in line:
        shown |= {"rank": f"{line['effective_rank']:.0f}", "spread": f"{line['spread']:.2f}"}
    bar.set_postfix(shown, refresh=False)
    bar.update()
    if cures and is_collapsed(line):
        log(
            f"warning: epoch {line['epoch']}: this run has collapsed (spread of the projections "
            f"{line['spread']:.3f}, effective rank {line['effective_rank']:.1f}); "
            f"{cures}"
        )
