"""The graph of a meta-path as a product of its relations, which is never multiplied out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
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
    return sparse.csr_array(matrix if right is None else matrix @ right, dtype=np.float32)


def _inverse_roots(matrix: Any, axis: int) -> Any:
    """Return D^-½ of the rows or columns as a diagonal matrix; empty ones have degree 1."""
    degree = np.asarray(matrix.sum(axis=axis), np.float64).reshape(-1)
    root = 1 / np.sqrt(np.where(degree > 0, degree, 1))
    return sparse.dia_array((root[None], [0]), shape=(len(root), len(root)))


@dataclass(frozen=True, eq=False)
class Link:
    """A relation in one direction, which carries rows of one type to another."""

    matrix: SparseMatrix
    is_transposed: bool
    source: str  # the type of its columns
    target: str  # the type of its rows

    @property
    def multiplications(self) -> int:
        """Multiplications that one column takes."""
        return self.matrix.multiplications

    def multiply(self, dense: Tensor) -> Tensor:
        """Return what reaches the nodes of the target type."""
        if self.is_transposed:
            return self.matrix.multiply_transposed(dense)
        return self.matrix.multiply(dense)

    def multiply_transposed(self, dense: Tensor) -> Tensor:
        """Return the way back."""
        if self.is_transposed:
            return self.matrix.multiply(dense)
        return self.matrix.multiply_transposed(dense)


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
    def multiplications(self) -> int:
        """Multiplications that one column takes."""
        once = sum(link.multiplications for link in self.links)
        return once * (1 if self.is_symmetric else 2)

    def multiply(self, dense: Tensor) -> Tensor:
        """Return A times a block of columns."""
        forward = self._walk(dense, backward=False)
        if self.is_symmetric:
            return forward
        return (forward + self._walk(dense, backward=True)) / 2

    def _walk(self, dense: Tensor, *, backward: bool) -> Tensor:
        links = self.links if backward else self.links[::-1]
        for place, link in enumerate(links, 1):
            dense = link.multiply_transposed(dense) if backward else link.multiply(dense)
            reached = link.source if backward else link.target
            if place < len(links) and reached in self.kept:  # it lies on the way
                dense = dense * self.kept[reached]
        return dense

    @cached_property
    def degree(self) -> Tensor:
        """Sums of the rows of A, [target nodes, 1]."""
        first = self.links[0]
        size = first.matrix.shape[1 if first.is_transposed else 0]
        return self.multiply(torch.ones(size, 1, device=first.matrix.device))


def make_chains(
    graph: HeteroGraph, paths: Iterable[MetaPath], weights: str, device: torch.device
) -> dict[str, Chain]:
    """Return the chain of every meta-path by its name; relations are shared among them."""
    made: dict[Factor, SparseMatrix] = {}

    def make_link(path: MetaPath, place: int) -> Link:
        factor, step = factor_of(path, place, weights), path.steps[place]
        if factor not in made:
            made[factor] = make_factor(graph, factor).to(device)
        return Link(made[factor], step.direction < 0, source=step.end, target=step.start)

    return {
        path.name: Chain(
            tuple(make_link(path, place) for place in range(len(path.steps))), path.is_symmetric
        )
        for path in paths
    }


def make_factor(graph: HeteroGraph, factor: Factor) -> SparseMatrix:
    """Return the matrix of a factor as views multiply with it."""
    relation = graph.relations[factor.relation]
    is_symmetric = relation.source == relation.target and factor.by_source == factor.by_target
    return sparse_matrix(weight_relation(relation.matrix, factor), is_symmetric=is_symmetric)
