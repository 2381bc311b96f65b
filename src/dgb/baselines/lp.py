"""LP (Zhu, Ghahramani and Lafferty 2003): labels spread as a harmonic function over the edges.

Train nodes keep their one-hot labels f_L; every other node has the mean of its neighbors,
    f_U = (D_UU − W_UU)^-1 W_UL f_L,
where D counts all edges of a node, those to train nodes too. Features are not read.
Taken: the equation, and class mass normalisation (its section 4), for any number of classes:
a node's class is argmax_c q_c f_ic / Σ_j f_jc, with q the share of class c among train nodes.
Decided: edge weights are the graph's own, where the paper takes a kernel of feature distances.
A node in a part of the graph without a train node has no solution: it gets the class prior, which
is the mean of f over the nodes that do have one. The shares among train nodes could not decide:
they are all equal on a balanced split.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, cg

from dgb.arrays import Array
from dgb.baselines.learn import labelled_nodes
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.settings import setting

TOLERANCE = 1e-8  # of the residual, far below what could change a class


@dataclass(frozen=True)
class Settings:
    """Of LP."""

    class_mass: bool = setting(True, "whether class masses are normalised to the train nodes'")


def classify(graph: Graph, settings: Settings, seed: int) -> Array:  # noqa: ARG001
    """Return a class for every node; nothing is drawn."""
    labels = labelled_nodes(graph, torch.device("cpu"))
    train = labels.train.numpy()
    one_hot = np.eye(labels.num_classes)[labels.y[labels.train].numpy()]
    f, is_reached = harmonic(graph.adjacency, train, one_hot)
    prior = f[is_reached].mean(0)
    if settings.class_mass:
        f = f * class_mass_weights(f, train, one_hot)
        f[train] = one_hot
    f[~is_reached] = prior
    named: Array = labels.classes[f.argmax(1)]
    return named


def harmonic(adjacency: Any, train: Array, one_hot: Array) -> tuple[Array, Array]:
    """Return f of all nodes [num_nodes, num_classes], and whether a train node reaches them."""
    _, part = connected_components(adjacency, directed=False)
    is_reached = np.isin(part, part[train])
    u = np.setdiff1d(np.flatnonzero(is_reached), train)
    w_u = sparse.csr_array(adjacency, dtype=np.float64)[u]
    degree = w_u.sum(axis=1)
    laplacian = sparse.diags_array(degree) - w_u[:, u]
    f = np.zeros((adjacency.shape[0], one_hot.shape[1]))
    f[train] = one_hot
    f[u] = _solve(sparse.csr_array(laplacian), degree, w_u[:, train] @ one_hot)
    return f, is_reached


def class_mass_weights(f: Array, train: Array, one_hot: Array) -> Array:
    """Return q_c / Σ_j f_jc over the nodes that are not train nodes; 0 where nothing arrived."""
    mass = np.delete(f, train, axis=0).sum(0)
    weights: Array = np.divide(one_hot.mean(0), mass, out=np.zeros_like(mass), where=mass > 0)
    return weights


def _solve(laplacian: Any, degree: Array, right: Array) -> Array:
    """Solve by conjugate gradients: factors of such a matrix are dense where hubs meet."""
    if len(degree) == 0:
        return right
    jacobi = LinearOperator(laplacian.shape, matvec=lambda v: v.ravel() / degree)
    columns = []
    for column in right.T:
        solution, failed = cg(laplacian, column, rtol=TOLERANCE, M=jacobi)
        if failed:
            raise DGBError("the harmonic function did not converge; are the edge weights extreme?")
        columns.append(solution)
    return np.stack(columns, axis=1)
