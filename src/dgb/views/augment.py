"""Augmentations: node dropout (Eq. 2), node feature dropout (Eq. 3), and edges that are hidden.

A view names them as Table 3 does, with the operator that features travel over: "nfd+adj".
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from dgb.errors import DGBError
from dgb.recipe import ViewRecipe
from dgb.views.sparse import SparseMatrix

Features = Tensor | SparseMatrix  # [num_nodes, num_features]
VALUES, NODES, EDGES = "values", "nodes", "edges"
IDENTITY = "in"  # of a view without augmentation
OPERATORS = ("adj", "diff")


class Augmentation(NamedTuple):
    """A word of a view: for what it draws one number each, and what it drops by them.

    Whoever draws in parts, some rows at a time or on several machines, draws as many numbers as
    this says: for every stored value of X, every node, or every undirected edge.
    """

    draws: str  # VALUES, NODES or EDGES
    drop: Callable[[Any, float, torch.Generator], Any]  # features (of EDGES: a graph) and drop rate


def augment(
    x: Features, drops: Iterable[tuple[str, float]], generator: torch.Generator
) -> Features:
    """Apply augmentations of features one after the other, each by its name and drop rate."""
    for name, drop_rate in drops:
        x = AUGMENTATIONS[name].drop(x, drop_rate, generator)
    return x


def drop(x: Features, drops: Iterable[tuple[str, float]], generator: torch.Generator) -> Features:
    """Apply augmentations, and leave out the zeros that products would multiply."""
    dropped = augment(x, drops, generator)
    return dropped.without_zeros() if isinstance(dropped, SparseMatrix) else dropped


def node_dropout(x: Features, drop_rate: float, generator: torch.Generator) -> Features:
    """Zero whole rows with probability `drop_rate` and rescale the others by 1 / (1 − δ), Eq. 2."""
    return scale_rows(x, node_factors(x, [drop_rate], generator))


def node_factors(x: Features, drop_rates: Iterable[float], generator: torch.Generator) -> Tensor:
    """Return what node dropout multiplies the rows by, [num_nodes, 1], once or several times."""
    keep = torch.ones(x.shape[0], device=x.device)
    for drop_rate in drop_rates:
        keep *= _bernoulli(len(keep), drop_rate, generator).to(x.device)
    return keep[:, None]


def scale_rows(x: Features, factors: Tensor) -> Features:
    """Return the rows of X times their factors, [num_nodes, 1]."""
    if isinstance(x, SparseMatrix):
        return x.with_values(x.values * factors[:, 0][x.pattern.row])
    return x * factors


def node_feature_dropout(x: Features, drop_rate: float, generator: torch.Generator) -> Features:
    """Zero single elements with probability `drop_rate` and rescale the others, Eq. 3.

    On sparse features only the non-zeros draw: a dropped zero is a zero, so this is Eq. 3 exactly.
    """
    values = x.values if isinstance(x, SparseMatrix) else x
    keep = _bernoulli(values.numel(), drop_rate, generator).to(x.device)
    kept = values * keep.view_as(values)
    return x.with_values(kept) if isinstance(x, SparseMatrix) else kept


def _bernoulli(size: int, drop_rate: float, generator: torch.Generator) -> Tensor:
    """Return ε̃ / (1 − δ) with ε̃ ~ Bernoulli(1 − δ)."""
    return keep_mask(size, drop_rate, generator).float().div_(1 - drop_rate)


def keep_mask(size: int, drop_rate: float, generator: torch.Generator) -> Tensor:
    """Return ε̃ ~ Bernoulli(1 − δ) as bits."""
    return torch.rand(size, generator=generator, device=generator.device) >= drop_rate


def hide_edges(adjacency: Any, drop_rate: float, generator: torch.Generator) -> tuple[Any, Tensor]:
    """Take undirected edges out of a graph with probability `drop_rate`.

    Returns the symmetric adjacency of the edges left, whose weights are as they were, and the
    hidden ones, [2, num_hidden], the smaller node first.
    """
    edges = sparse.triu(adjacency, 1, format="coo")
    keep = keep_mask(edges.nnz, drop_rate, generator).cpu().numpy()
    row, col = edges.coords
    ends = (row[keep], col[keep])
    half = sparse.csr_array((edges.data[keep], ends), shape=adjacency.shape)
    hidden = torch.from_numpy(np.stack([row[~keep], col[~keep]]).astype(np.int64))
    return sparse.csr_array(half + half.T), hidden


def draw_absent(edges: Tensor, num_nodes: int, count: int, generator: torch.Generator) -> Tensor:
    """Return random pairs of different nodes that are not edges, [2, at most count]."""
    place = generator.device
    pairs = torch.randint(num_nodes, (2, count), generator=generator, device=place)
    return keep_absent(pairs.to(edges.device), edges, num_nodes)


def keep_absent(pairs: Tensor, edges: Tensor, num_nodes: int) -> Tensor:
    """Return those pairs [2, m] of different nodes that are not edges.

    `edges` are the codes u · num_nodes + v of all edges in both directions, sorted.
    """
    codes = pairs[0] * num_nodes + pairs[1]
    nearest = torch.searchsorted(edges, codes).clamp_max(max(len(edges) - 1, 0))
    is_edge = edges[nearest] == codes if len(edges) else torch.zeros_like(codes, dtype=torch.bool)
    return pairs[:, ~is_edge & (pairs[0] != pairs[1])]


AUGMENTATIONS = {
    "nfd": Augmentation(VALUES, node_feature_dropout),
    "nd": Augmentation(NODES, node_dropout),
    "ed": Augmentation(EDGES, hide_edges),
}


@dataclass(frozen=True)
class ViewSpec:
    """A parsed view: which augmentations at which drop rates, and which operator."""

    features: tuple[tuple[str, float], ...]  # (name, drop_rate) of what drops from X, in order
    edges: tuple[tuple[str, float], ...]  # (name, drop_rate) of what drops from the graph
    operator: str

    @property
    def is_clean(self) -> bool:
        """Tell whether nothing is dropped: the view is the same in every epoch."""
        return not (self.features or self.edges)


def parse_view(recipe: ViewRecipe) -> ViewSpec:
    """Read a view such as "nfd+adj", "nfd+nd+diff" or "in+adj"."""
    words = [word.strip() for word in recipe.augment.lower().split("+")]
    *names, operator = words
    known = (IDENTITY, *AUGMENTATIONS)
    if operator not in OPERATORS or any(name not in known for name in names) or not names:
        raise DGBError(
            f"a view is one or more of {', '.join(known)} joined by + with one of "
            f"{', '.join(OPERATORS)}, such as nfd+adj, not {recipe.augment!r}"
        )
    drops = [(name, getattr(recipe, f"{name}_drop_rate")) for name in names if name != IDENTITY]
    edges = tuple(drop for drop in drops if AUGMENTATIONS[drop[0]].draws == EDGES)
    return ViewSpec(tuple(drop for drop in drops if drop not in edges), edges, operator)
