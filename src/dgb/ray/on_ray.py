"""Train and embed on Ray; what comes after reads the embeddings as of any other run."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from dgb.arrays import Array
from dgb.errors import DGBError
from dgb.model.bootstrap import Bootstrap
from dgb.ray.cluster import CHECKPOINTS, Cluster, check_snapshots, connected
from dgb.recipe import Recipe
from dgb.views.inputs import Inputs


@dataclass(eq=False)
class Engine:
    """The machines of a cluster, which keep a graph as blocks, train on it and embed it."""

    machines: list[dict[str, Any]]
    ranks: int
    recipe: Recipe
    folder: Path  # of the run
    blocks: Any = None

    def fit(self, model: Bootstrap, inputs: Inputs, generator: torch.Generator) -> None:
        """Train the model in place on ranks that share the rows of the inputs."""
        from dgb.ray import training
        from dgb.ray.blocks import make_layout, put_blocks

        self.blocks = put_blocks(inputs, make_layout(inputs.shape, self.machines))
        folder, ranks = self.folder, self.ranks
        training.fit_ranks(model, self.blocks, self.recipe, generator, folder=folder, ranks=ranks)

    def write_embeddings(self, encoder: Any, node_ids: Array, folder: Path, write: Any) -> None:
        """Write the embeddings of all nodes into a folder, a file for each block of rows."""
        from dgb.ray.embedding import write_parts

        write_parts(encoder, self.blocks, self.recipe.embed, node_ids, (folder.resolve(), write))


@contextmanager
def connect_engine(
    cluster: Cluster, recipe: Recipe, num_nodes: int, folder: Path
) -> Iterator[Engine]:
    """Connect to a cluster for one run; what it cannot do is refused before anything is made."""
    check_snapshots(folder)
    with connected(cluster) as machines:
        from dgb.ray.training import check_ranks  # only now is it known that Ray is there

        ranks = len(machines) if cluster.workers is None else cluster.workers
        check_ranks(recipe, num_nodes, ranks)
        yield Engine(machines, ranks, recipe, folder)


def refuse_other_engine(folder: Path) -> None:
    """Refuse to resume in one process a run whose checkpoints are Ray's."""
    if (folder / CHECKPOINTS).exists():
        raise DGBError(
            f"{folder} was begun on Ray; resume it with `dgb train --resume {folder} --engine ray` "
            "and the same --address"
        )


def remove_checkpoints(folder: Path) -> None:
    """Remove what only unfinished runs need."""
    shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)
