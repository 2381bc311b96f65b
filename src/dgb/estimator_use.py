"""What a fitted estimator does: an update, neighbors, frames, predictions, a map and the page.

Each function is a method of DGB; `model` is what a method calls self.
"""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dgb import estimator_inputs as inputs
from dgb.arrays import Array
from dgb.cookbook import load_recipe
from dgb.data.align import check_width
from dgb.data.graph import Graph
from dgb.data.ids import find_nodes
from dgb.data.typed.graph import AnyGraph
from dgb.drawing import draw_map, plotting
from dgb.errors import DGBError
from dgb.evaluate.drift import Vectors, measure_drift
from dgb.evaluate.map import map_coordinates
from dgb.evaluate.predict import Predictions, predict_labels
from dgb.files.atomic import unwritable, write_text
from dgb.neighbors import nearest
from dgb.recipe import ALL_TYPES
from dgb.run.map import SEED, write_map
from dgb.run.model import embed_graph
from dgb.run.score import describe, score_vectors
from dgb.run.setup import Trained, target_rows
from dgb.run.train import train
from dgb.run.update import has_common_nodes, list_drift, shorten
from dgb.terminal import quietly
from dgb.train.monitor import measure_rank


def fitted_vectors(model: Any) -> Array:
    """Return the embeddings of an estimator, refused where it has none."""
    check_is_fitted(model, "encoder_")
    if model.embeddings_ is None:
        raise DGBError("no embeddings were loaded; give the graph, DGB.load(FOLDER, graph=…)")
    return np.asarray(model.embeddings_)


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
        graph = inputs.read_known(model, X, given)
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


def neighbors(model: Any, node: Any, k: int = 10) -> list[tuple[Any, float]]:
    """Return the nodes nearest to a node, by cosine.

    Args:
        node: Its id, one of `node_ids_`.
        k: How many.

    Returns:
        Ids and similarities, the nearest first.

    Example:
        >>> DGB(epochs=20).fit(load_graph("cora")).neighbors(0, k=3)
    """
    z = fitted_vectors(model)
    rows = find_nodes(model.node_ids_, np.array([node], dtype=object))
    (near,), (similar,) = nearest(z, rows, k)
    return list(zip(model.node_ids_[near].tolist(), similar.tolist(), strict=True))


def to_frame(model: Any) -> Any:
    """Return the embeddings as a pandas DataFrame, with the node ids as its index.

    Returns:
        DataFrame [num_nodes, width], its columns called as `get_feature_names_out` has them.

    Example:
        >>> DGB(epochs=20).fit(load_graph("cora")).to_frame().loc[0]
    """
    z, columns = fitted_vectors(model), model.get_feature_names_out()
    try:
        from pandas import DataFrame, Index
    except ImportError as error:
        raise DGBError("frames need pandas; run pip install pandas") from error
    return DataFrame(z, index=Index(model.node_ids_, name="node_id"), columns=columns)


def predict_nodes(
    model: Any,
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
    z = model.transform(X, adjacency=adjacency, edges=edges)
    return predict_labels(z, y, model.recipe_.probe)


def plot(model: Any, color: Any = None, *, ax: Any = None) -> Any:
    """Draw the map of the nodes, on which nodes with near vectors lie together.

    Args:
        color: A number or a category of every node, in the order of `node_ids_`; None and "" are
            gray, and so are the rarest of more than eight categories.
        ax: Axes of matplotlib to draw on, in place of a figure of its own.

    Returns:
        The axes; `.figure.savefig("map.png")` writes them.

    Example:
        >>> DGB(epochs=20).fit(graph).plot(graph.labels).figure.savefig("map.png")
    """
    z, values = fitted_vectors(model), None if color is None else np.asarray(color)
    if values is not None and values.shape != (len(z),):
        raise DGBError(
            f"color has the shape {values.shape}; give one value for each of {len(z)} nodes"
        )
    with plotting() as figure:
        places, kind = map_coordinates(z, SEED)
        if ax is None:
            ax = figure(figsize=(7, 5.5), layout="constrained").subplots()
        draw_map(ax, places, values)
        ax.set_title(f"{kind} of {len(z):,} nodes by their embeddings", fontsize=10)
    return ax


def report(
    model: Any,
    X: Any = None,  # noqa: N803
    path: str | Path = "report.html",
    *,
    adjacency: Any = None,
    edges: Any = None,
) -> Path:
    """Write the page of `dgb report`: a map to search and to color, scores, the recipe.

    Args:
        X, adjacency, edges: As for `transform`; after a fit with `graph=`, X may be left out.
        path: The file to write.

    Returns:
        The path of the page, a single file that loads nothing from elsewhere.

    Example:
        >>> DGB(epochs=20).fit(graph).report(graph, "papers.html")
    """
    check_is_fitted(model, "encoder_")
    X = model.graph if X is None else X  # noqa: N806
    if X is None:
        raise DGBError("the estimator does not keep the graph; give it again, report(GRAPH)")
    X, given = inputs.read_arguments(model, X, None, adjacency=adjacency, edges=edges)  # noqa: N806
    with quietly(not model.verbose):
        graph = inputs.read_input(model, X, given, model.recipe_, is_fit=False)
        page = _make_page(model, graph)
    try:
        write_text(Path(path), page)
    except OSError as error:
        raise DGBError(unwritable(Path(path).parent, error)) from error
    return Path(path)


def _make_page(model: Any, graph: AnyGraph) -> str:
    # Here, because pages of comparisons bring all baselines along.
    from dgb.report.map import pack_map
    from dgb.report.page import Run, run_page

    recipe = model.recipe_
    z = embed_graph(model.encoder_, graph, recipe)
    rows = z[target_rows(graph, recipe)]
    scores, predicted, split = score_vectors(rows, graph, recipe, model.encoder_)
    scores |= describe(graph, recipe) | {"effective_rank": measure_rank(z)}
    with tempfile.TemporaryDirectory() as folder:
        is_whole = recipe.data.target == ALL_TYPES
        path = write_map(Path(folder), graph, z, predicted, split, is_whole=is_whole)
        run = Run(Path(folder), recipe, [], scores, pack_map(path))
    return run_page(run, None)
