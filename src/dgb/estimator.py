"""DGB with scikit-learn's manners: fit, transform, fit_transform, save, load."""

import copy
import warnings
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from dgb.arrays import Array
from dgb.cookbook import load_recipe, plain, recipe_from, to_toml
from dgb.data.align import refuse_own_scales
from dgb.data.graph import Graph
from dgb.data.ids import find_nodes
from dgb.data.objects import to_graph
from dgb.data.typed.schema import Schema
from dgb.errors import DGBError
from dgb.estimator_hetero import RECIPE, embed_hetero_object, fit_hetero, is_hetero_object
from dgb.estimator_inputs import count_features, id_column, is_table, lone_nodes, refuse_cut
from dgb.files.atomic import write_text
from dgb.recipe import Recipe
from dgb.run import folder as files
from dgb.run.embedding import embed_graph
from dgb.run.machine import choose_device
from dgb.run.model_file import load_encoder, save_encoder
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
        """Train on a graph; labels are never looked at."""
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
        """Train on a graph and return its embeddings, one row per node, in the order given."""
        if is_hetero_object(X if self.graph is None else self.graph):
            return fit_hetero(self, X, self._resolved_recipe(RECIPE), adjacency, edges)
        recipe = self._resolved_recipe()
        if self.graph is None:
            graph, rows = self._read(X, adjacency, edges, recipe, is_fit=True), None
        elif adjacency is not None or edges is not None:
            raise DGBError("DGB(graph=...) has the edges already; leave out adjacency= and edges=")
        else:
            graph = _told(to_graph(self.graph, **asdict(recipe.data)), self.graph)
            rows = find_nodes(graph.node_ids, id_column(self, X, is_fit=True))
        trained = train(graph, recipe)
        self.recipe_, self.encoder_ = recipe, trained.encoder
        self.encoding_, self.node_ids_ = graph.encoding, graph.node_ids
        self.schema_: Schema | None = None
        z = trained.embeddings()
        self.embeddings_: Array | None = None if rows is None else z
        return z if rows is None else np.asarray(z[rows])

    def transform(self, X: Any, *, adjacency: Any = None, edges: Any = None) -> Array:  # noqa: N803
        """Embed a graph, this one or another with the same feature columns, without training."""
        check_is_fitted(self, "encoder_")
        if self.embeddings_ is not None and adjacency is None and edges is None and is_table(X):
            rows = find_nodes(self.node_ids_, id_column(self, X, is_fit=False))
            return np.asarray(self.embeddings_[rows])
        if self.schema_ is not None or is_hetero_object(X):
            return embed_hetero_object(self, X, adjacency, edges)[1]
        graph = self._read(X, adjacency, edges, self.recipe_, is_fit=False)
        return embed_graph(self.encoder_, graph, self.recipe_)

    def save(self, folder: str | Path) -> None:
        """Write recipe.toml, model.safetensors and, where columns have names, features.toml."""
        check_is_fitted(self, "encoder_")
        folder = Path(folder)
        # Metrics as well: a run that is not finished would go on with this recipe.
        if any((folder / name).exists() for name in (files.SCORES, METRICS)):
            raise DGBError(f"{folder} holds a run of `dgb train`; save to another folder")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_text(folder / files.RECIPE, to_toml(self.recipe_))
            files.save_encoding(None if self.schema_ else self.encoding_, folder)
            files.save_schema(self.schema_, folder)
            save_encoder(self.encoder_, folder)
        except OSError as error:
            raise DGBError(
                f"cannot write to {folder}: {error.strerror}; choose another folder"
            ) from error

    @classmethod
    def load(cls, folder: str | Path, *, graph: Any = None) -> "DGB":
        """Return a fitted DGB from a folder that `save` or `dgb train` wrote.

        With `graph`, `transform` takes ids of its nodes, as after a fit with `graph=`.
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
        count_features(fitted, fitted.encoding_, width or 0)
        fitted.embeddings_ = None
        if graph is not None and (schema or is_hetero_object(graph)):
            fitted.node_ids_, fitted.embeddings_ = embed_hetero_object(fitted, graph)
        elif graph is not None:
            whole = fitted._read(graph, None, None, recipe, is_fit=False)
            fitted.node_ids_ = whole.node_ids
            fitted.embeddings_ = embed_graph(fitted.encoder_, whole, recipe)
        if graph is not None:
            count_features(fitted, None, 1)
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
        appended = self.encoder_.num_features if self.recipe_.embed.features else 0
        return int(self.encoder_.width + appended)

    def _resolved_recipe(self, usual: str = "default") -> Recipe:
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

    def _read(
        self,
        X: Any,  # noqa: N803
        adjacency: Any,
        edges: Any,
        recipe: Recipe,
        *,
        is_fit: bool,
    ) -> Graph:
        if adjacency is None and edges is None and is_table(X):
            return lone_nodes(self, X, is_fit=is_fit)
        refuse_cut(adjacency)
        encoding = None if is_fit else self.encoding_
        reading = asdict(recipe.data)
        graph = to_graph(X, adjacency=adjacency, edges=edges, encoding=encoding, **reading)
        if is_fit:
            count_features(self, graph.encoding, graph.num_features)
        else:
            refuse_own_scales(graph, encoding)
        return _told(graph, X)


def _told(graph: Graph, made_of: Any) -> Graph:
    """Warn of what was made or guessed while reading; who brings a Graph was told before."""
    known = made_of.notes if isinstance(made_of, Graph) else ()
    for note in graph.notes[len(known) :]:
        warnings.warn(note, UserWarning, stacklevel=5)
    return graph
