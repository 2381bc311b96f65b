"""How dense the graph of a meta-path is, by a sample of its rows, and the graph itself."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
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


def measure_density(
    graph: HeteroGraph, path: MetaPath, factors: Factors | None = None, seed: int = 0
) -> Density:
    """Count what the nodes reach over a meta-path, or of many nodes a sample.

    `factors` keeps relations in the form that is needed, for other meta-paths.
    """
    factors = {} if factors is None else factors
    num_nodes = graph.nodes[graph.target].num_nodes
    rows = np.arange(num_nodes)
    if num_nodes > SAMPLE:
        rows = np.sort(np.random.default_rng(seed).choice(num_nodes, SAMPLE, replace=False))
    counts = np.concatenate([np.diff(block.indptr) for block in _reach(graph, path, rows, factors)])
    is_sample = len(rows) < num_nodes
    error = float(counts.std(ddof=1)) / len(rows) ** 0.5 if is_sample else 0.0
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
    matrix = _product(graph, path, weights)
    return matrix if path.is_symmetric else sparse.csr_array((matrix + matrix.T) / 2)


def _product(graph: HeteroGraph, path: MetaPath, weights: str) -> Any:
    factors = [
        _orient(
            weight_relation(graph.relations[step.relation].matrix, factor_of(path, i, weights)),
            step,
        )
        for i, step in enumerate(path.steps)
    ]
    blocks = []
    for start in progress_bar(range(0, factors[0].shape[0], 4096), path.name, unit="block"):
        block = factors[0][start : start + 4096]
        for factor in factors[1:]:
            block = block @ factor
        blocks.append(block)
    return sparse.vstack(blocks, format="csr")


def _reach(graph: HeteroGraph, path: MetaPath, rows: Array, factors: Factors) -> Iterator[Any]:
    """Yield for some rows at a time which nodes they reach, either way of the meta-path."""
    ways = [path.steps] if path.is_symmetric else [path.steps, path.mirrored]
    for step in (step for way in ways for step in way):
        if step not in factors:
            relation = graph.relations[step.relation].matrix
            factors[step] = _orient(relation.astype(bool), step)
    for start in range(0, len(rows), BLOCK):
        found = None
        for way in ways:
            block = factors[way[0]][rows[start : start + BLOCK]]
            for step in way[1:]:
                block = block @ factors[step]
            found = block if found is None else found.maximum(block)
        yield found


def _orient(matrix: Any, step: Step) -> Any:
    return sparse.csr_array(matrix.T) if step.direction < 0 else matrix
