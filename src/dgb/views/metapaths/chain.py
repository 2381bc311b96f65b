"""The graph of a meta-path as a product of its relations, which is never multiplied out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from dgb.data.typed.graph import HeteroGraph
from dgb.views.metapaths.paths import MetaPath
from dgb.views.sparse import SparseMatrix, sparse_matrix


class Factor(NamedTuple):
    """A relation, and by the degrees of which ends it is divided."""

    relation: int
    by_source: bool
    by_target: bool


def factor_of(path: MetaPath, place: int, weights: str) -> Factor:
    """Return what a step of a meta-path multiplies with.

    `counts`: relations as they are. `walk`: at every node on the way, what comes in is shared
    among its edges, so that a node with many edges does not outweigh the others. The relations
    that meet there are both divided by the roots of its degrees.
    """
    step = path.steps[place]
    is_inner = (place > 0, place < len(path.steps) - 1)  # whether its ends lie on the way
    start, end = is_inner if weights == "walk" else (False, False)
    return Factor(step.relation, *((end, start) if step.direction < 0 else (start, end)))


def weight_relation(matrix: Any, factor: Factor) -> Any:
    """Return a relation's matrix, divided as the factor says, float32."""
    left = _inverse_roots(matrix, 1) if factor.by_source else None
    right = _inverse_roots(matrix, 0) if factor.by_target else None
    matrix = matrix if left is None else left @ matrix
    matrix = matrix if right is None else matrix @ right
    return sparse.csr_array(matrix, dtype=np.float32)


def _inverse_roots(matrix: Any, axis: int) -> Any:
    """Return D^-½ of the rows or columns as a diagonal matrix; empty ones have degree 1."""
    degree = np.asarray(matrix.sum(axis=axis), np.float64).reshape(-1)
    root = 1 / np.sqrt(np.where(degree > 0, degree, 1))
    return sparse.dia_array((root[None], [0]), shape=(len(root), len(root)))


@dataclass(frozen=True, eq=False)
class Link:
    """One factor of a chain: a relation in the direction of its step, and where it leads."""

    matrix: SparseMatrix
    is_transposed: bool
    end: str  # the type of its columns

    def multiply(self, dense: Tensor, *, backward: bool = False) -> Tensor:
        """Return the factor, or its transpose, times a block of columns."""
        if self.is_transposed != backward:
            return self.matrix.multiply_transposed(dense)
        return self.matrix.multiply(dense)


@dataclass(frozen=True, eq=False)
class Chain:
    """A = R_1 R_2 … R_k, applied right to left; one that is not symmetric is (A + Aᵀ) / 2.

    `kept` holds for a type which of its nodes are there, [nodes, 1]: a path through another is
    none. Weights of several paths between two nodes add up.
    """

    links: tuple[Link, ...]
    is_symmetric: bool
    kept: Mapping[str, Tensor] = field(default_factory=dict)

    @property
    def hops(self) -> int:
        """Passes over relations that one product takes."""
        return len(self.links) * (1 if self.is_symmetric else 2)

    @property
    def multiplications(self) -> int:
        """Multiplications that one column takes."""
        once = sum(link.matrix.multiplications for link in self.links)
        return once * (1 if self.is_symmetric else 2)

    def multiply(self, dense: Tensor) -> Tensor:
        """Return A times a block of columns."""
        forward = self._walk(dense, backward=False)
        if self.is_symmetric:
            return forward
        return (forward + self._walk(dense, backward=True)) / 2

    def _walk(self, dense: Tensor, *, backward: bool) -> Tensor:
        links = self.links if backward else self.links[::-1]
        through = [link.end for link in self.links[:-1]]
        for place, link in enumerate(links):
            dense = link.multiply(dense, backward=backward)
            end = through[place if backward else -1 - place] if place < len(through) else ""
            dense = dense * self.kept[end] if end in self.kept else dense
        return dense

    @cached_property
    def degree(self) -> Tensor:
        """Sums of the rows of A, [target nodes, 1]."""
        first = self.links[0].matrix
        return self.multiply(torch.ones(self.size, 1, device=first.device))

    @property
    def size(self) -> int:
        """Number of target nodes."""
        first = self.links[0]
        return first.matrix.shape[1 if first.is_transposed else 0]

    def keeping(self, kept: Mapping[str, Tensor]) -> "Chain":
        """Return the chain of a graph without the nodes that are not kept."""
        return replace(self, kept=kept)


def make_chains(
    graph: HeteroGraph, paths: Iterable[MetaPath], weights: str, device: torch.device
) -> dict[str, Chain]:
    """Return the chain of every meta-path by its name; relations are shared among them."""
    made: dict[Factor, SparseMatrix] = {}

    def link(path: MetaPath, place: int) -> Link:
        factor = factor_of(path, place, weights)
        if factor not in made:
            made[factor] = _matrix(graph, factor).to(device)
        step = path.steps[place]
        return Link(made[factor], step.direction < 0, step.end)

    return {
        path.name: Chain(tuple(link(path, i) for i in range(len(path.steps))), path.is_symmetric)
        for path in paths
    }


def _matrix(graph: HeteroGraph, factor: Factor) -> SparseMatrix:
    relation = graph.relations[factor.relation]
    is_symmetric = relation.source == relation.target and factor.by_source == factor.by_target
    return sparse_matrix(weight_relation(relation.matrix, factor), is_symmetric=is_symmetric)


@dataclass(frozen=True, eq=False)
class Union:
    """Σ_M A_M of several chains, applied one after the other."""

    chains: tuple[Chain, ...]

    @property
    def hops(self) -> int:
        """Passes over relations that one product takes."""
        return sum(chain.hops for chain in self.chains)

    @property
    def multiplications(self) -> int:
        """Multiplications that one column takes."""
        return sum(chain.multiplications for chain in self.chains)

    @cached_property
    def degree(self) -> Tensor:
        """Sums of the rows, [target nodes, 1]."""
        return sum((chain.degree for chain in self.chains[1:]), self.chains[0].degree)

    def multiply(self, dense: Tensor) -> Tensor:
        """Return the product with a block of columns."""
        out = self.chains[0].multiply(dense)
        for chain in self.chains[1:]:
            out = out.add_(chain.multiply(dense))
        return out

    def keeping(self, kept: Mapping[str, Tensor]) -> "Union":
        """Return the union in a graph without the nodes that are not kept."""
        return Union(tuple(chain.keeping(kept) for chain in self.chains))
