"""A graph in Ray's object store: operators and features as blocks of rows, columns cut as well.

All hops of a block of columns happen on one machine, which keeps the rows of the operator that it
has fetched once: no hop sends numbers. Ray spills blocks to disk, and makes lost ones again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
from scipy import sparse

import ray
from dgb.arrays import Array
from dgb.views.diffusion import AdjAndDiff, Diffusion
from dgb.views.inputs import Inputs
from dgb.views.sparse import Pattern, SparseMatrix

Ref = Any  # of an object in Ray's store
BLOCK_BYTES = 2**28  # of one block of columns: small enough to move and to make again
MOST_ROW_BLOCKS = 32  # each repeats a pointer for every row of a part of the operator


class Csr(NamedTuple):
    """A sparse matrix as arrays, which processes on one machine share without a copy."""

    crow: Array
    col: Array
    values: Array
    shape: tuple[int, int]


@dataclass(frozen=True)
class Layout:
    """Where rows and columns are cut, and which machines there are."""

    rows: tuple[int, ...]  # from 0 to num_nodes
    columns: tuple[int, ...]  # from 0 to num_features
    machines: tuple[str, ...]  # by Ray's ids

    def on(self, number: int) -> dict[str, Any]:
        """Return the options by which tasks on a block run on one machine, while it is there."""
        machine = self.machines[number % len(self.machines)]
        return {"scheduling_strategy": NodeAffinitySchedulingStrategy(machine, soft=True)}


@dataclass(frozen=True, eq=False)
class BlockOperator:
    """An operator by rows: its parts, and which blocks of rows each of them multiplies."""

    rows: list[Ref]  # a list of Csr each, one for every block touched
    touched: list[tuple[int, ...]]
    coefficients: tuple[float, ...] | None  # of Chebyshev's series; None: the matrix itself
    scale: list[Ref] | None  # [rows, 1] each
    diff: "BlockOperator | None" = None  # that comes with adj


@dataclass(frozen=True, eq=False)
class GraphBlocks:
    """What a run computes once from a graph, as blocks."""

    layout: Layout
    x: list[Ref]  # a block of rows each, Csr or an array
    sizes: list[int]  # numbers of x that node feature dropout draws for, by block
    operators: dict[str, BlockOperator]
    graph: Ref  # Inputs without features: what views that hide edges draw their operators from

    @property
    def shape(self) -> tuple[int, int]:
        """Nodes and features."""
        return self.layout.rows[-1], self.layout.columns[-1]


def make_layout(shape: tuple[int, int], machines: Sequence[dict[str, Any]]) -> Layout:
    """Cut rows for the processors of a machine, and columns for the machines."""
    num_nodes, num_features = shape
    processors = int(min(machine["Resources"]["CPU"] for machine in machines))
    num_rows = min(max(processors, 1), MOST_ROW_BLOCKS, num_nodes)
    needed = -(-num_nodes * num_features * 4 // (num_rows * BLOCK_BYTES))
    num_columns = min(max(needed, len(machines)), num_features)
    ids = tuple(machine["NodeID"] for machine in machines)
    return Layout(even_cuts(num_nodes, num_rows), even_cuts(num_features, num_columns), ids)


def put_blocks(inputs: Inputs, layout: Layout) -> GraphBlocks:
    """Put features and operators into Ray's object store, one block of rows after the other."""
    x, sizes = [], []
    for start, stop in pairwise(layout.rows):
        block = _features(inputs, start, stop)
        x.append(ray.put(block))
        sizes.append(block.values.size if isinstance(block, Csr) else block.size)
    operators = {name: put_operator(op, layout) for name, op in inputs.operators.items()}
    graph = replace(inputs, x=torch.empty(inputs.shape[0], 0), operators={})
    return GraphBlocks(layout, x, sizes, operators, ray.put(graph))


def put_rows(rows: Array, layout: Layout) -> list[Ref]:
    """Put the rows of an array into Ray's object store, cut as those of the graph are."""
    return [ray.put(rows[start:stop]) for start, stop in pairwise(layout.rows)]


def run_tasks(task: Any, count: int, layout: Layout, calls: Iterable[Any]) -> list[list[Ref]]:
    """Run a task that returns `count` parts once for every block of rows; return all by part."""
    made = [
        task.options(num_returns=count, **layout.on(i)).remote(*arguments)
        for i, arguments in enumerate(calls)
    ]
    rows = [parts if count > 1 else [parts] for parts in made]
    return [list(part) for part in zip(*rows, strict=True)]


def to_matrix(block: Csr) -> SparseMatrix:
    """Return a block of rows as a matrix, whose transpose is never asked for."""
    crow, col, values = (torch.from_numpy(array) for array in block[:3])
    pattern = Pattern(crow, col, block.shape)
    return SparseMatrix(pattern, pattern, None, values)


def put_operator(operator: Any, layout: Layout) -> BlockOperator:
    """Put an operator into Ray's object store, by rows."""
    if isinstance(operator, AdjAndDiff):
        adj, diff = (put_operator(part, layout) for part in (operator.adj, operator.diff))
        return replace(adj, diff=diff)
    is_series = isinstance(operator, Diffusion)
    matrix = operator.transition if is_series else operator
    rows, touched = [], []
    for start, stop in pairwise(layout.rows):
        block = _row_block(matrix, start, stop)
        whole = sparse.csr_array((block.values, block.col, block.crow), shape=block.shape)
        cut = enumerate(whole[:, i:j] for i, j in pairwise(layout.rows))
        parts = {i: Csr(p.indptr, p.indices, p.data, p.shape) for i, p in cut if p.nnz}
        rows.append(ray.put(list(parts.values())))
        touched.append(tuple(parts))
    scale = None
    if is_series and operator.scale is not None:
        scale = put_rows(operator.scale.numpy(), layout)
    return BlockOperator(rows, touched, operator.coefficients if is_series else None, scale)


def _features(inputs: Inputs, start: int, stop: int) -> Csr | Array:
    scale = None if inputs.row_scale is None else inputs.row_scale[start:stop, None]
    if not isinstance(inputs.x, SparseMatrix):
        rows = inputs.x[start:stop]
        return (rows if scale is None else rows * scale).numpy()
    block = _row_block(inputs.x, start, stop)
    if scale is None:
        return block
    matrix = to_matrix(block)
    return block._replace(values=(matrix.values * scale[matrix.pattern.row, 0]).numpy())


def _row_block(matrix: SparseMatrix, start: int, stop: int) -> Csr:
    crow = matrix.pattern.crow[start : stop + 1].numpy()
    inside = slice(int(crow[0]), int(crow[-1]))
    col, values = matrix.pattern.col[inside].numpy(), matrix.values[inside].numpy()
    return Csr(crow - crow[0], col, values, (stop - start, matrix.shape[1]))


def even_cuts(size: int, parts: int) -> tuple[int, ...]:
    """Return where to cut into parts of almost equal sizes, from 0 to the end."""
    return tuple(int(cut) for cut in np.linspace(0, size, parts + 1).round())
