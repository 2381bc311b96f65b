"""An invented graph of any size: blocks of nodes with planted classes and uneven degrees.

The degree-corrected block model: every node has a weight, drawn from a power law; an edge joins
two nodes of one block with probability `homophily` and any two otherwise, each drawn by weight. A
class is made of some blocks, each with a centre of its own; features are the centre and noise.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dgb.data.graph import Array
from dgb.errors import DGBError
from dgb.progress import progress_bar
from dgb.settings import setting

BLOCKS = 3  # of a class: so that no plane parts the classes
AT_ONCE = 2**22  # edges or nodes that are drawn at a time


@dataclass(frozen=True)
class Blocks:
    """What to make; the same numbers make the same graph on every machine."""

    nodes: int = setting(1_000_000, "nodes", low=2)
    edges: int = setting(10_000_000, "edges drawn; a few fall together", low=1)
    features: int = setting(128, "columns of features", low=1)
    classes: int = setting(20, "planted classes", low=2)
    homophily: float = setting(0.6, "share of edges within a block", low=0, high=1)
    signal: float = setting(0.15, "size of a centre's column, where noise has 1", low=0)
    exponent: float = setting(2.5, "of the power law of degrees", low=2)
    seed: int = setting(0, "of everything drawn", low=0)


def make_blocks(folder: Path, blocks: Blocks) -> None:
    """Write edges.npy, nodes.npy and labels.npy, a piece at a time, so that any size fits."""
    if blocks.nodes < BLOCKS * blocks.classes:
        raise DGBError(f"{blocks.classes} classes need at least {BLOCKS * blocks.classes} nodes")
    if folder.exists() and any(folder.iterdir()):
        raise DGBError(f"{folder} is not empty; choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    for_nodes, for_edges, for_features = np.random.default_rng(blocks.seed).spawn(3)
    block = for_nodes.integers(BLOCKS * blocks.classes, size=blocks.nodes, dtype=np.int32)
    np.save(folder / "labels.npy", block // BLOCKS)
    _write_features(folder / "nodes.npy", block, blocks, for_features)
    # A hub that had more of all edges would draw the same ones again and again.
    largest = max(np.sqrt(blocks.nodes) / 2, 1)
    weight = np.minimum(1 + for_nodes.pareto(blocks.exponent - 1, blocks.nodes), largest)
    _write_edges(folder / "edges.npy", block, weight, blocks, for_edges)


def _write_features(
    path: Path, block: Array, blocks: Blocks, generator: np.random.Generator
) -> None:
    shape = (blocks.nodes, blocks.features)
    centres = generator.standard_normal((BLOCKS * blocks.classes, blocks.features), np.float32)
    x = np.lib.format.open_memmap(path, "w+", np.float32, shape)
    for part in _parts(blocks.nodes, AT_ONCE // blocks.features + 1, "features"):
        noise = generator.standard_normal((len(block[part]), blocks.features), np.float32)
        x[part] = noise + np.float32(blocks.signal) * centres[block[part]]


def _write_edges(
    path: Path, block: Array, weight: Array, blocks: Blocks, generator: np.random.Generator
) -> None:
    order = np.argsort(block, kind="stable")
    ends = np.cumsum(
        weight[order]
    )  # nodes lie on a line, block by block, each as long as it weighs
    last = np.cumsum(np.bincount(block, minlength=BLOCKS * blocks.classes)) - 1
    stops = ends[last]
    starts = np.concatenate([[0.0], stops[:-1]])
    edges = np.lib.format.open_memmap(path, "w+", np.int32, (2, blocks.edges))
    for part in _parts(blocks.edges, AT_ONCE, "edges"):
        count = len(edges[0, part])
        source = _drawn(order, ends, generator.random(count) * ends[-1])
        is_within = generator.random(count) < blocks.homophily
        low = np.where(is_within, starts[block[source]], 0.0)
        high = np.where(is_within, stops[block[source]], ends[-1])
        edges[0, part] = source
        edges[1, part] = _drawn(order, ends, low + generator.random(count) * (high - low))


def _drawn(order: Array, ends: Array, places: Array) -> Array:
    """Return the nodes at places of the line; rounding may leave the last one's end behind."""
    return order[np.minimum(np.searchsorted(ends, places, side="right"), len(order) - 1)]


def _parts(size: int, step: int, what: str) -> Iterator[slice]:
    for start in progress_bar(range(0, size, step), what, unit="part"):
        yield slice(start, start + step)
