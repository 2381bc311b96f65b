"""Train and embed on Ray; what comes after reads the embeddings as of any other run."""

import shutil
import time
from pathlib import Path

import torch

from dgb.arrays import Array
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.model.bootstrap import Bootstrap
from dgb.model.encoder import Encoder
from dgb.ray.cluster import CHECKPOINTS, Cluster, check_snapshots, connected
from dgb.recipe import Recipe
from dgb.run import folder as files
from dgb.run.machine import generators
from dgb.run.vectors import remove_parts, write_embeddings
from dgb.views.inputs import Inputs, make_inputs


def train_on_ray(
    graph: Graph, recipe: Recipe, folder: Path, cluster: Cluster
) -> tuple[Encoder, Inputs, float]:
    """Train on the machines of a cluster and write the embeddings in parts.

    Returns the encoder, what it was trained on, and the seconds that took.
    """
    check_snapshots(folder)
    with connected(cluster) as machines:
        from dgb.ray import training  # only now is it known that Ray is there
        from dgb.ray.blocks import make_layout, put_blocks
        from dgb.ray.embedding import write_parts

        ranks = len(machines) if cluster.workers is None else cluster.workers
        training.check_ranks(recipe, graph.num_nodes, ranks)
        start = time.perf_counter()
        cpu = torch.device("cpu")
        for_weights, for_masks = generators(recipe.train.seed, cpu)
        inputs = make_inputs(graph, recipe, cpu)
        model = Bootstrap(graph.num_features, recipe, for_weights)
        blocks = put_blocks(inputs, make_layout(inputs.shape, machines))
        training.fit(model, blocks, recipe, for_masks, folder=folder, ranks=ranks)
        seconds = time.perf_counter() - start
        parts = _empty(folder / files.EMBEDDINGS).resolve()
        write_parts(model.encoder, blocks, recipe.embed, graph.node_ids, (parts, _write))
    return model.encoder, inputs, seconds


def refuse_other_engine(folder: Path) -> None:
    """Refuse to go on in one process with a run whose checkpoints are Ray's."""
    if (folder / CHECKPOINTS).exists():
        raise DGBError(
            f"{folder} was begun on Ray; go on with `dgb train --resume {folder} --engine ray` and "
            "the same --address"
        )


def remove_checkpoints(folder: Path) -> None:
    """Remove what only unfinished runs need."""
    shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)


def _empty(folder: Path) -> Path:
    """Make a folder without the parts of a run that was stopped, which may have had others."""
    if folder.is_dir():
        remove_parts(folder)
    folder.unlink(missing_ok=True)
    folder.mkdir()
    return folder


def _write(path: Path, node_ids: Array, z: Array) -> None:
    write_embeddings(path, node_ids, z)
