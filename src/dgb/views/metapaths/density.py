"""How dense the graph of a meta-path is, by a sample of its rows, and the graph itself."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import matmul
from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.data.typed.graph import HeteroGraph
from dgb.errors import DGBError
from dgb.terminal import progress_bar
from dgb.views.metapaths.chain import factor_of, weight_relation
from dgb.views.metapaths.paths import MetaPath, Step

Factors = dict[Step, Any]  # relations in the direction of a step, as bits
SAMPLE, BLOCK = 256, 32  # rows that a density is measured on, and rows made at a time
ENTRY = 24  # bytes of a non-zero: place and weight, twice while it is normalised


@dataclass(frozen=True)
class Density:
    """How many nodes a node reaches over a meta-path, of how many there are."""

    mean: float
    error: float  # of the mean; 0 where all rows were counted
    num_nodes: int

    @property
    def share(self) -> float:
        """Share of all pairs of nodes that are joined."""
        return self.mean / max(self.num_nodes, 1)

    @property
    def pairs(self) -> float:
        """Pairs of nodes that are joined: about so many non-zeros the matrix has."""
        return self.mean * self.num_nodes


def measure_densities(graph: HeteroGraph, paths: Iterable[MetaPath]) -> dict[str, Density]:
    """Return the density of every meta-path by its name."""
    factors: Factors = {}
    return {path.name: measure_density(graph, path, factors) for path in paths}


def measure_density(graph: HeteroGraph, path: MetaPath, factors: Factors | None = None) -> Density:
    """Count what the nodes reach over a meta-path, or of many nodes a sample.

    `factors` keeps relations in the form that is needed, for other meta-paths.
    """
    num_nodes = graph.nodes[graph.target].num_nodes
    rows, error = np.arange(num_nodes), 0.0
    if num_nodes > SAMPLE:
        rows = np.sort(np.random.default_rng(0).choice(num_nodes, SAMPLE, replace=False))
    blocks = _reach(graph, path, rows, {} if factors is None else factors)
    counts = np.concatenate([np.diff(block.indptr) for block in blocks])
    if num_nodes > SAMPLE:
        error = float(counts.std(ddof=1)) / SAMPLE**0.5
    return Density(float(counts.mean()), error, num_nodes)


def refuse_too_dense(graph: HeteroGraph, paths: Iterable[MetaPath], limit_gb: float | None) -> None:
    """Refuse to multiply out meta-paths that together do not fit into memory."""
    densities = measure_densities(graph, paths)
    sizes = {
        name: (found.mean + 3 * found.error) * found.num_nodes * ENTRY / 1e9
        for name, found in densities.items()
    }
    total = sum(sizes.values())
    if limit_gb is not None and total > limit_gb:
        name = max(sizes, key=lambda name: sizes[name])
        raise DGBError(
            f"multiplied out, the meta-paths take {total:.1f} GB of the {limit_gb:.1f} there are; "
            f"{name} alone joins about {densities[name].pairs:,.0f} pairs of nodes; set "
            "hetero.materialise=false, which never builds these matrices"
        )


def materialise(graph: HeteroGraph, path: MetaPath, weights: str) -> Any:
    """Multiply a meta-path out into a CSR matrix."""
    factors = []
    for place, step in enumerate(path.steps):
        relation = graph.relations[step.relation].matrix
        factors.append(_orient(weight_relation(relation, factor_of(path, place, weights)), step))
    starts = progress_bar(range(0, factors[0].shape[0], 4096), path.name, unit="block")
    blocks = [reduce(matmul, factors[1:], factors[0][start : start + 4096]) for start in starts]
    matrix = sparse.vstack(blocks, format="csr")
    return matrix if path.is_symmetric else sparse.csr_array((matrix + matrix.T) / 2)


def _reach(graph: HeteroGraph, path: MetaPath, rows: Array, factors: Factors) -> Iterator[Any]:
    """Yield for some rows at a time which nodes they reach, either way of the meta-path."""
    ways = [path.steps] if path.is_symmetric else [path.steps, path.mirrored]
    for step in (step for way in ways for step in way):
        if step not in factors:
            relation = graph.relations[step.relation].matrix
            factors[step] = _orient(relation.astype(bool), step)
    for start in range(0, len(rows), BLOCK):
        here = rows[start : start + BLOCK]
        found = [
            reduce(matmul, (factors[step] for step in way[1:]), factors[way[0]][here])
            for way in ways
        ]
        yield found[0].maximum(found[-1])


def _orient(matrix: Any, step: Step) -> Any:
    return sparse.csr_array(matrix.T) if step.direction < 0 else matrix
