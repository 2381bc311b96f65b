"""An update: a run on a new version of its graph, which starts from its model."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from dgb.arrays import Array
from dgb.cookbook import load_recipe
from dgb.data.align import check_width
from dgb.data.graph import Graph
from dgb.data.ids import arrow_ids, find_common
from dgb.data.typed.graph import AnyGraph
from dgb.errors import DGBError
from dgb.evaluate.drift import Drift, Vectors, find_rotation, measure_drift
from dgb.files.columns import write_columns
from dgb.model.blocks import AXES, keep, mean_name, split_blocks
from dgb.recipe import BLOCKS, Recipe
from dgb.run import folder as files
from dgb.run.machine import choose_device
from dgb.run.model import MODEL, load_encoder
from dgb.run.setup import Setup, embedded_ids
from dgb.run.vectors import read_embeddings
from dgb.train.monitor import read_metrics

DRIFT = "drift.csv"
# Of a training from the beginning. benchmarks/update.py measures them.
EPOCHS, RATE = 1 / 6, 0.3
INERTIA = 1e-6  # of the axes, against turns that hardly any node speaks for
LEARNT = BLOCKS[0]
LISTED = 10  # nodes that moved most, in the summary


@dataclass(frozen=True, eq=False)
class Source:
    """What an update takes from the run before it."""

    run: str  # its folder
    encoder: Any
    vectors: Vectors


def find_origin(folder: Path) -> files.Origin:
    """Return what an update of a finished run starts from."""
    recipe = files.read_recipe(folder)
    for name in (files.EMBEDDINGS, MODEL):
        if not (folder / name).exists():
            raise DGBError(
                f"{folder} has no {name}; an update starts from a run that `dgb train` has "
                "finished: finish it with --resume"
            )
    epochs, rate = recipe.train.epochs, recipe.train.learning_rate
    if (first := files.read_origin(folder)) is not None:  # it is an update itself
        epochs, rate = first.epochs, first.learning_rate
    elif recipe.train.patience:  # it may have stopped early
        epochs = len(read_metrics(folder)) or epochs
    return files.Origin(str(folder.resolve()), _hash_model(folder), epochs, rate)


def _hash_model(folder: Path) -> str:
    return hashlib.sha256((folder / MODEL).read_bytes()).hexdigest()[:12]


def lengthen(recipe: Recipe, origin: files.Origin | None) -> Recipe:
    """Return the recipe of a run as that of a training from the beginning."""
    if origin is None:
        return recipe
    length = [f"train.epochs={origin.epochs}", f"train.learning_rate={origin.learning_rate!r}"]
    return load_recipe(recipe, length)


def shorten(recipe: Recipe) -> Recipe:
    """Return the recipe of a training with the epochs and the learning rate of an update."""
    full = recipe.train
    epochs = max(round(EPOCHS * full.epochs), 1) if full.epochs else 0
    rate = RATE * full.learning_rate
    return load_recipe(recipe, [f"train.epochs={epochs}", f"train.learning_rate={rate:g}"])


def open_source(origin: files.Origin, graph: AnyGraph, recipe: Recipe) -> Source:
    """Read the model and the vectors of the run before; refuse a graph that does not fit them."""
    folder = Path(origin.run)
    if not (folder / MODEL).exists() or _hash_model(folder) != origin.model:
        raise DGBError(
            f"{folder}, which this run is an update of, is gone or another; bring it back, or "
            "begin the update again into another --out"
        )
    device = choose_device(recipe.train.device)
    encoder = load_encoder(folder, recipe, device, files.read_schema(folder))
    if isinstance(graph, Graph):
        check_width(graph, encoder.num_features)
    source = Source(origin.run, encoder, Vectors(*read_embeddings(folder / files.EMBEDDINGS)))
    width = sum(recipe.embed.widths(encoder.width, encoder.num_features).values())
    if source.vectors.z.shape[1] != width:
        raise DGBError(
            f"the vectors of {folder} have {source.vectors.z.shape[1]} columns, and its recipe "
            f"makes {width}; write them again with `dgb embed {folder}`"
        )
    if not has_common_nodes(graph, recipe, source.vectors.ids):
        raise DGBError(
            f"no node of {graph.name} has the id of a node of {folder}: it is no new version of "
            "its graph; embed it with `dgb embed`, or train on it with `dgb train`"
        )
    return source


def has_common_nodes(graph: AnyGraph, recipe: Recipe, known: Array) -> bool:
    """Tell whether any node that is embedded has an id that is known."""
    return bool(len(find_common(embedded_ids(graph, recipe), known)[0]))


def keep_axes(setup: Setup, encoder: Any, start: Any) -> None:
    """Turn what an encoder has learnt into the axes of the one that it started from.

    Both embed the same graph, so that no node counts as moved that the data have moved.
    """
    if setup.schema is not None:  # of several node types: what is learnt is not turned
        return
    widths = setup.recipe.embed.widths(encoder.width, encoder.num_features)
    if LEARNT not in widths:
        return
    new, old = (
        split_blocks(torch.from_numpy(setup.embed(of, name)), widths)[LEARNT].numpy()
        for name, of in (("embeddings", encoder), ("start", start))
    )
    rotation = torch.from_numpy(find_rotation(new, old, INERTIA))
    axes: torch.Tensor | None = getattr(encoder, AXES, None)
    keep(encoder, AXES, rotation if axes is None else axes.cpu() @ rotation)
    mean: torch.Tensor | None = getattr(encoder, mean_name(LEARNT), None)
    if mean is not None:  # the same place, in the new axes
        keep(encoder, mean_name(LEARNT), mean.cpu() @ rotation)


def write_drift(folder: Path, source: Source, after: Vectors, by_old: Array) -> dict[str, Any]:
    """Write drift.csv, the nodes that moved most first; return the summary."""
    before = source.vectors
    drift = measure_drift(before, after, by_old)
    columns = list_drift(drift, before.ids, after.ids)
    ids = arrow_ids(np.array(columns["node_id"], dtype=object))
    write_columns(folder / DRIFT, columns | {"node_id": ids})
    first = drift.order[:LISTED]
    names = map(str, after.ids[drift.kept[first]].tolist())
    most = zip(names, drift.times_noise[first].round(1).tolist(), strict=True)
    return {"run": source.run} | drift.describe() | {"moved_most": [list(pair) for pair in most]}


def list_drift(drift: Drift, before: Array, after: Array) -> dict[str, Any]:
    """Return a row for every node: kept ones by how far they moved, then new ones, then gone."""
    kept, source = drift.kept[drift.order], drift.source[drift.order]
    new = np.setdiff1d(np.arange(len(after)), kept)
    gone = np.setdiff1d(np.arange(len(before)), source)
    sizes = len(kept), len(new), len(gone)
    none = [None] * (len(new) + len(gone))

    def of_kept(values: Array) -> list[Any]:
        return [*values[drift.order].astype(np.float64).round(3).tolist(), *none]

    ids = [*after[kept].tolist(), *after[new].tolist(), *before[gone].tolist()]
    return {
        "node_id": ids,
        "state": np.repeat(["kept", "new", "gone"], sizes).tolist(),
        "angle": of_kept(drift.angles),
        "by_data": of_kept(drift.by_data),
        "times_noise": of_kept(drift.times_noise),
        "cluster_before": [
            *drift.cluster_before[source].tolist(),
            *[None] * len(new),
            *drift.cluster_before[gone].tolist(),
        ],
        "cluster": [*drift.cluster_after[kept].tolist(), *drift.cluster_after[new].tolist()]
        + [None] * len(gone),
    }
