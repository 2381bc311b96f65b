"""DGB with scikit-learn's manners: fit, transform, fit_transform, save, load."""

import copy
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from dgb import estimator_inputs as inputs
from dgb.arrays import Array
from dgb.cookbook import load_recipe, plain, recipe_from, to_toml
from dgb.data.ids import find_nodes
from dgb.errors import DGBError
from dgb.evaluate.predictions import Predictions, predict_labels
from dgb.files.atomic import write_text
from dgb.files.lock import unwritable
from dgb.recipe import Recipe
from dgb.run import folder as files
from dgb.run.embedding import embed_graph
from dgb.run.machine import choose_device
from dgb.run.model_file import load_encoder, save_encoder
from dgb.run.setup import embedded_ids
from dgb.run.train import train
from dgb.train.monitor import METRICS

SETTINGS = {  # parameters that stand for a setting of the recipe
    "width": ("encoder", "width"),
    "epochs": ("train", "epochs"),
    "learning_rate": ("train", "learning_rate"),
    "decay": ("train", "decay"),
    "random_state": ("train", "seed"),
    "device": ("train", "device"),
}


class DGB(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Label-free node embeddings, as a scikit-learn estimator.

    Args:
        recipe: A name, a TOML file or a Recipe.
        overrides: Strings such as "train.decay=0.9".
        width, epochs, learning_rate, decay, device: One setting each; None leaves the recipe's.
        random_state: A whole number, or a RandomState that a seed is drawn from at each fit.
        graph: The whole graph, where X are node ids.

    Example:
        >>> Z = DGB(epochs=20).fit_transform(load_graph("examples/company", label="team"))

    X is one of
    - a graph (PyG Data, networkx, igraph, dgb's Graph), which is embedded whole;
    - a graph of several node types (PyG HeteroData, dgb's HeteroGraph), whose target type is
      embedded, or all types with "data.target=all"; the default recipe is then "hetero";
    - features, with `adjacency=` an n × n scipy sparse matrix or `edges=` a DataFrame;
    - node ids, where the whole graph is given as `graph=`. Every fit trains on the whole graph
      without labels, and rows of these ids are returned. Only this form goes into GridSearchCV and
      cross_val_score, which cut the rows of X: a cut adjacency is not a graph any more;
    - features alone: nodes without edges, with a warning.

    scikit-learn's own estimator checks all pass, on features alone; none is excepted.

    Fitted attributes: `recipe_`, `encoder_`, `encoding_` (names of the feature columns, or None),
    `schema_` (types and relations where there are several, or None), `node_ids_`, `n_features_in_`,
    `feature_names_in_` where columns have names, and with `graph=` the `embeddings_` of all nodes.
    """

    def __init__(
        self,
        recipe: str | Path | Recipe = "default",
        overrides: Iterable[str] = (),
        *,
        width: int | None = None,
        epochs: int | None = None,
        learning_rate: float | None = None,
        decay: float | None = None,
        random_state: Any = None,
        device: str | None = None,
        graph: Any = None,
    ) -> None:
        """Remember the parameters; they are checked by `fit`."""
        self.recipe = recipe
        self.overrides = overrides
        self.width = width
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.decay = decay
        self.random_state = random_state
        self.device = device
        self.graph = graph

    def fit(self, X: Any, y: Any = None, *, adjacency: Any = None, edges: Any = None) -> "DGB":  # noqa: N803
        """Train on a graph; labels are never looked at.

        Args:
            X: A graph, features, or node ids, as the class lists them.
            y: Ignored, as scikit-learn's pipelines hand it on.
            adjacency: n × n scipy sparse matrix, where X are features.
            edges: DataFrame with a row per edge, where X are features.

        Returns:
            This estimator, fitted.
        """
        self.fit_transform(X, y, adjacency=adjacency, edges=edges)
        return self

    def fit_transform(
        self,
        X: Any,  # noqa: N803
        y: Any = None,  # noqa: ARG002
        *,
        adjacency: Any = None,
        edges: Any = None,
    ) -> Array:
        """Train on a graph and return its embeddings.

        Args:
            X, y, adjacency, edges: As for `fit`.

        Returns:
            float32 array [num_nodes, width], a row per node in the order given.

        Example:
            >>> z = DGB(epochs=50).fit_transform(X, adjacency=A)
        """
        is_typed = inputs.is_hetero_object(X if self.graph is None else self.graph)
        recipe = self._make_recipe("hetero" if is_typed else "default")
        given = {"adjacency": adjacency, "edges": edges}
        rows: Any = slice(None)
        if self.graph is None:
            graph = inputs.read_input(self, X, given, recipe, is_fit=True)
        elif adjacency is not None or edges is not None:
            raise DGBError("DGB(graph=...) has the edges already; leave out adjacency= and edges=")
        else:
            graph = inputs.read_input(self, self.graph, {}, recipe, is_fit=True)
            rows = find_nodes(embedded_ids(graph, recipe), inputs.id_column(self, X, is_fit=True))
        trained = train(graph, recipe)
        setup = trained.setup
        inputs.warn_of(setup.notes, 4)
        self.recipe_, self.encoder_ = trained.recipe, trained.encoder
        self.schema_, self.node_ids_ = setup.schema, setup.node_ids
        columns = setup.schema.columns if setup.schema else None
        self.encoding_ = columns.encoding if columns else setup.encoding
        if columns and self.graph is None:
            inputs.count_features(self, columns.encoding, columns.width or 0)
        z = trained.embeddings()
        self.embeddings_: Array | None = None if self.graph is None else z
        return np.asarray(z[rows])

    def transform(self, X: Any, *, adjacency: Any = None, edges: Any = None) -> Array:  # noqa: N803
        """Embed a graph, this one or another with the same feature columns, without training.

        Args:
            X: A graph or features; node ids after a fit with `graph=`.
            adjacency, edges: As for `fit`, where X are features.

        Returns:
            float32 array [num_nodes, width], a row per node in the order given.
        """
        check_is_fitted(self, "encoder_")
        if self.embeddings_ is not None and inputs.has_rows(X) and adjacency is edges is None:
            rows = find_nodes(self.node_ids_, inputs.id_column(self, X, is_fit=False))
            return np.asarray(self.embeddings_[rows])
        given = {"adjacency": adjacency, "edges": edges}
        graph = inputs.read_input(self, X, given, self.recipe_, is_fit=False)
        return embed_graph(self.encoder_, graph, self.recipe_)

    def predict_nodes(
        self,
        X: Any,  # noqa: N803
        y: Any,
        *,
        adjacency: Any = None,
        edges: Any = None,
    ) -> Predictions:
        """Predict the labels of nodes from those that are known, with calibrated probabilities.

        Args:
            X, adjacency, edges: As for `transform`.
            y: A label for each node; None, NaN, "" and -1 among whole numbers mean unknown.

        Returns:
            `predicted` and `probabilities` of all nodes, and the cross-validated `score`.

        Example:
            >>> DGB(epochs=20).fit(graph).predict_nodes(graph, graph.labels).predicted
        """
        z = self.transform(X, adjacency=adjacency, edges=edges)
        return predict_labels(z, y, self.recipe_.probe)

    def save(self, folder: str | Path) -> None:
        """Write recipe.toml, model.safetensors and what the columns are called.

        Args:
            folder: Made if it is not there; one with a run of `dgb train` is refused.

        Example:
            >>> model.save("papers")
            >>> z = DGB.load("papers").transform(X, adjacency=A)
        """
        check_is_fitted(self, "encoder_")
        folder = Path(folder)
        # Metrics as well: a run that is not finished would resume with this recipe.
        if any((folder / name).exists() for name in (files.SCORES, METRICS)):
            raise DGBError(f"{folder} holds a run of `dgb train`; save to another folder")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_text(folder / files.RECIPE, to_toml(self.recipe_))
            files.save_encoding(None if self.schema_ else self.encoding_, folder)
            files.save_schema(self.schema_, folder)
            save_encoder(self.encoder_, folder)
        except OSError as error:
            raise DGBError(unwritable(folder, error)) from error

    @classmethod
    def load(cls, folder: str | Path, *, graph: Any = None) -> "DGB":
        """Return a fitted DGB from a folder that `save` or `dgb train` wrote.

        Args:
            folder: With recipe.toml and model.safetensors.
            graph: If given, `transform` takes ids of its nodes, as after a fit with `graph=`.

        Returns:
            A DGB whose `transform` can be called.
        """
        folder = Path(folder)
        recipe = files.read_recipe(folder)
        fitted = cls(recipe, graph=graph)
        fitted.recipe_ = recipe
        fitted.schema_ = schema = files.read_schema(folder)
        fitted.encoding_ = schema.columns.encoding if schema else files.read_encoding(folder)
        # Not the recipe's device: a model may be used elsewhere than it was trained.
        fitted.encoder_ = load_encoder(folder, recipe, choose_device("auto"), schema)
        width = schema.columns.width if schema else fitted.encoder_.num_features
        inputs.count_features(fitted, fitted.encoding_, width or 0)
        fitted.embeddings_ = None
        if graph is not None:
            whole = inputs.read_input(fitted, graph, {}, recipe, is_fit=False)
            fitted.node_ids_ = embedded_ids(whole, recipe)
            fitted.embeddings_ = embed_graph(fitted.encoder_, whole, recipe)
            inputs.count_features(fitted, None, 1)
        return fitted

    def __sklearn_clone__(self) -> "DGB":
        """Clone as scikit-learn does, but share the graph: it is only read, and may be large."""
        bare = copy.copy(self)
        bare.graph = None
        clone: DGB = super(DGB, bare).__sklearn_clone__()
        clone.graph = self.graph
        return clone

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that X may be sparse and that embeddings are float32."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def _more_tags(self) -> dict[str, Any]:  # the tags of scikit-learn before 1.6
        return {"preserves_dtype": [np.float32]}

    @property
    def _n_features_out(self) -> int:
        widths = self.recipe_.embed.widths(self.encoder_.width, self.encoder_.num_features)
        return sum(widths.values())

    def _make_recipe(self, usual: str = "default") -> Recipe:
        if isinstance(self.overrides, str):  # whose letters would be read one by one
            raise DGBError(f"overrides must be a list of texts, such as [{self.overrides!r}]")
        chosen = usual if self.recipe == "default" else self.recipe
        values = plain(load_recipe(chosen, self.overrides))
        for name, (section, key) in SETTINGS.items():
            value = getattr(self, name)
            if isinstance(value, np.random.RandomState):
                value = value.randint(np.iinfo(np.int32).max)
            if value is not None:
                values[section][key] = value.item() if isinstance(value, np.generic) else value
        return recipe_from(values)
