"""An invented graph of any size: blocks of nodes with planted classes and uneven degrees.

The degree-corrected block model: every node has a weight, drawn from a power law, by which edges
find it. Blocks lie on a ring, and a class is made of some blocks from all around it: an edge stays
in its block (`homophily`), goes to one of the two bordering blocks, which are of other classes
(`bordering`), or anywhere. A few hops of smoothing thus remove noise, and many mix the classes.

Every block has a centre, drawn in a space of few dimensions (`latent`) that is laid linearly into
the features; a node's features are the centre of its block and noise in every column. By default
there are more classes than dimensions and some centres a class: planes part the classes badly.

`KINDS` are settings to begin with: in all but the first, features and edges have nothing to do
with each other, and only one of them tells the classes, or edges join other classes alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dgb.arrays import Array
from dgb.errors import DGBError
from dgb.files.atomic import new_mapped
from dgb.settings import setting
from dgb.terminal import progress_bar

BLOCKS = 3  # of a class
AT_ONCE = 2**21  # edges or numbers of features that are drawn at a time


@dataclass(frozen=True)
class Blocks:
    """What to make; the same numbers make the same graph on every machine."""

    nodes: int = setting(1_000_000, "nodes", low=2)
    edges: int = setting(10_000_000, "edges drawn; a few fall together", low=1)
    features: int = setting(128, "columns of features", low=1)
    classes: int = setting(20, "planted classes", low=2)
    latent: int = setting(8, "dimensions that the centres of blocks lie in", low=1)
    homophily: float = setting(0.4, "share of edges within a block", low=0, high=1)
    bordering: float = setting(0.4, "share of edges to the two bordering blocks", low=0, high=1)
    signal: float = setting(0.4, "size of a centre's column, where noise has 1", low=0)
    exponent: float = setting(2.5, "of the power law of degrees", low=2)
    seed: int = setting(0, "of everything drawn", low=0)


_SMALL = {"nodes": 3000, "edges": 15_000, "features": 64, "classes": 4, "latent": 16}
KINDS: dict[str, dict[str, Any]] = {
    "classes": {},  # which both features and edges tell
    "noise-features": _SMALL | {"signal": 0.0, "homophily": 0.8, "bordering": 0.1},
    "chance-edges": _SMALL | {"signal": 1.0, "homophily": 0.0, "bordering": 0.0},
    "heterophily": _SMALL | {"signal": 1.0, "homophily": 0.0, "bordering": 1.0},
}


def make_blocks(folder: Path, blocks: Blocks) -> None:
    """Write edges.npy, nodes.npy and labels.npy, a piece at a time, so that any size fits."""
    if blocks.nodes < BLOCKS * blocks.classes:
        raise DGBError(f"{blocks.classes} classes need at least {BLOCKS * blocks.classes} nodes")
    if blocks.homophily + blocks.bordering > 1:
        raise DGBError(
            f"homophily {blocks.homophily:g} and bordering {blocks.bordering:g} are shares of all "
            "edges and may add up to 1 at most; lower one of them"
        )
    if folder.exists() and any(folder.iterdir()):
        raise DGBError(f"{folder} is not empty; choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    for_nodes, for_edges, for_features = np.random.default_rng(blocks.seed).spawn(3)
    block = for_nodes.integers(BLOCKS * blocks.classes, size=blocks.nodes, dtype=np.int32)
    np.save(folder / "labels.npy", block % blocks.classes)  # so bordering blocks differ in class
    _write_features(folder / "nodes.npy", block, blocks, for_features)
    # A hub that had more of all edges would draw the same ones again and again.
    largest = max(np.sqrt(blocks.nodes) / 2, 1)
    weight = np.minimum(1 + for_nodes.pareto(blocks.exponent - 1, blocks.nodes), largest)
    _write_edges(folder / "edges.npy", _line_up(block, weight, blocks), blocks, for_edges)


def _write_features(
    path: Path, block: Array, blocks: Blocks, generator: np.random.Generator
) -> None:
    places = generator.standard_normal((BLOCKS * blocks.classes, blocks.latent))
    axes = generator.standard_normal((blocks.latent, blocks.features))
    # Not a matrix product, whose rounding differs from machine to machine.
    summed = sum(place[:, None] * axis for place, axis in zip(places.T, axes, strict=True))
    centres = np.asarray(summed * blocks.signal / np.sqrt(blocks.latent), np.float32)
    new_mapped(path, np.float32, (blocks.nodes, blocks.features))
    for part in _parts(blocks.nodes, AT_ONCE // blocks.features + 1, "features"):
        x = generator.standard_normal((len(block[part]), blocks.features), np.float32)
        x += centres[block[part]]
        _fill(path, part, x)


@dataclass(frozen=True, eq=False)
class _Line:
    """Nodes on a line, block by block, each as long as it weighs."""

    block: Array  # of every node
    nodes: Array  # in their order on the line
    ends: Array  # [num_nodes], where they end
    bounds: Array  # [num_blocks + 1], where blocks begin, and the end

    def draw(self, low: Array | float, high: Array | float, shares: Array) -> Array:
        """Return the nodes that lie at these shares of the way from low to high."""
        places = np.searchsorted(self.ends, low + shares * (high - low), side="right")
        # Rounding may leave the last one's end behind.
        return np.asarray(self.nodes[np.minimum(places, len(self.nodes) - 1)])


def _line_up(block: Array, weight: Array, blocks: Blocks) -> _Line:
    order = np.argsort(block, kind="stable")
    ends = np.cumsum(weight[order])
    last = np.cumsum(np.bincount(block, minlength=BLOCKS * blocks.classes)) - 1
    stops = np.where(last < 0, 0.0, ends[last])  # below 0 where the first blocks are empty
    return _Line(block, order, ends, np.concatenate([[0.0], stops]))


def _write_edges(path: Path, line: _Line, blocks: Blocks, generator: np.random.Generator) -> None:
    new_mapped(path, np.int32, (2, blocks.edges))
    for part in _parts(blocks.edges, AT_ONCE, "edges"):
        count = min(part.stop, blocks.edges) - part.start
        source = line.draw(0.0, line.bounds[-1], generator.random(count))
        kind = generator.random(count)
        side = generator.integers(2, size=count) * 2 - 1
        # Where on the line an edge from each of these blocks may end.
        step = np.where(kind < blocks.homophily, 0, side)
        other = (line.block[source] + step) % (len(line.bounds) - 1)
        low, high = line.bounds[other], line.bounds[other + 1]
        # An empty block has none.
        is_near = (kind < blocks.homophily + blocks.bordering) & (low < high)
        low, high = np.where(is_near, low, 0.0), np.where(is_near, high, line.bounds[-1])
        target = line.draw(low, high, generator.random(count))
        _fill(path, (slice(None), part), np.stack([source, target]))


def _fill(path: Path, place: slice | tuple[slice, slice], values: Array) -> None:
    """Write a piece of an array file, which is not kept open: its pages would count as memory."""
    np.load(path, mmap_mode="r+", allow_pickle=False)[place] = values


def _parts(size: int, step: int, what: str) -> Iterator[slice]:
    for start in progress_bar(range(0, size, step), what, unit="part"):
        yield slice(start, start + step)
