"""Embedding by blocks of rows: each is computed and written by a task of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

import ray
from dgb.arrays import Array
from dgb.model.blocks import (
    AXES,
    DIRECTIONS,
    FEATURES,
    LENGTHS,
    choose_scales,
    column_products,
    find_directions,
    find_lengths,
    find_mean,
    keep,
    main_axes,
    make_structure,
    mean_name,
    sum_columns,
    sum_squares,
    take_mean,
)
from dgb.model.encoder import HopEncoder, hops_of
from dgb.ray.blocks import Csr, GraphBlocks, Ref, even_cuts, put_rows, run_tasks
from dgb.ray.propagation import make_features, propagate_blocks, read_block
from dgb.recipe import Embed
from dgb.views.inputs import DIFFUSED, Inputs
from dgb.views.product import times
from dgb.views.view import Rows

Write = Callable[[Path, Array, Array], None]  # a file, node ids [n] and embeddings [n, width]
Columns = list[list[Ref]]  # blocks of columns, each as its blocks of rows


def write_parts(
    encoder: Any, blocks: GraphBlocks, recipe: Embed, node_ids: Array, write: tuple[Path, Write]
) -> None:
    """Write the embeddings of all nodes into a folder, a file for each block of rows."""
    folder, task = write[0], _task(write[1])
    rows = zip(embed_blocks(encoder, blocks, recipe), pairwise(blocks.layout.rows), strict=True)
    ray.get(
        [
            task.remote(folder / f"part-{i:05}.parquet", node_ids[start:stop], h)
            for i, (h, (start, stop)) in enumerate(rows)
        ]
    )


def embed_blocks(encoder: Any, blocks: GraphBlocks, recipe: Embed) -> list[Ref]:
    """Return what `dgb.model.embed.embed` returns, as blocks of rows in the object store.

    The encoder keeps what `dgb.model.embed.settle` lets it keep.
    """
    x, names = make_features(blocks), recipe.operator.split("+")
    hops = hops_of(encoder)
    views = [propagate_blocks(blocks.layout, blocks.operators[n], x, hops) for n in names]
    clean = _Clean(blocks, ray.get(blocks.graph), x, views)
    _settle(encoder, clean, recipe)
    widths = recipe.widths(encoder.width, encoder.num_features)
    parts = {name: _make_part(name, widths[name], encoder, clean, recipe) for name in widths}
    z = _join([_centre(encoder, *part) if recipe.centre else part[1] for part in parts.items()])
    if recipe.normalise == "block":
        squares = sum(ray.get(_apply(sum_squares, z, widths)))
        keep(encoder, LENGTHS, find_lengths(torch.from_numpy(squares), blocks.shape[0], widths))
    scales = choose_scales(encoder, recipe, getattr(encoder, LENGTHS, None))
    return z if scales.is_identity else _apply(scales.apply, z)


@dataclass(frozen=True, eq=False)
class _Clean:
    """The clean graph: X, and P X (or P^k X of several k) of every operator H travels over."""

    blocks: GraphBlocks
    graph: Inputs  # without features
    x: Columns
    views: list[Columns]

    def read(self, what: Any, encoder: Any) -> list[Ref]:
        """Return what an encoder makes of every block of rows, summed over the operators."""
        network, layout = ray.put(encoder), self.blocks.layout
        rows = zip(*(part for view in self.views for part in view), strict=True)
        return [
            _made.options(**layout.on(i)).remote(what, network, len(self.views), *columns)
            for i, columns in enumerate(rows)
        ]

    def multiply(self, name: str, columns: Columns) -> Columns:
        """Return an operator times blocks of columns."""
        return propagate_blocks(self.blocks.layout, self.blocks.operators[name], columns)

    def multiply_rows(self, name: str, rows: list[Ref], width: int) -> list[Ref]:
        """Return an operator times a matrix of this width in blocks of rows."""
        layout = self.blocks.layout
        cuts = even_cuts(width, min(len(layout.columns) - 1, width))
        columns = run_tasks(_cut, len(cuts) - 1, layout, ((own, cuts) for own in rows))
        return _join(self.multiply(name, columns))


def _settle(encoder: Any, clean: _Clean, recipe: Embed) -> None:
    """Let an encoder keep what its blocks need of the clean graph before they are made."""
    if clean.graph.directions is not None:
        keep(encoder, DIRECTIONS, clean.graph.directions)
    if isinstance(encoder, HopEncoder):
        encoder.eval()
        if encoder.has_statistics:
            moments = map(torch.from_numpy, ray.get(clean.read(HopEncoder.sum_moments, encoder)))
            encoder.keep_statistics(moments, clean.blocks.shape[0])
    if 0 < recipe.learnt_columns < encoder.width:
        products = sum(ray.get(clean.read(_products, encoder)))
        own, count = torch.from_numpy(products), recipe.learnt_columns
        keep(encoder, AXES, main_axes(own, count, is_centred=recipe.centre))


def _make_part(name: str, width: int, encoder: Any, clean: _Clean, recipe: Embed) -> list[Ref]:
    """Return a block of the vectors as it comes, in blocks of rows."""
    if name == "structure":
        return put_rows(make_structure(clean.graph, recipe).numpy(), clean.blocks.layout)
    if name == DIFFUSED:
        directions = ray.put(find_directions(encoder, clean.graph, width).contiguous())
        return clean.multiply_rows(DIFFUSED, _apply(times, clean.blocks.x, directions), width)
    if name == FEATURES:
        return _join(clean.multiply("smooth", clean.x) if recipe.smooth else clean.x)
    h = clean.read(_learnt, encoder)
    return clean.multiply_rows("smooth", h, width) if recipe.smooth else h


def _centre(encoder: Any, name: str, rows: list[Ref]) -> list[Ref]:
    """Return a block without its mean, which the encoder keeps."""
    mean = find_mean(torch.from_numpy(sum(ray.get(_apply(sum_columns, rows)))))
    keep(encoder, mean_name(name), mean)
    return _apply(take_mean, rows, mean)


def _join(columns: Columns) -> list[Ref]:
    if len(columns) == 1:
        return columns[0]
    return [_joined.remote(*parts) for parts in zip(*columns, strict=True)]


@torch.no_grad()
def make_rows(what: Any, encoder: Any, operators: int, *columns: Array) -> Array:
    """Return what is made of some rows, summed over operators, for each given P X in columns."""
    count = len(columns) // operators
    views = [np.concatenate(columns[i : i + count], 1) for i in range(0, len(columns), count)]
    return np.asarray(sum(what(encoder, Rows(torch.from_numpy(view))).numpy() for view in views))


def _learnt(encoder: Any, rows: Rows) -> Tensor:
    h: Tensor = encoder(rows)
    axes = getattr(encoder, AXES, None)
    return h if axes is None else h @ axes


def _products(encoder: Any, rows: Rows) -> Tensor:
    return column_products(encoder(rows))


def cut_columns(h: Array, cuts: tuple[int, ...]) -> Any:
    """Return some rows of H in blocks of columns."""
    parts = [np.ascontiguousarray(h[:, i:j]) for i, j in pairwise(cuts)]
    return parts if len(parts) > 1 else parts[0]


def join_columns(*columns: Array) -> Array:
    """Return some rows whose columns are given in blocks."""
    return np.concatenate(columns, axis=1)


def apply_to_rows(what: Callable[..., Tensor], block: Csr | Array, *more: Any) -> Array:
    """Return what a function of tensors makes of some rows."""
    return what(read_block(block), *more).numpy()


def _apply(what: Callable[..., Tensor], blocks: list[Ref], *more: Any) -> list[Ref]:
    return [_applied.remote(what, block, *more) for block in blocks]


_task = ray.remote(max_retries=-1)
_made, _cut, _joined, _applied = map(_task, (make_rows, cut_columns, join_columns, apply_to_rows))
