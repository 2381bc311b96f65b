"""The Python interface: what X may be, scikit-learn's manners, and what labels cannot reach."""

import copy
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import validation
from sklearn.utils.estimator_checks import parametrize_with_checks

from dgb import DGB, DGBError, load_recipe
from dgb.arrays import Array
from dgb.data.formats.pyg import to_pyg
from dgb.data.graph import Graph
from dgb.evaluate.probe import linear_probe
from tests.conftest import make_blocks

SMALL = ("encoder.width=16", "heads.hidden=16", "heads.width=16", "train.epochs=30")
TINY = DGB("paper", overrides=("heads.hidden=8", "heads.width=8"), width=8, epochs=2)


def tiny(**parameters: Any) -> DGB:
    made: DGB = clone(TINY).set_params(**parameters)
    return made


@parametrize_with_checks([TINY, clone(TINY).set_params(recipe="default")])  # type: ignore[untyped-decorator]
@pytest.mark.filterwarnings("ignore:X came without edges")
def test_scikit_learns_own_checks_pass_without_exception(estimator: Any, check: Any) -> None:
    check(estimator)


def test_pyg_data_arrays_and_graph_give_the_same_vectors(blocks: Graph) -> None:
    z = DGB("paper", overrides=SMALL).fit_transform(to_pyg(blocks))
    assert z.shape == (90, 16) and z.dtype == np.float32
    np.testing.assert_array_equal(DGB("paper", overrides=SMALL).fit_transform(blocks), z)
    by_arrays = DGB("paper", overrides=SMALL).fit_transform(blocks.x, adjacency=blocks.adjacency)
    np.testing.assert_array_equal(by_arrays, z)


def test_labels_of_nodes_are_predicted_from_some(blocks: Graph) -> None:
    assert blocks.labels is not None
    some = np.where(np.arange(90) % 2, -1, blocks.labels)
    found = DGB("paper", overrides=SMALL).fit(blocks).predict_nodes(blocks, some)
    assert found.probabilities is not None and found.probabilities.shape == (90, 3)
    assert (found.predicted == blocks.labels).mean() > 0.45  # chance: a third
    by_arrays = DGB("paper", overrides=SMALL).fit(blocks.x, adjacency=blocks.adjacency)
    again = by_arrays.predict_nodes(blocks.x, some, adjacency=blocks.adjacency)
    np.testing.assert_array_equal(again.predicted, found.predicted)


@pytest.mark.parametrize("sets", [[], ["train.batch_size=20"], ["diffusion.top_k=3"]])
def test_no_edges_dense_features_and_an_empty_row_train(sets: list[str]) -> None:
    x = np.random.default_rng(0).normal(size=(50, 6))
    x[3] = 0
    no_edges = sparse.csr_array((50, 50))
    z = DGB("paper", overrides=[*SMALL, *sets]).fit_transform(x, adjacency=no_edges)
    assert (
        np.isfinite(z).all() and (z[3] == 0).all() and (np.delete(z, 3, 0) != 0).any(axis=1).all()
    )


def test_features_alone_are_nodes_without_edges_and_say_so(blocks: Graph) -> None:
    no_edges = sparse.csr_array((90, 90))
    with pytest.warns(UserWarning, match="pass adjacency="):
        z = tiny().fit_transform(blocks.x)
    np.testing.assert_array_equal(z, tiny().fit_transform(blocks.x, adjacency=no_edges))


def test_two_layers_train_and_embed(blocks: Graph) -> None:
    sets = [*SMALL, "encoder.layers=2", "diffusion.top_k=5", "embed.operator=adj+diff"]
    model = DGB("paper", overrides=sets)
    np.testing.assert_array_equal(model.fit_transform(blocks), model.transform(blocks))


def test_training_beats_the_untrained_encoder_on_a_planted_graph() -> None:
    graph = make_blocks(400, seed=2)
    assert graph.labels is not None
    sets = [*SMALL, "train.learning_rate=0.005", "view1.nfd_drop_rate=0.5"]
    trained = DGB("paper", overrides=[*sets, "train.epochs=60"]).fit_transform(graph)
    untrained = DGB("paper", overrides=[*sets, "train.epochs=0"]).fit_transform(graph)
    after, before = (
        linear_probe(z, graph.labels, graph.splits[0]).test for z in (trained, untrained)
    )
    assert after > before


def test_parameters_override_the_recipe_and_none_leaves_it() -> None:
    x, edges = np.eye(6, dtype=np.float32), sparse.csr_array(np.ones((6, 6)))
    model = tiny(learning_rate=np.float64(0.5), decay=0.25, width=np.int64(4), random_state=7)
    recipe = model.fit(x, adjacency=edges).recipe_
    assert (recipe.encoder.width, recipe.train.learning_rate, recipe.train.decay) == (4, 0.5, 0.25)
    assert (recipe.train.seed, recipe.heads.hidden, recipe.train.epochs) == (7, 8, 2)
    own = DGB(overrides=["train.seed=3", "train.epochs=0"]).fit(x, adjacency=edges).recipe_
    assert own.train.seed == 3 and own.encoder == load_recipe().encoder


def test_random_state_decides_the_vectors_and_an_instance_draws(blocks: Graph) -> None:
    first, again, other = (tiny(random_state=s).fit_transform(blocks) for s in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)
    model = tiny(random_state=np.random.RandomState(0))
    seeds = [model.fit(blocks).recipe_.train.seed for _ in range(2)]
    same = tiny(random_state=np.random.RandomState(0)).fit(blocks)
    assert seeds[0] != seeds[1] and same.recipe_.train.seed == seeds[0]


def test_wrong_parameters_are_found_by_fit_not_before(blocks: Graph) -> None:
    wrong: list[dict[str, Any]] = [
        {"width": 0},
        {"epochs": 1.5},
        {"decay": 2},
        {"learning_rate": "fast"},
        {"device": "abacus"},
        {"random_state": -1},
        {"recipe": "nonesuch"},
        {"overrides": ["train.nonesuch=1"]},
        {"overrides": "train.decay=0.9"},
    ]
    for parameters in wrong:
        model = DGB(**parameters)
        with pytest.raises(ValueError, match=r"must be|unknown"):
            model.fit(blocks)


def test_clones_share_the_graph_and_copy_the_rest(blocks: Graph) -> None:
    pd = pytest.importorskip("pandas")
    state = np.random.RandomState(0)
    model = tiny(graph=blocks, random_state=state).set_output(transform="pandas")
    made = clone(model)
    assert made.graph is blocks and made.random_state is not state
    assert made.get_params()["width"] == 8
    assert isinstance(made.fit_transform(blocks.node_ids), pd.DataFrame)


def test_pickles_and_copies_embed_alike(blocks: Graph) -> None:
    model = tiny().fit(blocks)
    for made in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):  # noqa: S301
        np.testing.assert_array_equal(made.transform(blocks), model.transform(blocks))


def test_ids_give_rows_of_the_whole_graph_in_the_order_asked(blocks: Graph) -> None:
    pd = pytest.importorskip("pandas")
    whole = tiny().fit_transform(blocks)
    wanted = ["paper-7", "paper-3", "paper-7"]
    rows = whole[[7, 3, 7]]
    model = tiny(graph=blocks)
    forms: list[Any] = [wanted, np.array(wanted), np.array(wanted, object), pd.Series(wanted)]
    for ids in (*forms, pd.DataFrame({"id": wanted}), np.array(wanted)[:, None]):
        np.testing.assert_array_equal(clone(model).fit_transform(ids), rows)
    model.fit(["paper-1"])
    np.testing.assert_array_equal(model.transform(wanted), rows)
    np.testing.assert_array_equal(model.transform(blocks), whole)
    np.testing.assert_array_equal(model.embeddings_, whole)
    np.testing.assert_array_equal(model.node_ids_, blocks.node_ids)
    assert model.n_features_in_ == 1
    np.testing.assert_array_equal(tiny().fit(blocks).embeddings_, whole)


def test_ids_of_numbers_and_of_mixed_types_are_found(blocks: Graph) -> None:
    whole = tiny().fit_transform(blocks)
    model = tiny(graph=to_pyg(blocks))
    model.graph.node_ids = np.arange(90)[::-1] * 10
    np.testing.assert_array_equal(model.fit_transform([890, 0, 30]), whole[[0, 89, 86]])
    np.testing.assert_array_equal(model.transform(np.array([30.0])), whole[[86]])
    mixed = np.array([*range(89), "last"], dtype=object)
    model.graph.node_ids = mixed
    np.testing.assert_array_equal(model.fit_transform(["last", 4]), whole[[89, 4]])


def test_unknown_ids_are_named(blocks: Graph) -> None:
    model = tiny(graph=blocks).fit(blocks.node_ids)
    with pytest.raises(ValueError, match="no node 'paper-90'; ids like it: paper-"):
        model.transform(["paper-1", "paper-90"])
    with pytest.raises(DGBError, match="no node 0, 1, 2, 3, 4 and 5 more"):
        model.transform(np.arange(10))
    with pytest.raises(DGBError, match="no node 'nobody'"):
        tiny(graph=blocks).fit(["nobody"])


def test_a_pipeline_is_cross_validated_and_searched_over_node_ids(blocks: Graph) -> None:
    model = tiny(graph=blocks, width=32)
    pipeline = Pipeline([("dgb", model), ("probe", LogisticRegression(C=100))])
    scores = cross_val_score(pipeline, blocks.node_ids, blocks.labels, cv=3, error_score="raise")
    assert scores.mean() > 0.5  # three classes
    grid = {"dgb__width": [4, 16], "dgb__decay": np.array([0.5, 0.9]), "probe__C": [1, 100]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise")
    search.fit(blocks.node_ids, blocks.labels)
    best = search.best_estimator_["dgb"]
    assert best.embeddings_.shape == (90, search.best_params_["dgb__width"])
    assert search.predict(blocks.node_ids[:4]).shape == (4,)


def test_labels_reach_no_vector(blocks: Graph) -> None:
    assert blocks.labels is not None
    ids = blocks.node_ids
    first = tiny(graph=blocks).fit_transform(ids[:50], blocks.labels[:50])
    data = to_pyg(blocks)
    data.y = data.y.flip(0)
    other = tiny(graph=data)
    other.graph.node_ids = ids
    np.testing.assert_array_equal(
        other.fit(ids[:50], blocks.labels[40:]).transform(ids[:50]), first
    )


def routed_probe(**requests: bool) -> Any:
    model = tiny().set_fit_request(**requests).set_transform_request(**requests)
    return make_pipeline(model, LogisticRegression())


def test_adjacency_is_routed_through_a_pipeline(blocks: Graph) -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = routed_probe(adjacency=True)
        pipeline.fit(blocks.x, blocks.labels, adjacency=blocks.adjacency)
        z = pipeline[:-1].transform(blocks.x, adjacency=blocks.adjacency)
        np.testing.assert_array_equal(z, tiny().fit_transform(blocks))
        assert pipeline.predict(blocks.x, adjacency=blocks.adjacency).shape == (90,)


def test_a_cut_adjacency_is_refused_with_what_to_do(blocks: Graph) -> None:
    with pytest.raises(ValueError, match=r"60 × 90; cross-validation .* DGB\(graph=...\)"):
        tiny().fit(blocks.x[:60], adjacency=blocks.adjacency[:60])
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(DGBError, match=r"DGB\(graph=...\)"),
    ):
        cross_validate(
            routed_probe(adjacency=True),
            blocks.x,
            blocks.labels,
            params={"adjacency": blocks.adjacency},
            error_score="raise",
        )


def test_vectors_come_as_frames_with_names_and_index(blocks: Graph) -> None:
    pd = pytest.importorskip("pandas")
    ids = pd.DataFrame({"id": blocks.node_ids[:3]}, index=["a", "b", "c"])
    model = tiny(graph=blocks).set_output(transform="pandas")
    frame = model.fit_transform(ids)
    assert list(frame.index) == ["a", "b", "c"]
    assert list(frame.columns) == [f"dgb{i}" for i in range(8)]
    assert list(model.get_feature_names_out()) == list(frame.columns)
    assert list(model.feature_names_in_) == ["id"]
    wide = tiny(overrides=["embed.features=true"]).fit(blocks)
    assert len(wide.get_feature_names_out()) == wide.transform(blocks).shape[1] == 68
    pytest.importorskip("polars")
    assert tiny().set_output(transform="polars").fit_transform(to_pyg(blocks)).shape == (90, 8)


def test_columns_are_found_by_their_names_on_another_graph(blocks: Graph) -> None:
    pd = pytest.importorskip("pandas")
    names = [f"word{i}" for i in range(60)]
    frame = pd.DataFrame(blocks.x.toarray(), columns=names)
    model = tiny()
    z = model.fit_transform(frame, adjacency=blocks.adjacency)
    assert list(model.feature_names_in_) == names and model.n_features_in_ == 60
    shuffled = frame[names[::-1]].assign(more=1.0)
    with pytest.warns(UserWarning, match="more"):
        again = model.transform(shuffled, adjacency=blocks.adjacency)
    np.testing.assert_allclose(again, z, atol=1e-6)
    with pytest.raises(DGBError, match="word5"):
        model.transform(frame.drop(columns="word5"), adjacency=blocks.adjacency)


def test_frames_of_nodes_and_edges_and_networkx_are_graphs(blocks: Graph, tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    row, col = sparse.triu(blocks.adjacency).coords
    edges = pd.DataFrame({"source": blocks.node_ids[row], "target": blocks.node_ids[col]})
    nodes = pd.DataFrame(blocks.x.toarray()).add_prefix("word").assign(kind=["a", "b", "c"] * 30)
    nodes.insert(0, "id", blocks.node_ids)
    with pytest.warns(UserWarning, match="kind"):
        model = tiny().fit(nodes, edges=edges)
    assert model.encoding_ is not None and "kind" in model.feature_names_in_
    z = model.transform(nodes, edges=edges)
    model.save(tmp_path)
    np.testing.assert_array_equal(DGB.load(tmp_path).transform(nodes, edges=edges), z)
    nx = pytest.importorskip("networkx")
    network = nx.Graph(list(zip(edges["source"], edges["target"], strict=True)))
    nx.set_node_attributes(network, dict(zip(nodes["id"], nodes["word0"], strict=True)), "word0")
    dropped = tiny(overrides=["data.drop=kind"]).fit(nodes, edges=edges)
    assert "kind" not in dropped.feature_names_in_
    by_network = tiny(graph=network).fit_transform([edges["source"][0]])
    assert by_network.shape == (1, 8)


def test_use_before_fit_is_scikit_learns_error(blocks: Graph, tmp_path: Path) -> None:
    with pytest.raises(NotFittedError, match="not fitted"):
        DGB().transform(blocks)
    with pytest.raises(NotFittedError, match="not fitted"):
        DGB().save(tmp_path)
    with pytest.raises(NotFittedError):
        DGB().get_feature_names_out()


def test_mistakes_say_what_to_do(blocks: Graph) -> None:
    ids = blocks.node_ids
    with pytest.raises(DGBError, match="leave out adjacency="):
        tiny(graph=blocks).fit(ids, adjacency=blocks.adjacency)
    with pytest.raises(DGBError, match="X is a column of node ids"):
        tiny(graph=blocks).fit(blocks)
    with pytest.raises(DGBError, match="one column of node ids, not 2 columns"):
        tiny(graph=blocks).fit(np.stack([ids, ids], axis=1))
    model = tiny().fit(blocks)
    with pytest.raises(DGBError, match="60"):
        model.transform(blocks.x[:, :50], adjacency=blocks.adjacency)
    with pytest.raises(DGBError, match="adjacency="):
        tiny().fit("cora")


def test_refitting_forgets_the_graph_of_before(blocks: Graph) -> None:
    model = tiny(graph=blocks).fit(blocks.node_ids)
    smaller: Any = make_blocks(40, seed=3)
    model.set_params(graph=None).fit(smaller)
    assert model.embeddings_ is not None and len(model.embeddings_) == len(model.node_ids_) == 40
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lone: Array = model.transform(smaller.x[:1])
    assert lone.shape == (1, 8)


@pytest.mark.filterwarnings("ignore:X came without edges")
def test_scikit_learn_before_1_6_validates_by_its_method(monkeypatch: pytest.MonkeyPatch) -> None:
    newer = getattr(validation, "validate_data", None)
    if newer is None:
        pytest.skip("this scikit-learn is such a one")
    monkeypatch.delattr(validation, "validate_data")
    monkeypatch.setattr(DGB, "_validate_data", newer, raising=False)
    model = tiny().fit(np.eye(5))
    assert model.n_features_in_ == 5
    with pytest.raises(ValueError, match="X has 4 features"):
        model.transform(np.eye(4))


def test_features_too_small_to_learn_from_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    x = np.random.default_rng(0).random((30, 4))
    edges = sparse.random(30, 30, density=0.2, random_state=0)
    DGB(epochs=1, width=4).fit(1e-9 * x, adjacency=edges)
    assert "warning: Features are tiny" in capsys.readouterr().err
    DGB(epochs=1, width=4).fit(x, adjacency=edges)
    assert "warning" not in capsys.readouterr().err
