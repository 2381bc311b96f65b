"""EP-B (García-Durán and Niepert 2017): words whose mean at v is near their mean around v.

A word has an embedding, h(v) is the mean of those of v's words, h̃(v) the mean of h over the
neighbors of v, and v is ranked before a node u ≠ v by a margin γ:

    Σ_v Σ_{u≠v} [γ + d(h̃(v), h(v)) − d(h̃(v), h(u))]_+,  d Euclidean; h̃(v) represents v.

Taken from the paper (we found no public release): the loss with sampled u, 128 columns, Adam, and
γ chosen on validation nodes. Decided: the mean weighs words by their share of
the row of X and neighbors equally; embeddings start with variance one, so that distances are of
the size of the margins; all nodes make a step; a node without neighbors has no h̃, takes part
as u alone, and is represented by h(v).
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from dgb.arrays import Array
from dgb.baselines.inputs import as_dense, features, is_dense, seeded
from dgb.baselines.learn import Schedule, minimise
from dgb.data.graph import Graph
from dgb.run.machine import choose_device
from dgb.settings import setting
from dgb.views.features import row_normalise
from dgb.views.product import product, times
from dgb.views.sparse import SparseMatrix, sparse_matrix


@dataclass(frozen=True)
class Settings(Schedule):
    """Of EP-B; width and margin are its paper's."""

    width: int = setting(128, "columns of an embedding", low=1)
    margin: float = setting(10.0, "γ", low=0)
    negatives: int = setting(1, "nodes u drawn for a node and step", low=1)
    epochs: int = setting(200, "steps, each over all nodes", low=0)
    learning_rate: float = setting(0.01, "of Adam", low=0)


def ranking_loss(h: Tensor, rebuilt: Tensor, v: Tensor, u: Tensor, margin: float) -> Tensor:
    """Return the mean of [γ + d(h̃(v), h(v)) − d(h̃(v), h(u))]_+ over the pairs (v, u)."""
    centre = rebuilt.index_select(0, v)
    own, other = (
        torch.linalg.vector_norm(centre - h.index_select(0, node), dim=1) for node in (v, u)
    )
    return torch.relu(margin + own - other).mean()


def draw_others(v: Tensor, num_nodes: int) -> Tensor:
    """Return for each v a node that is not v, all others equally likely."""
    return (v + torch.randint(1, num_nodes, v.shape, device=v.device)) % num_nodes


def neighbor_mean(graph: Graph) -> SparseMatrix:
    """Return D⁻¹ A, whose rows are empty where a node has no neighbors."""
    return sparse_matrix(row_normalise((graph.adjacency != 0).astype(np.float32)))


def represent(graph: Graph, settings: Settings, seed: int) -> Array:
    """Return h̃ as rows, h where a node has no neighbors."""
    x, device = features(graph), choose_device("auto")
    x = as_dense(x) if is_dense(x) else x
    mean = neighbor_mean(graph).to(device)
    has_neighbors = mean.pattern.has_values
    v = has_neighbors.nonzero()[:, 0].repeat(settings.negatives)
    with seeded(seed):
        words = nn.Embedding(x.shape[1], settings.width).to(device)  # of variance one

        def loss() -> Tensor:
            h = times(x, words.weight)
            u = draw_others(v, graph.num_nodes)
            return ranking_loss(h, product(mean, h), v, u, settings.margin)

        if len(v):  # without any edge there is nothing to learn from
            minimise(words, loss, settings)
    h = times(x, words.weight.detach())
    rows: Array = torch.where(has_neighbors[:, None], product(mean, h), h).cpu().numpy()
    return rows
