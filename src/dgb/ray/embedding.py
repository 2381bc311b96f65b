"""Embedding by blocks of rows: each is computed and written by a task of its own."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch

import ray
from dgb.arrays import Array
from dgb.model.encoder import Encoder
from dgb.model.layers import l2_normalise
from dgb.ray.blocks import GraphBlocks, Ref
from dgb.ray.propagation import make_features, propagate_blocks
from dgb.recipe import Embed
from dgb.views.view import Rows

Write = Callable[[Path, Array, Array], None]  # a file, node ids [n] and embeddings [n, width]


def write_parts(
    encoder: Encoder, blocks: GraphBlocks, recipe: Embed, node_ids: Array, write: tuple[Path, Write]
) -> None:
    """Write the embeddings of all nodes into a folder, a file for each block of rows."""
    folder, write_file = write
    rows = embed_blocks(encoder, blocks, recipe)
    cuts = pairwise(blocks.layout.rows)
    ray.get(
        [
            _written.remote(write_file, folder / f"part-{i:05}.parquet", node_ids[start:stop], h)
            for i, (h, (start, stop)) in enumerate(zip(rows, cuts, strict=True))
        ]
    )


def embed_blocks(encoder: Encoder, blocks: GraphBlocks, recipe: Embed) -> list[Ref]:
    """Return what `dgb.model.embed.embed` returns, as blocks of rows in the object store."""
    x = make_features(blocks)
    views = [propagate_blocks(blocks, x, name) for name in recipe.operator.split("+")]
    network = ray.put(encoder)
    h = [
        _encoded.options(**blocks.layout.on(i)).remote(network, len(views), *columns)
        for i, columns in enumerate(zip(*(part for view in views for part in view), strict=True))
    ]
    width = encoder.width
    if recipe.smooth:
        h = _joined_rows(propagate_blocks(blocks, _cut_columns(h, width, blocks), "smooth"))
        x = propagate_blocks(blocks, x, "smooth") if recipe.features else x
    if not recipe.features:
        return h
    return [_with_features.remote(own, *xs) for own, *xs in zip(h, *x, strict=True)]


def _cut_columns(h: list[Ref], width: int, blocks: GraphBlocks) -> list[list[Ref]]:
    count = min(len(blocks.layout.columns) - 1, width)
    cuts = np.linspace(0, width, count + 1).round().astype(int).tolist()
    made = [_cut.options(num_returns=count).remote(own, cuts) for own in h]
    rows = [parts if count > 1 else [parts] for parts in made]
    return [list(part) for part in zip(*rows, strict=True)]


def _joined_rows(columns: list[list[Ref]]) -> list[Ref]:
    return [_joined.remote(*parts) for parts in zip(*columns, strict=True)]


@torch.no_grad()
def encode_rows(encoder: Encoder, operators: int, *columns: Array) -> Array:
    """Return H of some rows, summed over operators, from their columns of P X for each of them."""
    count = len(columns) // operators
    views = [np.concatenate(columns[i : i + count], 1) for i in range(0, len(columns), count)]
    return np.asarray(sum(encoder(Rows(torch.from_numpy(view))).numpy() for view in views))


def cut(h: Array, cuts: list[int]) -> Any:
    """Return some rows of H in blocks of columns."""
    parts = [np.ascontiguousarray(h[:, i:j]) for i, j in pairwise(cuts)]
    return parts if len(parts) > 1 else parts[0]


def join_columns(*columns: Array) -> Array:
    """Return some rows whose columns are given in blocks."""
    return np.concatenate(columns, axis=1)


def append_features(h: Array, *columns: Array) -> Array:
    """Return rows of H with those of X next to them, both of length one."""
    parts = (torch.from_numpy(part) for part in (h, join_columns(*columns)))
    return torch.cat([l2_normalise(part) for part in parts], 1).numpy()


def written(write: Write, path: Path, node_ids: Array, h: Array) -> None:
    """Write some rows of the embeddings."""
    write(path, node_ids, h)


_task = ray.remote(max_retries=-1)
_encoded, _cut, _joined = _task(encode_rows), _task(cut), _task(join_columns)
_with_features, _written = _task(append_features), _task(written)
