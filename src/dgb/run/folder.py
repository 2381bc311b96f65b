"""The run folder: recipe, metrics, model, embeddings and scores, each file written whole."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from dgb.cookbook import load_recipe, to_toml
from dgb.data.graph import Array
from dgb.errors import DGBError
from dgb.model.encoder import Encoder
from dgb.recipe import Recipe
from dgb.train.checkpoint import read_tensors, write_tensors
from dgb.whole_file import whole_file

FORMAT = "1"  # of model.safetensors
RECIPE, MODEL, SCORES = "recipe.toml", "model.safetensors", "scores.json"
EMBEDDINGS = "embeddings.parquet"


def make_folder(folder: Path, recipe: Recipe) -> None:
    """Make a run folder with its resolved recipe; one that another run lives in is refused."""
    try:
        if (folder / RECIPE).exists():
            raise DGBError(
                f"{folder} holds a run already; go on with it by `dgb train --resume {folder}`, "
                "or choose another --out"
            )
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / RECIPE, to_toml(recipe))
    except OSError as error:
        raise DGBError(
            f"cannot write to {folder}: {error.strerror}; choose another --out"
        ) from error


def read_recipe(folder: Path) -> Recipe:
    """Return the recipe of a run folder."""
    if not (folder / RECIPE).exists():
        raise DGBError(f"{folder} is not a run folder: it has no {RECIPE}")
    return load_recipe(folder / RECIPE)


def save_encoder(encoder: Encoder, folder: Path) -> None:
    """Write the online encoder, which is all that is kept of the model."""
    write_tensors(folder / MODEL, encoder.state_dict(), {"format": FORMAT})


def load_encoder(folder: Path, recipe: Recipe, device: torch.device) -> Encoder:
    """Return the trained encoder of a run folder."""
    if not (folder / MODEL).exists():
        raise DGBError(f"{folder} is not finished; go on with `dgb train --resume {folder}`")
    tensors, metadata = read_tensors(folder / MODEL)
    if metadata.get("format") != FORMAT:
        raise DGBError(f"{folder / MODEL} was written by another version of dgb; upgrade dgb")
    try:
        num_features = tensors["weights.0"].shape[0]
        encoder = Encoder(num_features, recipe.encoder, torch.Generator())
        encoder.load_state_dict(tensors)
    except (IndexError, KeyError, RuntimeError) as error:
        raise DGBError(f"{folder / MODEL} does not fit {folder / RECIPE}; train again") from error
    return encoder.to(device)


def write_embeddings(path: Path, node_ids: Array, z: Array, *, npy: bool = False) -> None:
    """Write Parquet with the columns `node_id` and `embedding`, and .npy by wish."""
    import pyarrow as pa
    from pyarrow import parquet

    flat = pa.array(np.ascontiguousarray(z, dtype=np.float32).reshape(-1))
    vectors = pa.FixedSizeListArray.from_arrays(flat, z.shape[1])
    with whole_file(path) as part:
        parquet.write_table(pa.table({"node_id": id_column(node_ids), "embedding": vectors}), part)
    if npy:
        with whole_file(path.with_suffix(".npy")) as part, part.open("wb") as file:
            np.save(file, z, allow_pickle=False)


def read_embeddings(path: Path) -> tuple[Array, Array]:
    """Return node ids [n] and embeddings [n, width] of a file that `write_embeddings` wrote."""
    import pyarrow as pa
    from pyarrow import compute, parquet

    if not path.is_file():
        raise DGBError(f"{path} is not there; `dgb train` and `dgb embed` write such files")
    try:
        table = parquet.read_table(path, columns=["node_id", "embedding"])
        vectors = table["embedding"].combine_chunks()
        flat = vectors.flatten().to_numpy(zero_copy_only=False).astype(np.float32)
        z = flat.reshape(len(vectors), -1)
        lengths = compute.list_value_length(vectors).to_numpy(zero_copy_only=False)
        if not (lengths == z.shape[1]).all() or not np.isfinite(z).all():
            raise ValueError
    except (pa.ArrowException, AttributeError, KeyError, ValueError):
        raise DGBError(
            f"{path} is no file of embeddings: it needs the columns node_id and embedding, lists "
            "of numbers of one length"
        ) from None
    return table["node_id"].to_numpy(), z


def id_column(node_ids: Array) -> Any:
    """Return node ids as a column for Parquet, as text where it has no type for them."""
    import pyarrow as pa

    try:
        return pa.array(node_ids.tolist())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return pa.array([str(i) for i in node_ids])  # of mixed types, or one Parquet does not have


def write_json(path: Path, values: Any) -> None:
    """Write JSON atomically."""
    write_text(path, json.dumps(values, indent=2) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with whole_file(path) as part:
        part.write_text(text, "utf-8")
