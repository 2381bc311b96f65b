"""The probe as HeCo (Wang et al. 2021) defines it: 50 linear heads, each at its best step.

Every head is read where it was best on validation, after any of 200 steps: for Macro-F1 where
Macro-F1 was best, for Micro-F1 and AUC where accuracy was. HeCo has one learning rate a data set;
here validation chooses it. No prediction of a test node is made before all this is chosen.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from dgb.arrays import Array, row_parts
from dgb.data.graph import Split
from dgb.evaluate.heads import (
    HEADS,
    LinearHeads,
    class_codes,
    count_classes,
    dense_rows,
    draw_heads,
    labelled_rows,
    macro_f1,
    micro_f1,
    train_steps,
)
from dgb.evaluate.labels import sample_nodes, sample_split

STEPS, LEARNING_RATES = 200, (0.05, 0.01)  # HeCo's on ACM, on DBLP


@dataclass(frozen=True)
class HecoScores:
    """Means over heads on test, what they were chosen by, and deviations over heads."""

    macro_f1: float
    micro_f1: float  # which is accuracy
    auc: float | None  # None where all test nodes are of one class: there is nothing to rank
    validation: float  # Macro-F1, which the learning rate was chosen by
    validation_accuracy: float
    learning_rate: float
    std_over_heads: dict[str, float]  # of macro_f1, micro_f1 and auc


@dataclass(frozen=True, eq=False)
class Best:
    """Of every head, its weights after the first step with the best score on validation."""

    heads: LinearHeads
    scores: Tensor  # [heads]
    steps: Tensor  # [heads], counted from 0


@dataclass(frozen=True, eq=False)
class Chosen:
    """The heads of one learning rate, by either measure."""

    learning_rate: float
    macro: Best
    micro: Best


def heco_scores(z: Any, labels: Array, split: Split, seed: int) -> HecoScores:
    """Score embeddings, all divided by one number, their root mean square.

    Steps of a fixed length presume numbers around one: those of HeCo's encoder are, others
    would be scored by their unit.
    """
    z = z / _root_mean_square(z)
    chosen = choose_heads(z, labels, split, seed)
    codes, num_classes = class_codes(labels)
    macro, micro = (
        count_classes(best.heads, labelled_rows(z, codes, split.test, num_classes))
        for best in (chosen.macro, chosen.micro)
    )
    found = {"macro_f1": macro_f1(macro).numpy(), "micro_f1": micro_f1(micro).numpy()}
    # A sample of very many nodes: an area sorts them for every head and class.
    areas = _areas(chosen.micro.heads, z, codes, sample_nodes(split.test, labels))
    if areas is not None:
        found["auc"] = areas
    mean = {name: float(np.mean(values)) for name, values in found.items()}
    return HecoScores(
        macro_f1=mean["macro_f1"],
        micro_f1=mean["micro_f1"],
        auc=mean.get("auc"),
        validation=float(chosen.macro.scores.mean()),
        validation_accuracy=float(chosen.micro.scores.mean()),
        learning_rate=chosen.learning_rate,
        std_over_heads={name: float(np.std(values)) for name, values in found.items()},
    )


def _root_mean_square(z: Any) -> float:
    values = z.data if sparse.issparse(z) else z
    total = sum(
        float(np.square(values[part], dtype=np.float64).sum())
        for part in row_parts(len(values), values.size // max(len(values), 1))
    )
    return (total / (z.shape[0] * z.shape[1])) ** 0.5 or 1.0


def choose_heads(z: Any, labels: Array, split: Split, seed: int) -> Chosen:
    """Return the heads with the best mean Macro-F1 on validation; never reads a test label.

    Of more than 100,000 train nodes, or validation nodes, a sample of as many is taken.
    """
    split = sample_split(split, labels)
    codes, num_classes = class_codes(labels)
    x, y = dense_rows(z, split.train), torch.from_numpy(codes[split.train])
    validation = list(labelled_rows(z, codes, split.validation, num_classes))
    # Below any score, so that the first step is better than none.
    nothing = torch.full((HEADS,), -1.0, dtype=torch.float64)
    tried = []
    for rate in LEARNING_RATES:
        heads = draw_heads(z.shape[1], num_classes, seed)
        macro = micro = Best(heads, nothing, torch.zeros(HEADS, dtype=torch.int64))
        for step in train_steps(heads, x, y, rate, STEPS):
            counts = count_classes(heads, validation)
            macro = _better(macro, heads, macro_f1(counts), step)
            micro = _better(micro, heads, micro_f1(counts), step)
        tried.append(Chosen(rate, macro, micro))
    return max(tried, key=lambda chosen: float(chosen.macro.scores.mean()))


@torch.no_grad()
def _better(best: Best, heads: LinearHeads, scores: Tensor, step: int) -> Best:
    is_better = scores > best.scores
    columns = is_better.repeat_interleave(heads.num_classes)
    kept = LinearHeads(
        torch.where(columns, heads.weight, best.heads.weight),
        torch.where(columns, heads.bias, best.heads.bias),
    )
    steps = best.steps.masked_fill(is_better, step)
    return Best(kept, torch.where(is_better, scores, best.scores), steps)


@torch.no_grad()
def _areas(heads: LinearHeads, z: Any, codes: Array, nodes: Array) -> Array | None:
    """Return the area under the ROC curve of every head, a class against the rest, averaged.

    The mean is over the classes that have a test node; the others cannot be ranked. The area is
    the share of pairs, one node of the class and one of the rest, that are ranked rightly, which
    the ranks of the class give for all heads at once.
    """
    from scipy.stats import rankdata

    truth = codes[nodes]
    classes = np.unique(truth)
    if len(classes) < 2:
        return None
    parts = labelled_rows(z, codes, nodes, heads.num_classes)
    scores = torch.cat([heads.logits(x).softmax(dim=2) for x, _ in parts]).numpy()
    areas = []
    for c in classes:
        inside, outside = int((truth == c).sum()), int((truth != c).sum())
        ranks = rankdata(scores[:, :, c], axis=0)[truth == c].sum(axis=0)  # equal ones share theirs
        areas.append((ranks - inside * (inside + 1) / 2) / (inside * outside))
    return np.asarray(np.mean(areas, axis=0))
