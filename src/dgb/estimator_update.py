"""The Python form of `dgb update`: a fitted estimator on a new version of its graph.

`update` is a method of DGB; `model` is what a method calls self.
"""

from typing import Any

from dgb import estimator_inputs as inputs
from dgb.arrays import Array
from dgb.cookbook import load_recipe
from dgb.data.align import check_width
from dgb.data.graph import Graph
from dgb.data.typed.graph import AnyGraph
from dgb.errors import DGBError
from dgb.estimator_use import fitted_vectors
from dgb.evaluate.drift import Vectors, measure_drift
from dgb.run.setup import Trained
from dgb.run.train import train
from dgb.run.update import has_common_nodes, list_drift, shorten
from dgb.terminal import quietly


def update(
    model: Any,
    X: Any,  # noqa: N803
    *,
    adjacency: Any = None,
    edges: Any = None,
    epochs: int | None = None,
) -> Array:
    """Train further on a new version of the graph, in a quarter of the time and in the same axes.

    Vectors of nodes that were there before compare with those they had. `drift_` then has the
    columns of drift.csv, a row for every node: `pandas.DataFrame(model.drift_)`.

    Args:
        X, adjacency, edges: The new version, as for `fit`; its nodes are known by their ids, in
            arrays by their positions.
        epochs: How many; None takes a sixth of those of the fit.

    Returns:
        float32 array [num_nodes, columns], a row per node of the new version, as `node_ids_`.

    Example:
        >>> Z = DGB(epochs=20).fit(monday).update(tuesday)
    """
    z = fitted_vectors(model)
    X, given = inputs.read_arguments(model, X, None, adjacency=adjacency, edges=edges)  # noqa: N806
    if model._takes_ids and inputs.has_rows(X) and adjacency is edges is None:
        raise DGBError("update takes the new version of the graph, not ids of its nodes")
    with quietly(not model.verbose):
        graph = inputs.read_input(model, X, given, model.recipe_, is_fit=False)
        inputs.warn_of(model, inputs.new_notes(X, graph))
        trained = _train_further(model, graph, epochs)
        after = Vectors(trained.setup.node_ids, trained.embeddings())
    before = Vectors(model.node_ids_, z)
    drift = measure_drift(before, after, trained.first_embeddings())
    model.drift_ = list_drift(drift, before.ids, after.ids)
    model.encoder_, model.schema_ = trained.encoder, trained.setup.schema
    model.node_ids_, model.embeddings_ = after.ids, after.z
    if model.graph is not None:
        model.graph = graph  # whose rows ids stand for from now on
    return after.z


def _train_further(model: Any, graph: AnyGraph, epochs: int | None) -> Trained:
    """Train the model of an estimator on a graph that has nodes in common with its own."""
    if isinstance(graph, Graph):
        check_width(graph, model.encoder_.num_features)
    if not has_common_nodes(graph, model.recipe_, model.node_ids_):
        raise DGBError(
            f"no node of {graph.name} has the id of a node that the model was fitted on: it is no "
            "new version of that graph; embed it with transform, or fit on it"
        )
    # Where the model is: it may have been trained elsewhere.
    settings = [f"train.device={next(model.encoder_.parameters()).device.type}"]
    if epochs is not None:
        settings.append(f"train.epochs={epochs}")
    return train(graph, load_recipe(shorten(model.recipe_), settings), start=model.encoder_)
