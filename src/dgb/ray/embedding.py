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
from dgb.ray.blocks import GraphBlocks, Ref, even_cuts, run_tasks
from dgb.ray.propagation import make_features, propagate_blocks
from dgb.recipe import Embed
from dgb.views.view import Rows

Write = Callable[[Path, Array, Array], None]  # a file, node ids [n] and embeddings [n, width]


def write_parts(
    encoder: Encoder, blocks: GraphBlocks, recipe: Embed, node_ids: Array, write: tuple[Path, Write]
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


def embed_blocks(encoder: Encoder, blocks: GraphBlocks, recipe: Embed) -> list[Ref]:
    """Return what `dgb.model.embed.embed` returns, as blocks of rows in the object store."""
    x = make_features(blocks)
    views = [propagate_blocks(blocks, x, name) for name in recipe.operator.split("+")]
    network = ray.put(encoder)
    h = [
        _encoded.options(**blocks.layout.on(i)).remote(network, len(views), *columns)
        for i, columns in enumerate(zip(*(part for view in views for part in view), strict=True))
    ]
    if recipe.smooth:
        cuts = even_cuts(encoder.width, min(len(blocks.layout.columns) - 1, encoder.width))
        parts = run_tasks(_cut, len(cuts) - 1, blocks.layout, ((own, cuts) for own in h))
        smoothed = propagate_blocks(blocks, parts, "smooth")
        h = [_joined.remote(*columns) for columns in zip(*smoothed, strict=True)]
        x = propagate_blocks(blocks, x, "smooth") if recipe.features else x
    if not recipe.features:
        return h
    return [_with_features.remote(own, *xs) for own, *xs in zip(h, *x, strict=True)]


@torch.no_grad()
def encode_rows(encoder: Encoder, operators: int, *columns: Array) -> Array:
    """Return H of some rows, summed over operators, from their columns of P X for each of them."""
    count = len(columns) // operators
    views = [np.concatenate(columns[i : i + count], 1) for i in range(0, len(columns), count)]
    return np.asarray(sum(encoder(Rows(torch.from_numpy(view))).numpy() for view in views))


def cut_columns(h: Array, cuts: tuple[int, ...]) -> Any:
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


_task = ray.remote(max_retries=-1)
_encoded, _cut, _joined, _with_features = map(
    _task, (encode_rows, cut_columns, join_columns, append_features)
)
