"""DGB with scikit-learn's manners: fit, transform, fit_transform, save, load."""

import copy
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from dgb import estimator_inputs as inputs
from dgb import estimator_use as use
from dgb.arrays import Array
from dgb.cookbook import to_toml
from dgb.data.ids import find_nodes
from dgb.errors import DGBError
from dgb.files.atomic import unwritable, write_text
from dgb.recipe import Recipe
from dgb.run import folder as files
from dgb.run.machine import choose_device
from dgb.run.model import embed_graph, load_encoder, save_encoder
from dgb.run.setup import embedded_ids
from dgb.run.train import train
from dgb.run.update import lengthen
from dgb.run.vectors import read_embeddings
from dgb.terminal import quietly
from dgb.train.monitor import METRICS


class DGB(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Label-free node embeddings, as a scikit-learn estimator.

    Args:
        recipe: A name, a TOML file or a Recipe.
        overrides: Strings such as "train.decay=0.9".
        width, epochs, learning_rate, decay, device: One setting each; None leaves the recipe's.
            The width is that of a block of the encoder: vectors have the columns of all blocks.
        random_state: A whole number, or a RandomState that a seed is drawn from at each fit.
        graph: The whole graph, where X are node ids.
        verbose: False draws no bars and tells no notes on what was read or guessed.

    Example:
        >>> Z = DGB(epochs=20).fit_transform(load_graph("examples/company", label="team"))

    X is one of
    - a graph (PyG Data, networkx, igraph, dgb's Graph), which is embedded whole;
    - a graph of several node types (PyG HeteroData, dgb's HeteroGraph), whose target type is
      embedded, or all types with "data.target=all"; the default recipe is then "hetero";
    - features, with `adjacency=` an n × n scipy sparse matrix or `edges=` a DataFrame, or an array
      [2, m] or [m, 2]; ids are an `id` column or the index of a DataFrame, or positions of rows;
    - node ids, where the whole graph is given as `graph=`. Every fit trains on the whole graph
      without labels, and rows of these ids are returned. Only this form goes into GridSearchCV and
      cross_val_score, which cut the rows of X: a cut adjacency is not a graph any more;
    - features alone: nodes without edges, with a warning.

    scikit-learn's own estimator checks all pass, on features alone; none is excepted.

    Fitted attributes: `recipe_`, `encoder_`, `encoding_` (names of the feature columns, or None),
    `schema_` (types and relations where there are several, or None), `node_ids_` and `embeddings_`
    of all nodes (None where a folder without them was loaded), `n_features_in_`,
    `feature_names_in_` where columns have names, and `drift_` after an `update`.
    """

    # What a fitted one does with its vectors, and what is shown of them.
    neighbors, to_frame, predict_nodes = use.neighbors, use.to_frame, use.predict_nodes
    plot, report, update = use.plot, use.report, use.update

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
        verbose: bool = True,
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
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, adjacency: Any = None, edges: Any = None) -> "DGB":  # noqa: N803
        """Train on a graph; labels are never looked at.

        Args:
            X: A graph, features, or node ids, as the class lists them.
            y: Ignored, as scikit-learn's pipelines hand it on.
            adjacency: n × n scipy sparse matrix, where X are features.
            edges: DataFrame with a row per edge, or an array [2, m] or [m, 2] of ids.

        Returns:
            This estimator, fitted.
        """
        self.fit_transform(X, y, adjacency=adjacency, edges=edges)
        return self

    def fit_transform(
        self,
        X: Any,  # noqa: N803
        y: Any = None,
        *,
        adjacency: Any = None,
        edges: Any = None,
    ) -> Array:
        """Train on a graph and return its embeddings.

        Args:
            X, y, adjacency, edges: As for `fit`.

        Returns:
            float32 array [num_nodes, columns], a row per node in the order given.

        Example:
            >>> z = DGB(epochs=50).fit_transform(X, adjacency=A)
        """
        X, given = inputs.read_arguments(self, X, y, adjacency=adjacency, edges=edges)  # noqa: N806
        with quietly(not self.verbose):
            return self._fit(X, given)

    def _fit(self, X: Any, given: dict[str, Any]) -> Array:  # noqa: N803
        source = X if self.graph is None else self.graph
        is_typed = inputs.is_hetero_object(source)
        recipe = inputs.make_recipe(self, "hetero" if is_typed else "default")
        if self.graph is not None and any(part is not None for part in given.values()):
            raise DGBError("DGB(graph=...) has the edges already; leave out adjacency= and edges=")
        graph = inputs.read_input(self, source, given, recipe, is_fit=True)
        rows: Any = slice(None)
        if self.graph is not None:
            rows = find_nodes(embedded_ids(graph, recipe), inputs.id_column(self, X, is_fit=True))
        notes = inputs.new_notes(source, graph)
        if not is_typed:  # before what may take long; of several types training adds some
            inputs.warn_of(self, notes)
        trained = train(graph, recipe)
        setup = trained.setup
        if is_typed:
            inputs.warn_of(self, (*notes, *setup.notes))
        self.recipe_, self.encoder_ = trained.recipe, trained.encoder
        self.__dict__.pop("drift_", None)  # of an update before
        self.schema_ = setup.schema
        self.node_ids_: Any = setup.node_ids
        columns = setup.schema.columns if setup.schema else None
        self.encoding_ = columns.encoding if columns else setup.encoding
        if columns and self.graph is None:
            inputs.count_features(self, columns.encoding, columns.width or 0)
        self._takes_ids = self.graph is not None
        self.embeddings_: Array | None = trained.embeddings()
        return np.asarray(self.embeddings_[rows])

    def transform(self, X: Any, *, adjacency: Any = None, edges: Any = None) -> Array:  # noqa: N803
        """Embed a graph, this one or another with the same feature columns, without training.

        Args:
            X: A graph or features; node ids after a fit with `graph=`.
            adjacency, edges: As for `fit`, where X are features.

        Returns:
            float32 array [num_nodes, columns], a row per node in the order given.
        """
        check_is_fitted(self, "encoder_")
        X, given = inputs.read_arguments(self, X, None, adjacency=adjacency, edges=edges)  # noqa: N806
        if self._takes_ids and inputs.has_rows(X) and adjacency is edges is None:
            rows = find_nodes(self.node_ids_, inputs.id_column(self, X, is_fit=False))
            return np.asarray(use.fitted_vectors(self)[rows])
        with quietly(not self.verbose):
            return embed_graph(self.encoder_, inputs.read_known(self, X, given), self.recipe_)

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
            folder: With recipe.toml and model.safetensors; a run has the embeddings as well.
            graph: If given, `transform` takes ids of its nodes, as after a fit with `graph=`.

        Returns:
            A DGB whose `transform` can be called.
        """
        folder = Path(folder)
        recipe = lengthen(files.read_recipe(folder), files.read_origin(folder))
        fitted = cls(recipe, graph=graph)
        fitted.recipe_ = recipe
        fitted.schema_ = schema = files.read_schema(folder)
        fitted.encoding_ = schema.columns.encoding if schema else files.read_encoding(folder)
        # Not the recipe's device: a model may be used elsewhere than it was trained.
        fitted.encoder_ = load_encoder(folder, recipe, choose_device("auto"), schema)
        width = schema.columns.width if schema else fitted.encoder_.num_features
        inputs.count_features(fitted, fitted.encoding_, width or 0)
        path, fitted._takes_ids = folder / files.EMBEDDINGS, graph is not None
        fitted.node_ids_, fitted.embeddings_ = None, None
        if graph is None and path.exists():
            fitted.node_ids_, fitted.embeddings_ = read_embeddings(path)
        elif graph is not None:
            whole = inputs.read_known(fitted, graph, {})
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
