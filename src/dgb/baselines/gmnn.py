"""GMNN (Qu, Bengio and Tang 2019) without labels: a node is to name the nodes around it.

q_θ(y_i | X) = softmax(C z_i), z = P σ(P X̃ W), with y_i the id of a node near i; it is learnt by
cross-entropy with T_ij = 1 / |N(i)| for j in N(i). Then rounds of EM: p_φ(y_i | y of neighbors) =
softmax(C' σ(Σ_j Ā_ij ỹ_j W')) learns to name what q^(1/τ) names, and q learns from T and from p.

Taken from the release: N(i) is all within `depth` steps (3 there), 512 units, input dropout .5,
2 rounds, q sharpened by τ = .1 and p not, and z of q as the representation, with or without p.
Decided: N(i) is without i; p is given q^(1/τ) itself, where the release draws one id from it; rows
of X add up to one, where the release has 0 and 1; no weight and no ReLU between z and C, where the
release has both; dropout falls on P X. Ā has no self-loops and p one layer: a second would hand a
node its own label back. The softmax over all ids is never made: a step compares `batch` nodes over
`ids` ids drawn evenly, and what q and p tell each other is kept for ids in N(i) with a probability
of 1e-3, or the most likely. Half of the target of q in a round is T. The release adds up the loss
over N(i) where T takes the mean, so its decay of 5e-4 and step size of .1 weigh more here: q on
Cora's validation nodes, two seeds, 56.5 with that decay, 76.3 with that step size, 81.0 with
neither. 100 epochs and 25 a part where it has 200 and 100, which gave less on both Planetoid graphs
tried (Cora, Citeseer).
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn
from torch.nn.functional import relu

from dgb.arrays import Array
from dgb.baselines.inputs import FeatureLinear, seeded
from dgb.baselines.learn import Schedule, minimise
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.model.layers import glorot
from dgb.run.machine import choose_device
from dgb.settings import setting
from dgb.views.features import row_normalise, to_features
from dgb.views.operators import transition
from dgb.views.product import product
from dgb.views.sparse import sparse_matrix

PAIRS_AT_ONCE = 100_000  # that many rows of z and of C lie in memory when q or p predicts
MOST_PAIRS = 2e8  # of nodes that are to name each other
SMALLEST = 1e-3  # probability that q and p tell each other


@dataclass(frozen=True)
class Settings(Schedule):
    """Of GMNN; the defaults are its release's where the text above names no other."""

    rounds: int = setting(2, "of EM after q alone; 0 has no p", low=0)
    hidden: int = setting(512, "units of the hidden layers", low=1)
    dropout: float = setting(0.5, "of the input", low=0, high=0.95)
    depth: int = setting(2, "steps to the farthest node to be named", low=1)
    tau: float = setting(0.1, "temperature of q where p learns from it", low=1e-3)
    batch: int = setting(500, "nodes a step", low=1)
    ids: int = setting(500, "ids a step to choose among", low=2)
    epochs: int = setting(100, "steps of q before the rounds", low=0)
    round_epochs: int = setting(25, "steps of p, and of q, in a round", low=0)
    learning_rate: float = setting(0.01, "of Adam", low=0)


class Network(nn.Module):
    """q or p: z = P₂ σ(P₁ X̃ W) of some nodes; `ids` are the rows of C."""

    def __init__(self, num_in: int, hop: Any, settings: Settings) -> None:
        """Draw the weights; `hop` is P₂ as scipy has it, the identity where there is none."""
        super().__init__()
        self.first = FeatureLinear(num_in, settings.hidden, settings.dropout)
        self.ids = glorot(hop.shape[0], settings.hidden, torch.default_generator)
        self.hop = hop.astype(np.float32)

    def forward(self, x: Any, nodes: Array) -> Tensor:
        """Return z of the nodes; x is P₁ X as scipy has it, so that only rows in use are made."""
        device, hop = self.ids.device, self.hop[nodes]
        used = np.unique(hop.indices)
        h = relu(self.first(to_features(x[used]).to(device)))
        return product(sparse_matrix(hop[:, used]).to(device), h)


def represent(graph: Graph, settings: Settings, seed: int) -> Array:
    """Return z of q for every node."""
    loops, plain = (smooth(graph.adjacency, self_loops=loops) for loops in (True, False))
    x, observed = loops @ row_normalise(graph.x), near(graph.adjacency, settings.depth)
    alone = sparse.eye_array(graph.num_nodes, format="csr")
    schedule = replace(settings, epochs=settings.round_epochs)
    with seeded(seed) as rng:
        q = Network(x.shape[1], loops, settings).to(choose_device("auto"))
        p = Network(graph.num_nodes, alone, settings).to(q.ids.device)
        fit_network(q, x, observed, settings, rng)
        for _ in range(settings.rounds):
            predicted = predictions(q, x, observed, settings.tau)
            fit_network(p, plain @ predicted, predicted, schedule, rng)
            answer = predictions(p, plain @ predicted, observed)
            fit_network(q, x, (observed + answer) / 2, schedule, rng)
        return np.asarray(encode_nodes(q, x).cpu())


def near(adjacency: Any, depth: int) -> Any:
    """Return T: rows that are even over the other nodes within `depth` steps."""
    reached = sparse.csr_array(adjacency != 0).astype(np.float32)
    degree = reached.sum(axis=1)
    if depth > 1 and (most := float(degree @ degree)) > MOST_PAIRS:
        raise DGBError(f"gmnn: {most:.0e} pairs are {depth} steps apart; use --set gmnn.depth=1")
    hop = reached.copy()
    for _ in range(depth - 1):
        reached = reached + reached @ hop
        reached.data[:] = 1
    reached.setdiag(0)
    reached.eliminate_zeros()
    return _with_sums_of_one(reached)


def smooth(adjacency: Any, *, self_loops: bool) -> Any:
    """Return P = D̃^-½ (A + I) D̃^-½, or without I: from that a node learns no label of its own."""
    return transition(adjacency, self_loops=self_loops, dtype=np.float32)[0]


def fit_network(
    network: Network, x: Any, target: Any, schedule: Settings, rng: np.random.Generator
) -> None:
    """Train q or p in place to name nodes as the rows of the sparse target do."""

    def loss() -> Tensor:
        sizes = (schedule.batch, schedule.ids)
        nodes, ids = (rng.permutation(target.shape[0])[:size] for size in sizes)
        c = network.ids[torch.from_numpy(ids).to(network.ids.device)]
        return cross_entropy(network(x, nodes), c, target[nodes][:, ids])

    minimise(network, loss, schedule)


def cross_entropy(z: Tensor, c: Tensor, target: Any) -> Tensor:
    """Return the mean of −Σ_j T_ij log softmax_j(C z_i) over some nodes and among some ids."""
    # The softmax over a part of the ids is best where the whole one, renormalised, is best.
    wanted = torch.from_numpy(target.toarray()).to(z)
    return -(wanted * (z @ c.T).log_softmax(1)).sum() / wanted.sum().clamp(min=1e-12)


@torch.no_grad()
def encode_nodes(network: Network, x: Any) -> Tensor:
    """Return z of all nodes without dropout."""
    z: Tensor = network.eval()(x, np.arange(x.shape[0]))
    return z


@torch.no_grad()
def predictions(network: Network, x: Any, observed: Any, tau: float = 1.0) -> Any:
    """Return softmax(C z_i / τ) among the nodes near i, as a sparse matrix."""
    from torch_geometric.utils import softmax

    z, pairs = encode_nodes(network, x), observed.tocoo()
    index = torch.from_numpy(np.stack([pairs.row, pairs.col])).long().to(z.device)
    parts = torch.split(index, PAIRS_AT_ONCE, 1)
    logits = torch.cat([(z[i] * network.ids[j]).sum(1) for i, j in parts])
    values = softmax(logits / tau, index[0], num_nodes=len(z)).cpu().numpy()
    predicted = sparse.csr_array((values, (pairs.row, pairs.col)), shape=observed.shape)
    # A sharp q leaves little else, and products cost by non-zeros; but no row may become empty.
    most = np.repeat(predicted.max(axis=1).toarray().reshape(-1), np.diff(predicted.indptr))
    predicted.data[(predicted.data < SMALLEST) & (predicted.data < most)] = 0
    predicted.eliminate_zeros()
    return _with_sums_of_one(predicted)


def _with_sums_of_one(matrix: Any) -> Any:
    total = np.asarray(matrix.sum(axis=1)).reshape(-1)
    matrix.data /= np.repeat(total, np.diff(matrix.indptr))
    return matrix
