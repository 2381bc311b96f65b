"""DGB with scikit-learn's manners: fit, transform, fit_transform, save, load."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dgb.cookbook import load_recipe, to_toml
from dgb.data.graph import Array, Graph, make_graph
from dgb.data.pyg import from_pyg
from dgb.errors import DGBError
from dgb.model.embed import embed
from dgb.model.encoder import Encoder
from dgb.recipe import Recipe
from dgb.run import folder as files
from dgb.run.machine import choose_device
from dgb.run.training import train_encoder
from dgb.views.inputs import make_inputs


class DGB:
    """Label-free node embeddings: `Z = DGB(recipe="cora").fit_transform(data)`.

    `recipe` is a name, a TOML file or a Recipe; `overrides` are strings such as "train.decay=0.9".
    Data is a PyG Data, a Graph, or a feature matrix with `adjacency=` an n × n scipy sparse matrix.
    """

    def __init__(
        self, recipe: str | Path | Recipe = "default", overrides: Iterable[str] = ()
    ) -> None:
        """Remember the recipe; nothing is computed before `fit`."""
        self.recipe = recipe
        self.overrides = tuple(overrides)

    def fit(self, X: Any, y: Any = None, *, adjacency: Any = None) -> "DGB":  # noqa: N803, ARG002
        """Train on a graph; labels are never looked at."""
        self.fit_transform(X, adjacency=adjacency)
        return self

    def fit_transform(self, X: Any, y: Any = None, *, adjacency: Any = None) -> Array:  # noqa: N803, ARG002
        """Train on a graph and return its embeddings, one row per node, in the order given."""
        self.recipe_ = load_recipe(self.recipe, self.overrides)
        trained = train_encoder(to_graph(X, adjacency), self.recipe_)
        self.encoder_: Encoder = trained.encoder
        return trained.embeddings()

    def transform(self, X: Any, *, adjacency: Any = None) -> Array:  # noqa: N803
        """Embed a graph, this one or another with the same feature columns, without training."""
        if not hasattr(self, "encoder_"):
            raise DGBError("this DGB is not fitted yet; call fit or fit_transform first")
        return embed_graph(self.encoder_, to_graph(X, adjacency), self.recipe_)

    def save(self, folder: str | Path) -> None:
        """Write recipe.toml and model.safetensors; no pickle."""
        if not hasattr(self, "encoder_"):
            raise DGBError("this DGB is not fitted yet; there is nothing to save")
        Path(folder).mkdir(parents=True, exist_ok=True)
        files.write_text(Path(folder) / files.RECIPE, to_toml(self.recipe_))
        files.save_encoder(self.encoder_, Path(folder))

    @classmethod
    def load(cls, folder: str | Path) -> "DGB":
        """Return a fitted DGB from a folder written by `save` or by `dgb train`."""
        recipe = files.read_recipe(Path(folder))
        fitted = cls(recipe)
        fitted.recipe_ = recipe
        # Not the recipe's device: a model may be used elsewhere than it was trained.
        fitted.encoder_ = files.load_encoder(Path(folder), recipe, choose_device("auto"))
        return fitted


def embed_graph(encoder: Encoder, graph: Graph, recipe: Recipe) -> Array:
    """Return the embeddings of a graph by a trained encoder."""
    expected = encoder.weights[0].shape[0]
    if graph.num_features != expected:
        raise DGBError(
            f"{graph.name} has {graph.num_features} feature columns, but the model was trained on "
            f"{expected}; give the same columns in the same order"
        )
    inputs = make_inputs(graph, recipe, encoder.weights[0].device, is_trained=True)
    return embed(encoder, inputs, recipe.embed).cpu().numpy()


def to_graph(data: Any, adjacency: Any = None) -> Graph:
    """Return the Graph record of whatever `fit` takes."""
    if isinstance(data, Graph):
        return data
    if adjacency is not None:
        return make_graph("graph", data, adjacency)
    if hasattr(data, "edge_index"):
        return from_pyg(data)
    raise DGBError("give a PyG Data, or features with adjacency= an n × n scipy sparse matrix")
