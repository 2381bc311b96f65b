"""The run folder: recipe, names of columns and scores, each file written whole."""

import tomllib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from dgb.cookbook import load_recipe, to_toml
from dgb.data.encoding import Encoding, encoding_from, plain_encoding
from dgb.data.typed.schema import Schema, plain_schema, schema_from
from dgb.errors import DGBError, refusing
from dgb.files.atomic import unwritable, write_text
from dgb.recipe import Recipe

RECIPE, BEGUN, SCORES = "recipe.toml", "begun.toml", "scores.json"
EMBEDDINGS, FEATURES, SCHEMA = "embeddings.parquet", "features.toml", "schema.toml"
UPDATE = "update.toml"

Read = TypeVar("Read")


@dataclass(frozen=True)
class Origin:
    """The run that an update starts from, and what a training from the beginning takes."""

    run: str  # its folder
    model: str  # hash of its model, so that another in its place is noticed
    epochs: int
    learning_rate: float


def make_folder(folder: Path, recipe: Recipe, origin: Origin | None = None) -> None:
    """Make a run folder with its resolved recipe; one that another run lives in is refused."""
    try:
        if (folder / RECIPE).exists():
            raise DGBError(
                f"{folder} holds a run already; resume it with `dgb train --resume {folder}`, "
                "or choose another --out"
            )
        folder.mkdir(parents=True, exist_ok=True)
        # Before the recipe, with which it is a run: it cannot be resumed as one of another kind.
        _save_toml(folder / UPDATE, asdict(origin) if origin else None)
        write_text(folder / RECIPE, to_toml(recipe))
    except OSError as error:
        raise DGBError(unwritable(folder, error)) from error


def check_graph(folder: Path, graph_hash: str) -> None:
    """Note which graph a run is begun with; refuse to resume with another one."""
    begun = _read_toml(folder / BEGUN, dict)
    if begun is None:
        _save_toml(folder / BEGUN, {"graph_hash": graph_hash})
    elif begun.get("graph_hash") != graph_hash:
        raise DGBError(
            f"the graph is not the one that {folder} was begun with; bring its files back to what "
            "they were, or train into another --out"
        )


def read_recipe(folder: Path) -> Recipe:
    """Return the recipe of a run folder."""
    if not (folder / RECIPE).exists():
        raise DGBError(
            f"{folder} is not a run folder, it has no {RECIPE}; give one that `dgb train` wrote"
        )
    try:
        return load_recipe(folder / RECIPE)
    except DGBError as error:
        raise DGBError(
            f"this dgb cannot read the recipe of {folder}; if a newer one wrote it, upgrade dgb "
            f"({error})"
        ) from None


def read_origin(folder: Path) -> Origin | None:
    """Return what a run is an update of, None where it was trained from the beginning."""
    return _read_toml(folder / UPDATE, _make_origin)


def _make_origin(values: dict[str, Any]) -> Origin:
    run, model = str(values["run"]), str(values["model"])
    return Origin(run, model, int(values["epochs"]), float(values["learning_rate"]))


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
    with refusing(path, "cannot be read", "train the run again"):
        return make(tomllib.loads(path.read_text("utf-8")))
