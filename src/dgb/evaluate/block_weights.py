"""Weights of the blocks of a vector, chosen on validation: a figure of its own, not the main one.

Other systems have no blocks to weigh, so that this figure is not to be compared with theirs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from dgb.arrays import Array
from dgb.data.graph import Split
from dgb.evaluate.probe import Nodes, ProbeScores, accuracy, choose_classifier
from dgb.recipe import Probe

GRID = (0.0, 0.3, 1.0)  # tried next to a block's own weight


@dataclass(frozen=True)
class Blocks:
    """The blocks of vectors, in the order of their columns, and the weights that they come with."""

    widths: dict[str, int]
    weights: dict[str, float]

    def choices(self) -> Iterator[dict[str, float]]:
        """Yield weights to try, their own first; the first block keeps its own."""
        yield self.weights
        first, *others = self.weights.items()
        # Columns that came with weight 0 are zeros: no other weight brings them back.
        grids = [sorted({*GRID, own}) if own else [0.0] for _, own in others]
        for values in product(*grids):
            found = dict([first, *zip(dict(others), values, strict=True)])
            if found != self.weights:
                yield found

    def factors(self, weights: dict[str, float]) -> Array:
        """Return what each column is multiplied by to have other weights than its own."""
        ratios = [weights[name] / own if own else 1.0 for name, own in self.weights.items()]
        return np.repeat(np.array(ratios, np.float32), list(self.widths.values()))


@dataclass(frozen=True, eq=False)
class WeighedRows:
    """Rows whose columns are multiplied when they are taken: z may be larger than the memory."""

    z: Any
    factors: Array  # [width]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.z.shape[0], self.z.shape[1]

    def __getitem__(self, nodes: Nodes) -> Array:
        """Return some rows."""
        return np.asarray(self.z[nodes] * self.factors)


def weigh_blocks(
    z: Array, labels: Array, split: Split, recipe: Probe, blocks: Blocks
) -> ProbeScores:
    """Score embeddings with the weights that validation chose; test labels are read once for them.

    Their own weights are among those tried: validation is never below that of `linear_probe`.
    """
    found = []
    for weights in blocks.choices():
        rows = WeighedRows(z, blocks.factors(weights))
        found.append((choose_classifier(rows, labels, split, recipe), rows, weights))
    chosen, rows, weights = max(found, key=lambda f: (f[0].validation, -f[0].validation_loss))
    right = accuracy(chosen.predict(rows, split.test), labels[split.test])
    return ProbeScores(chosen.validation, right, chosen.settings | {"weights": weights})
