"""Diffused features: Σ_k α (1 − α)^k P^k X, nothing learnt, read by a linear classifier.

P is D̃^-½ (A + I) D̃^-½ and X has rows that add up to 1. Taken: personalised PageRank in place of
SGC's fixed number of hops, as APPNP (Klicpera et al. 2019) and GDC (2019) have it. Decided: α = 0.1
everywhere, and the 512 directions that hold most of the product where it has more columns, for
memory. What costs no training is the row to beat.
"""

from dataclasses import dataclass

import torch

from dgb.arrays import Array
from dgb.data.graph import Graph
from dgb.recipe import DiffusionRecipe
from dgb.settings import setting
from dgb.views.features import row_normalise, to_features
from dgb.views.operators import make_diff
from dgb.views.reduce import DiffusedFeatures, main_directions


@dataclass(frozen=True)
class Settings:
    """Of the diffusion."""

    alpha: float = setting(0.1, "teleport probability of PPR", low=1e-4, high=1)
    columns: int = setting(512, "columns that are kept", low=1)


@torch.no_grad()
def represent(graph: Graph, settings: Settings, seed: int) -> Array:  # noqa: ARG001
    """Return S X, or its main directions where X has more columns than are kept."""
    x = to_features(row_normalise(graph.x))
    recipe = DiffusionRecipe(alpha=settings.alpha, self_loops=True)
    diffused = DiffusedFeatures(x, make_diff(graph.adjacency, recipe))
    return diffused.multiply(main_directions(diffused, settings.columns)).numpy()
