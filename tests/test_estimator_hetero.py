"""The Python interface on graphs of several node types."""

import pickle
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from torch_geometric.data import HeteroData

import dgb
from dgb import DGB, DGBError, HeteroGraph, load_recipe, to_hetero_data
from dgb.cli import main
from dgb.data.encoding import Column, Encoding
from dgb.data.graph import Graph
from dgb.run.folder import read_schema
from dgb.run.vectors import read_embeddings
from tests.hetero import make_library, shuffle_nodes, write_library

SMALL = ("heads.hidden=8", "heads.width=8", "hetero.max_length=2")


@pytest.fixture
def library() -> HeteroGraph:
    return make_library()


def tiny(*overrides: str, **parameters: Any) -> DGB:
    return DGB(overrides=(*SMALL, *overrides), **{"width": 8, "epochs": 2} | parameters)


def named(graph: HeteroGraph) -> HeteroGraph:
    """Return the graph with names for the columns of papers and authors."""
    nodes = {
        kind: found
        if found.x is None
        else replace(
            found, encoding=Encoding(tuple(Column(f"{kind}{i}") for i in range(found.x.shape[1])))
        )
        for kind, found in graph.nodes.items()
    }
    return replace(graph, nodes=nodes)


def turned(graph: HeteroGraph) -> HeteroGraph:
    """Return a named graph with types, relations and columns the other way round."""
    nodes = {
        kind: found
        if found.x is None or found.encoding is None
        else replace(
            found, x=found.x[:, ::-1], encoding=Encoding(tuple(found.encoding.columns[::-1]))
        )
        for kind, found in reversed(list(graph.nodes.items()))
    }
    return replace(graph, nodes=nodes, relations=graph.relations[::-1])


def test_hetero_data_takes_the_recipe_for_it_and_gives_rows_of_the_target(
    library: HeteroGraph,
) -> None:
    model = tiny()
    z = model.fit_transform(to_hetero_data(library))
    assert z.shape == (90, 8) and z.dtype == np.float32
    assert model.node_ids_.tolist() == library.nodes["paper"].node_ids.tolist()
    assert model.recipe_.train.decay == load_recipe("hetero").train.decay
    paths = "paper-paper,paper-author-paper,paper-venue-paper,paper-paper-paper"
    assert model.recipe_.hetero.metapaths == paths
    np.testing.assert_array_equal(z, tiny(recipe="hetero").fit_transform(library))
    chosen = tiny(recipe="relations").fit(library)
    assert chosen.recipe_.hetero.encoder == "relations"
    assert len(model.get_feature_names_out()) == 8 and model.n_features_in_ == 12


def test_another_target_and_all_types(library: HeteroGraph) -> None:
    authors = tiny("data.target=author").fit(to_hetero_data(library))
    assert authors.node_ids_.tolist() == [f"a{i}" for i in range(90)]
    every = tiny("data.target=all", recipe="relations")
    z = every.fit_transform(to_hetero_data(library))
    assert z.shape == (186, 8)
    assert {name.split(":")[0] for name in every.node_ids_} == {"paper", "author", "venue"}
    with pytest.raises(DGBError, match="unknown node type 'journal'"):
        tiny("data.target=journal").fit(library)
    with pytest.raises(DGBError, match="meta-paths embed one type"):
        tiny("data.target=all").fit(library)


def test_features_that_are_made_are_told_once(library: HeteroGraph) -> None:
    model = tiny(recipe="relations")
    with pytest.warns(
        UserWarning, match="no features of venue: made by data.structure=walk"
    ) as told:
        model.fit_transform(library)
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.transform(library)
        tiny().fit(library)  # where the features of venues are not read


def test_labels_reach_nothing(library: HeteroGraph) -> None:
    z = tiny().fit_transform(library)
    assert library.labels is not None
    other = replace(library, labels=library.labels[::-1].copy(), splits=())
    np.testing.assert_array_equal(tiny().fit_transform(other), z)


@pytest.mark.parametrize("overrides", [[], ["data.target=venue"]])
@pytest.mark.parametrize("recipe", ["hetero", "relations"])
def test_saved_and_loaded_models_embed_alike(
    recipe: str, overrides: list[str], library: HeteroGraph, tmp_path: Path
) -> None:
    model = tiny(*overrides, recipe=recipe)
    z = model.fit_transform(library)
    model.save(tmp_path / "model")
    loaded = DGB.load(tmp_path / "model")
    assert loaded.schema_ == model.schema_ and loaded.n_features_in_ == model.n_features_in_
    for made in (model, loaded, pickle.loads(pickle.dumps(model))):  # noqa: S301
        np.testing.assert_array_equal(made.transform(library), z)
        np.testing.assert_array_equal(made.transform(to_hetero_data(library)), z)


@pytest.mark.parametrize("recipe", ["hetero", "relations"])
def test_types_relations_and_columns_are_found_by_name(
    recipe: str, library: HeteroGraph, tmp_path: Path
) -> None:
    model = tiny(recipe=recipe)
    z = model.fit_transform(named(library))
    model.save(tmp_path)
    other = turned(shuffle_nodes(named(library), "venue", np.arange(6)[::-1]))
    for made in (model, DGB.load(tmp_path)):
        np.testing.assert_allclose(made.transform(other), z, atol=1e-5)
    assert list(model.feature_names_in_)[:2] == ["paper0", "paper1"]


@pytest.mark.parametrize("recipe", ["hetero", "relations"])
def test_a_relation_that_is_given_from_its_other_end_is_the_same(
    recipe: str, library: HeteroGraph
) -> None:
    model = tiny(recipe=recipe)
    z = model.fit_transform(library)
    data = to_hetero_data(library)
    written = data["paper", "written", "author"]
    data["author", "rev_written", "paper"].edge_index = written.edge_index.flip(0)
    del data["paper", "written", "author"]
    with pytest.warns(UserWarning, match="rev_written-paper is taken for paper-written-author"):
        again = model.transform(data)
    np.testing.assert_allclose(again, z, atol=1e-5)


def test_another_graph_needs_no_labels_and_may_be_of_another_size(library: HeteroGraph) -> None:
    data = to_hetero_data(make_library(60, seed=4))
    del data["paper"].y
    model = tiny().fit(library)
    assert model.transform(data).shape == (60, 8)


def test_what_does_not_fit_is_told(library: HeteroGraph, blocks: Graph) -> None:
    model = tiny(recipe="relations").fit(library)
    data = to_hetero_data(library)
    data["author"].x = data["author"].x.to_dense()[:, :5]
    with pytest.raises(DGBError, match=r"type author has 5 feature columns.*trained on 8"):
        model.transform(data)
    del data["author"].x
    with pytest.raises(DGBError, match="type author have no features"):
        model.transform(data)
    fewer = HeteroData()
    fewer["paper"].x = to_hetero_data(library)["paper"].x
    with pytest.raises(DGBError, match="no nodes of type author, venue"):
        model.transform(fewer)
    with pytest.raises(DGBError, match=r"trained on nodes of the types paper, author, venue"):
        model.transform(blocks)
    with pytest.raises(DGBError, match="trained on a graph of one"):
        tiny().fit(blocks).transform(library)
    with pytest.raises(DGBError, match="has its edges already"):
        tiny().fit_transform(library, adjacency=blocks.adjacency)


def test_learnt_vectors_stay_with_their_graph(library: HeteroGraph, tmp_path: Path) -> None:
    model = tiny("data.structure=learnt", recipe="relations")
    z = model.fit_transform(library)
    model.save(tmp_path)
    loaded = DGB.load(tmp_path)
    np.testing.assert_array_equal(loaded.transform(library), z)
    with pytest.raises(DGBError, match="learnt vectors of the nodes of its own graph"):
        loaded.transform(shuffle_nodes(library, "venue", np.array([1, 0, 2, 3, 4, 5])))


def test_ids_give_rows_of_the_whole_graph(library: HeteroGraph, tmp_path: Path) -> None:
    whole = tiny().fit_transform(library)
    model = tiny(graph=library)
    np.testing.assert_array_equal(model.fit_transform([1003, 1000]), whole[[3, 0]])
    np.testing.assert_array_equal(model.transform([1007]), whole[[7]])
    model.save(tmp_path)
    by_id = DGB.load(tmp_path, graph=library)
    np.testing.assert_array_equal(by_id.transform([1004]), whole[[4]])
    with pytest.raises(DGBError, match="nobody"):
        clone(model).fit(["nobody"])
    search = make_pipeline(clone(model), LogisticRegression())
    assert cross_val_score(search, library.nodes["paper"].node_ids, library.labels, cv=2).all()


def test_a_model_of_one_kind_is_saved_over_one_of_the_other(
    library: HeteroGraph, blocks: Graph, tmp_path: Path
) -> None:
    columns = tuple(Column(f"word{i}") for i in range(60))
    model = tiny()
    model.fit(named(library)).save(tmp_path)
    z = model.fit_transform(replace(blocks, encoding=Encoding(columns)))
    model.save(tmp_path)
    assert read_schema(tmp_path) is None
    np.testing.assert_array_equal(DGB.load(tmp_path).transform(blocks), z)
    model.fit(library).save(tmp_path)
    assert {f.name for f in tmp_path.iterdir()} == {
        "recipe.toml",
        "model.safetensors",
        "schema.toml",
    }


def test_python_and_the_command_read_each_others_models(
    library: HeteroGraph, tmp_path: Path
) -> None:
    graph, run, saved = write_library(tmp_path / "g", library), tmp_path / "run", tmp_path / "model"
    sets = [word for o in (*SMALL, "train.epochs=2", "encoder.width=8") for word in ("--set", o)]
    assert main(["train", graph, "--out", str(run), *sets, "--set", "probe.kind=linear"]) == 0
    model = DGB.load(run)
    _, z = read_embeddings(run / "embeddings.parquet")
    np.testing.assert_allclose(model.transform(dgb.load_hetero(graph)), z, atol=1e-6)
    model.save(saved)
    out = tmp_path / "z.parquet"
    assert main(["embed", str(saved), graph, "--out", str(out)]) == 0
    np.testing.assert_allclose(read_embeddings(out)[1], z, atol=1e-6)
