"""The run folder: recipe, metrics, model, embeddings and scores, each file written whole."""

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from dgb.cookbook import load_recipe, to_toml
from dgb.data.encoding import Encoding, encoding_from, plain_encoding
from dgb.data.hetero.schema import Schema, plain_schema, schema_from
from dgb.errors import DGBError
from dgb.model.encoder import Encoder
from dgb.model.hetero import make_hetero_encoder
from dgb.recipe import Recipe
from dgb.run.machine import dgb_version
from dgb.train.checkpoint import read_tensors, write_tensors
from dgb.whole_file import whole_file

FORMAT = 2  # of model.safetensors; since 2, features.toml beside it says how columns are read
RECIPE, MODEL, SCORES = "recipe.toml", "model.safetensors", "scores.json"
EMBEDDINGS, FEATURES, SCHEMA = "embeddings.parquet", "features.toml", "schema.toml"

Read = TypeVar("Read")


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
    try:
        return load_recipe(folder / RECIPE)
    except DGBError as error:
        raise DGBError(
            f"this dgb cannot read the recipe of {folder}; if a newer one wrote it, upgrade dgb "
            f"({error})"
        ) from None


def save_encoder(encoder: nn.Module, folder: Path) -> None:
    """Write the online encoder, which is all that is kept of the model."""
    metadata = {"format": str(FORMAT), "dgb_version": dgb_version()}
    write_tensors(folder / MODEL, encoder.state_dict(), metadata)


def load_encoder(
    folder: Path, recipe: Recipe, device: torch.device, schema: Schema | None = None
) -> Any:
    """Return the trained encoder of a run folder; `schema` is that of a heterogeneous one."""
    if not (folder / MODEL).exists():
        raise DGBError(f"{folder} is not finished; go on with `dgb train --resume {folder}`")
    tensors, metadata = read_tensors(folder / MODEL)
    _check_format(folder / MODEL, metadata.get("format", ""))
    try:
        encoder: nn.Module
        if schema is None:
            num_features, _ = tensors["weights.0"].shape
            encoder = Encoder(num_features, recipe.encoder, torch.Generator())
        else:
            encoder = make_hetero_encoder(schema, recipe, torch.Generator())
        encoder.load_state_dict(tensors)
    except (KeyError, RuntimeError, ValueError) as error:
        raise DGBError(f"{folder / MODEL} does not fit {folder / RECIPE}; train again") from error
    return encoder.to(device)


def _check_format(path: Path, written: str) -> None:
    if not re.fullmatch(r"[1-9][0-9]{0,8}", written):
        raise DGBError(f"{path} is no model of dgb: it does not say its format; train again")
    if int(written) > FORMAT:
        raise DGBError(
            f"{path} was written by a newer dgb (format {written}, this one reads up to "
            f"{FORMAT}); upgrade dgb"
        )


def save_encoding(encoding: Encoding | None, folder: Path) -> None:
    """Write what the feature columns are called and made of; without names there is no file."""
    _save_toml(folder / FEATURES, plain_encoding(encoding) if encoding else None)


def read_encoding(folder: Path) -> Encoding | None:
    """Return what the feature columns of a run are called, None where they have no names."""
    return _read_toml(folder / FEATURES, encoding_from)


def save_schema(schema: Schema | None, folder: Path) -> None:
    """Write the types and relations of a heterogeneous graph; of another there is no file."""
    _save_toml(folder / SCHEMA, plain_schema(schema) if schema else None)


def read_schema(folder: Path) -> Schema | None:
    """Return the types and relations of a run on a heterogeneous graph, None for another run."""
    return _read_toml(folder / SCHEMA, schema_from)


def _save_toml(path: Path, values: dict[str, Any] | None) -> None:
    import tomli_w

    if values is None:
        path.unlink(missing_ok=True)  # of a model that was here before
    else:
        write_text(path, tomli_w.dumps(values))


def _read_toml(path: Path, make: Callable[[dict[str, Any]], Read]) -> Read | None:
    if not path.exists():
        return None
    try:
        return make(tomllib.loads(path.read_text("utf-8")))
    except DGBError as error:
        raise DGBError(f"{path}: {error}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DGBError(f"cannot read {path}: {error}; train the run again") from None


def write_parquet(path: Path, table: Any) -> None:
    """Write an Arrow table atomically."""
    from pyarrow import parquet

    with whole_file(path) as part:
        parquet.write_table(table, part)


def write_json(path: Path, values: Any) -> None:
    """Write JSON atomically."""
    write_text(path, json.dumps(values, indent=2) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with whole_file(path) as part:
        part.write_text(text, "utf-8")
