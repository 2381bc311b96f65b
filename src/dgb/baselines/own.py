"""DGB among the systems that are compared, with what it has to be better than.

That is the encoder untrained, the features alone, and features that travel over the edges without
any training: what costs none is the row to beat. P is D̃^-½ (A + I) D̃^-½ and X has rows that add up
to 1, read by the linear probe that reads all representations.

SGC (Wu et al. 2019): P^K X. Taken from the paper: P, K = 2, and that nothing is learnt before the
classifier. Decided: the linear probe, not logistic regression with a tuned weight decay.

Diffused features: Σ_k α (1 − α)^k P^k X. Taken: personalised PageRank in place of SGC's fixed
number of hops, as APPNP (Klicpera et al. 2019) and GDC (2019) have it. Decided: α = 0.1 everywhere,
and the 512 directions that hold most of the product where it has more columns, for memory.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse

from dgb.arrays import Array
from dgb.cookbook import load_recipe, with_seed
from dgb.data.graph import Graph
from dgb.data.typed.graph import AnyGraph
from dgb.recipe import DiffusionRecipe
from dgb.recipe import Recipe as Settings
from dgb.run.setup import Trained
from dgb.run.train import train
from dgb.settings import setting
from dgb.views.features import normalise_features, row_normalise, to_features
from dgb.views.operators import make_diff, transition
from dgb.views.reduce import DiffusedFeatures, main_directions
from dgb.views.view import SPARSE_COST


@dataclass(frozen=True)
class Hops:
    """Of SGC; the default is its paper's."""

    hops: int = setting(2, "K, times that features travel over the edges", low=0)


@dataclass(frozen=True)
class PageRank:
    """Of diffused features."""

    alpha: float = setting(0.1, "teleport probability of PPR", low=1e-4, high=1)
    columns: int = setting(512, "columns that are kept", low=1)


def represent(graph: AnyGraph, settings: Settings, seed: int) -> Any:
    """Train DGB and return the representations of the nodes that have labels."""
    return train_rows(graph, with_seed(settings, seed))[1]


def untrained(graph: AnyGraph, settings: Settings, seed: int) -> Any:
    """Return the representations by the encoder as it was drawn: what the graph alone is worth."""
    return represent(graph, load_recipe(settings, ["train.epochs=0"]), seed)


def raw(graph: AnyGraph, settings: Settings, seed: int) -> Any:  # noqa: ARG001
    """Return the normalised features alone, dense or sparse as they came."""
    x = graph.x if isinstance(graph, Graph) else graph.nodes[graph.target].x
    return normalise_features(x, settings.data)


def train_rows(graph: AnyGraph, recipe: Settings) -> tuple[Trained, Any]:
    """Return a training, and its representations of the nodes that have labels."""
    trained = train(graph, recipe)
    return trained, trained.embeddings()[trained.setup.labelled]


def propagate(graph: Graph, settings: Hops, seed: int) -> Any:  # noqa: ARG001
    """Return P^K X, sparse or dense as is cheaper."""
    return propagate_features(row_normalise(graph.x), graph.adjacency, settings.hops)


def propagate_features(x: Any, adjacency: Any, hops: int) -> Any:
    """Return P^hops X, dense from the hop on where few zeros are left."""
    p, _ = transition(adjacency, self_loops=True, dtype=np.float32)
    for hop in range(hops + 1):
        x = p @ x if hop else x
        if sparse.issparse(x) and x.nnz * SPARSE_COST >= x.shape[0] * x.shape[1]:
            x = x.toarray()
    return x


@torch.no_grad()
def diffuse(graph: Graph, settings: PageRank, seed: int) -> Array:  # noqa: ARG001
    """Return S X, or its main directions where X has more columns than are kept."""
    x = to_features(row_normalise(graph.x))
    recipe = DiffusionRecipe(alpha=settings.alpha, self_loops=True)
    diffused = DiffusedFeatures(x, make_diff(graph.adjacency, recipe))
    return diffused.multiply(main_directions(diffused, settings.columns)).numpy()
