"""SGC (Wu et al. 2019): P^K X, propagation without weights, read by a linear classifier.

P is D̃^-½ (A + I) D̃^-½ and X has rows that add up to 1. Taken from the paper: P, K = 2, and that
nothing is learnt before the classifier. Decided: the classifier is the linear probe that reads
all representations, not the paper's logistic regression with a tuned weight decay.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from dgb.data.graph import Graph
from dgb.settings import setting
from dgb.views.features import row_normalise
from dgb.views.operators import transition
from dgb.views.view import SPARSE_COST


@dataclass(frozen=True)
class Settings:
    """Of SGC; the default is its paper's."""

    hops: int = setting(2, "K, times that features travel over the edges", low=0)


def represent(graph: Graph, settings: Settings, seed: int) -> Any:  # noqa: ARG001
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
