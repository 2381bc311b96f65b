"""One training: from a graph to embeddings, and to a run folder with its scores."""

import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from dgb.cookbook import recipe_hash
from dgb.data.fingerprint import fingerprint
from dgb.data.graph import Array, Graph, Split
from dgb.engine.cluster import Cluster
from dgb.errors import DGBError
from dgb.evaluate.scores import (
    choose_split,
    class_names,
    confusion,
    score_and_predict,
    score_embeddings,
    why_not_scored,
)
from dgb.model.bootstrap import Bootstrap
from dgb.model.embed import embed
from dgb.model.encoder import Encoder
from dgb.progress import say
from dgb.recipe import Recipe
from dgb.run import folder as files
from dgb.run.machine import (
    choose_device,
    generators,
    git_hash,
    has_bf16,
    machine_kind,
    peak_mb,
    set_threads,
    versions,
)
from dgb.run.map import write_map
from dgb.run.memory import SCRATCH, choose_scratch, estimate, limit_gb
from dgb.run.on_ray import refuse_other_engine, remove_checkpoints, train_on_ray
from dgb.train import checkpoint
from dgb.train.journal import read_metrics
from dgb.train.loop import fit
from dgb.train.monitor import effective_rank
from dgb.views.inputs import Inputs, make_inputs, normalised_features
from dgb.views.operators import theta
from dgb.views.sampler import describe_path, epoch_sampler
from dgb.views.view import parse_view


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained encoder and what it was trained on."""

    encoder: Encoder
    inputs: Inputs
    recipe: Recipe
    seconds: float

    def embeddings(self) -> Array:
        """Return the representations of the training graph."""
        return embed(self.encoder, self.inputs, self.recipe.embed).cpu().numpy()

    def untrained_embeddings(self) -> Array:
        """Return the representations by the encoder as it was before its first step."""
        for_weights, _ = generators(self.recipe.train.seed, torch.device("cpu"))
        encoder = Encoder(self.inputs.x.shape[1], self.recipe.encoder, for_weights)
        encoder = encoder.to(self.encoder.weights[0].device)
        return embed(encoder, self.inputs, self.recipe.embed, "untrained").cpu().numpy()


def train_encoder(graph: Graph, recipe: Recipe, folder: Path | None = None) -> Trained:
    """Train DGB on a graph; with a folder, go on from the checkpoint in it if there is one."""
    check_recipe(recipe)
    set_threads(recipe.train.threads)
    device = choose_device(recipe.train.device)
    for_weights, for_masks = generators(recipe.train.seed, device)
    start = time.perf_counter()
    scratch = choose_scratch(graph, recipe, folder)
    inputs = make_inputs(graph, recipe, device, scratch=scratch)
    if folder:
        _tell_path(graph, inputs, recipe)
    model = Bootstrap(graph.num_features, recipe, for_weights).to(device)
    fit(model, epoch_sampler(inputs, recipe, for_masks), recipe.train, for_masks, folder=folder)
    return Trained(model.encoder, inputs, recipe, time.perf_counter() - start)


def _tell_path(graph: Graph, inputs: Inputs, recipe: Recipe) -> None:
    is_on_disk = inputs.store is not None and inputs.store.folder is not None
    needed = sum(estimate(graph, recipe, is_on_disk=is_on_disk).values())
    limit = limit_gb(recipe)
    free = "" if limit is None else f" of {limit:.1f}"
    say(f"{describe_path(inputs, recipe)}; about {needed:.1f}{free} GB of memory")
    if recipe.train.bf16 and not has_bf16(inputs.device):
        say("warning: this device has no bfloat16 of its own; train.bf16=false is faster here")


def check_recipe(recipe: Recipe) -> None:
    """Refuse settings that make no sense or do not go together."""
    parse_view(recipe.view1)
    parse_view(recipe.view2)
    theta(recipe.diffusion)
    choose_device(recipe.train.device)
    if recipe.encoder.layers > 1 and recipe.train.batch_size:
        raise DGBError(
            "train.batch_size needs encoder.layers=1: rows of P X̃ are independent of each other, "
            "rows of a second layer are not"
        )
    if not recipe.probe.weight_decays:
        raise DGBError("probe.weight_decays must list at least one number")
    if recipe.train.batch_size == 1 and recipe.heads.batch_norm:
        raise DGBError(
            "train.batch_size must be 0 or at least 2: BatchNorm needs more than one row"
        )
    if recipe.train.batch_size and recipe.train.order == "transform":
        raise DGBError("train.batch_size needs train.order=auto or propagate, not transform")


def train_run(
    graph: Graph, recipe: Recipe, folder: Path, cluster: Cluster | None = None
) -> dict[str, Any]:
    """Train into a run folder: model, embeddings and scores; return the scores.

    With a cluster, its machines train and embed; the rest is the same.
    """
    reason = why_not_scored(graph, recipe.train.seed)
    if reason:
        say(f"no scores: {reason}")
    if cluster is None:
        trained, z = _train_here(graph, recipe, folder)
    else:
        trained, z = _train_there(graph, recipe, folder, cluster)
    files.save_encoding(graph.encoding, folder)
    files.save_encoder(trained.encoder, folder)
    scores = describe(graph, recipe) | {
        "seconds": round(sum(line["seconds"] for line in read_metrics(folder)), 2),
        "effective_rank": round(effective_rank(torch.from_numpy(z)), 1),
    }
    split = None if reason else choose_split(graph, recipe.train.seed)
    systems, names = _scored(trained, z, graph, split)
    scores |= systems | {"peak_mb": peak_mb()}
    write_map(folder, graph, z, names, split)
    files.write_json(folder / files.SCORES, scores)
    (folder / checkpoint.FILE).unlink(missing_ok=True)  # only unfinished runs need these
    shutil.rmtree(folder / SCRATCH, ignore_errors=True)
    remove_checkpoints(folder)
    return scores


def _train_here(graph: Graph, recipe: Recipe, folder: Path) -> tuple[Trained, Array]:
    refuse_other_engine(folder)
    trained = train_encoder(graph, recipe, folder)
    z = trained.embeddings()
    files.write_embeddings(folder / files.EMBEDDINGS, graph.node_ids, z, npy=recipe.embed.npy)
    return trained, z


def _train_there(
    graph: Graph, recipe: Recipe, folder: Path, cluster: Cluster
) -> tuple[Trained, Array]:
    check_recipe(recipe)
    encoder, inputs, seconds = train_on_ray(graph, recipe, folder, cluster)
    _, z = files.read_embeddings(folder / files.EMBEDDINGS)
    if recipe.embed.npy:
        files.write_npy((folder / files.EMBEDDINGS).with_suffix(".npy"), z)
    return Trained(encoder, inputs, recipe, seconds), z


def _scored(
    trained: Trained, z: Array, graph: Graph, split: Split | None
) -> tuple[dict[str, Any], Array | None]:
    """Return the scores with the confusion of classes, and the class of every node by its name."""
    if split is None:
        return {}, None
    scores, predicted = score_systems(trained, z, graph)
    if predicted is None:
        return scores, None
    scores["confusion"] = confusion(predicted, graph, split)
    return scores, class_names(graph, predicted)


def untrained_systems(trained: Trained, graph: Graph) -> dict[str, Any]:
    """Return the rows beside which DGB is scored: the encoder untrained, and the features alone."""
    return {
        "random": trained.untrained_embeddings(),
        "raw": normalised_features(graph, trained.recipe),
    }


def score_systems(trained: Trained, z: Array, graph: Graph) -> tuple[dict[str, Any], Array | None]:
    """Return the scores of DGB, of the same encoder untrained, and of the features alone.

    Beside them, the class of every node by the probe of DGB, where there is one such probe.
    """
    probe, seed = trained.recipe.probe, trained.recipe.train.seed
    scores, predicted = score_and_predict(z, graph, probe, seed)
    systems = untrained_systems(trained, graph)
    others = {k: score_embeddings(rows, graph, probe, seed) for k, rows in systems.items()}
    return {"dgb": scores} | others, predicted


def describe(graph: Graph, recipe: Recipe) -> dict[str, Any]:
    """Return what a result has to carry so that it can be measured again."""
    return {
        "graph": graph.name,
        "graph_hash": fingerprint(graph),
        "recipe": recipe_hash(recipe),
        "seed": recipe.train.seed,
        "git": git_hash(),
        "versions": versions(),
        "machine": machine_kind(),
    }
