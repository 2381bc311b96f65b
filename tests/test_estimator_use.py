"""The Python interface as a notebook uses it: frames and ids, neighbors, notes and short texts."""

import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import dgb
from dgb import DGB, DGBError, load_graph
from dgb.cli import main
from dgb.data.graph import Graph
from dgb.run.vectors import read_embeddings
from tests.hetero import make_library
from tests.test_estimator import tiny

ROOT = Path(__file__).parent.parent


@pytest.fixture
def pairs(blocks: Graph) -> Any:
    """Positions [2, m] at the ends of the edges."""
    return np.stack(sparse.triu(blocks.adjacency).coords).astype(np.int64)


def frames(blocks: Graph, pairs: Any) -> tuple[Any, Any]:
    """Return nodes with their ids as the index, and edges."""
    pd = pytest.importorskip("pandas")
    nodes = pd.DataFrame(blocks.x.toarray(), index=blocks.node_ids).add_prefix("word")
    source, target = blocks.node_ids[pairs]
    return nodes, pd.DataFrame({"source": source, "target": target})


def test_the_version_is_the_packages_and_needs_no_torch() -> None:
    code = "import sys, dgb; print(dgb.__version__); assert not {'torch', 'numpy'} & {*sys.modules}"
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert told.stdout.strip() == dgb.__version__ and dgb.__version__[0].isdigit()


def test_an_index_names_the_nodes_in_and_out(blocks: Graph, pairs: Any) -> None:
    nodes, edges = frames(blocks, pairs)
    model = tiny(verbose=False).set_output(transform="pandas")
    z = model.fit_transform(nodes, edges=edges)
    assert list(z.index) == list(nodes.index) == model.node_ids_.tolist()
    assert list(model.feature_names_in_) == list(nodes.columns)
    by_column = nodes.rename_axis("id").reset_index()
    again = tiny(verbose=False).fit_transform(by_column, edges=edges)
    np.testing.assert_array_equal(z.to_numpy(), again)
    by_matrix = tiny().fit(nodes, adjacency=blocks.adjacency)
    alone = tiny(verbose=False).fit(nodes)
    assert by_matrix.node_ids_.tolist() == alone.node_ids_.tolist() == list(nodes.index)


def test_an_id_column_goes_before_the_index_and_a_guess_is_told(blocks: Graph, pairs: Any) -> None:
    nodes, edges = frames(blocks, pairs)
    with pytest.warns(UserWarning, match="the index is taken for the ids"):
        tiny().fit(nodes, edges=edges)
    papers = nodes.rename_axis("paper")
    named = nodes.assign(id=nodes.index).set_axis(range(7, 97))
    twice = named.set_axis([0, 1] * 45)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "(?s).*index")
        by_name = tiny(overrides=["data.id=paper", "heads.hidden=8"])
        for model, frame in ((tiny(), papers), (by_name, papers), (tiny(), named), (tiny(), twice)):
            assert model.fit(frame, edges=edges).node_ids_.tolist() == list(nodes.index)


def test_edges_are_arrays_of_either_shape(blocks: Graph, pairs: Any) -> None:
    z = tiny().fit_transform(blocks)
    for edges in (pairs, pairs.T, pairs.T.tolist()):
        np.testing.assert_array_equal(tiny().fit_transform(blocks.x, edges=edges), z)
    model = tiny().fit(blocks.x, edges=pairs)
    np.testing.assert_array_equal(model.transform(blocks.x, edges=pairs.T), z)
    nodes, table = frames(blocks, pairs)
    by_ids = tiny(verbose=False).fit_transform(nodes, edges=blocks.node_ids[pairs])
    np.testing.assert_array_equal(by_ids, tiny(verbose=False).fit_transform(nodes, edges=table))


def test_edges_that_can_be_misread_are_refused(blocks: Graph, pairs: Any) -> None:
    for wrong, reason in ((pairs[0], "2 × m or m × 2"), (pairs[:, :2], "along rows or columns")):
        with pytest.raises(DGBError, match=f"{reason}.*DataFrame with the columns source, target"):
            tiny().fit(blocks.x, edges=wrong)
    with pytest.raises(DGBError, match=r"node '?90"):
        tiny().fit(blocks.x, edges=np.array([[0, 1, 2], [1, 2, 90]]))
    nodes, table = frames(blocks, pairs)
    for edges in (table, pairs, pairs.T, pairs.T.tolist(), blocks.adjacency):
        with pytest.raises(DGBError, match=r"second argument is y.*edges=…, .*adjacency=…"):
            tiny().fit_transform(nodes, edges)
    assert tiny(graph=blocks).fit_transform(blocks.node_ids, np.zeros((90, 2))).shape == (90, 8)


def test_lazy_frames_are_collected(blocks: Graph, pairs: Any) -> None:
    pl = pytest.importorskip("polars")
    table, ends = frames(blocks, pairs)
    nodes = pl.DataFrame(table.assign(id=blocks.node_ids).to_dict("list"))
    edges, numbers = pl.DataFrame(ends.to_dict("list")), nodes.drop("id")
    z, model = tiny().fit_transform(nodes, edges=edges), tiny()
    np.testing.assert_array_equal(model.fit_transform(nodes.lazy(), edges=edges.lazy()), z)
    np.testing.assert_array_equal(model.transform(nodes.lazy(), edges=edges.lazy()), z)
    lazy = tiny().fit_transform(numbers.lazy(), adjacency=blocks.adjacency)
    np.testing.assert_array_equal(lazy, tiny().fit_transform(numbers, adjacency=blocks.adjacency))


def test_frames_and_neighbors_go_by_ids(blocks: Graph) -> None:
    pytest.importorskip("pandas")
    model = tiny().fit(blocks)
    frame = model.to_frame()
    assert frame.index.name == "node_id" and list(frame.index) == blocks.node_ids.tolist()
    assert list(frame.columns) == list(model.get_feature_names_out())
    unit = frame.to_numpy() / np.linalg.norm(frame.to_numpy(), axis=1, keepdims=True)
    near, cosines = model.neighbors("paper-3", k=4), unit @ unit[3]
    wanted = np.sort(np.delete(cosines, 3))[::-1][:4]
    assert [similarity for _, similarity in near] == pytest.approx(wanted, abs=1e-4)
    assert [cosines[int(node.split("-")[1])] for node, _ in near] == pytest.approx(wanted, abs=1e-4)
    assert len(model.neighbors("paper-3")) == 10
    with pytest.raises(DGBError, match="no node 'paper-90'; ids like it"):
        model.neighbors("paper-90")


def test_a_run_is_loaded_with_its_vectors(tmp_path: Path) -> None:
    run, company = tmp_path / "run", str(ROOT / "examples" / "company")
    sets = ("train.epochs=1", "encoder.width=8", "heads.hidden=8", "heads.width=8")
    words = [word for setting in sets for word in ("--set", setting)]
    assert (
        main(["train", company, "--label", "team", "--out", str(run), "--no-report", *words]) == 0
    )
    ids, z = read_embeddings(run / "embeddings.parquet")
    model = DGB.load(run)
    assert model.embeddings_ is not None and len(model.neighbors(ids[0], k=3)) == 3
    np.testing.assert_array_equal(model.embeddings_, z)
    assert model.node_ids_.tolist() == ids.tolist()
    np.testing.assert_allclose(model.transform(load_graph(company, label="team")), z, atol=1e-6)
    assert len(repr(model)) < 300 and "encoder.width=8" in repr(model)
    model.save(tmp_path / "saved")
    bare = DGB.load(tmp_path / "saved")
    assert bare.embeddings_ is None and bare.node_ids_ is None
    with pytest.raises(DGBError, match="graph=…"):
        bare.to_frame()


def test_texts_are_short_also_as_html(blocks: Graph) -> None:
    model = tiny(graph=blocks, recipe=dgb.load_recipe("paper-cora")).fit(blocks.node_ids)
    assert len(repr(model)) < 500 and "90 nodes" in repr(model) and "array(" not in repr(model)
    html = model._repr_mimebundle_()["text/html"]
    assert "90 nodes" in html and "ViewRecipe" not in html
    library = make_library()
    assert repr(library).startswith("HeteroGraph(") and "90 paper" in repr(library)
    assert repr(dgb.load_recipe()) == "Recipe()"


def messy(blocks: Graph, pairs: Any) -> tuple[Any, Any]:
    nodes, edges = frames(blocks, pairs)
    kinds = nodes.assign(kind=["a", "b", "c"] * 30, gap=[np.nan, *range(89)])
    return kinds, edges.assign(when="today")


def test_all_notes_of_a_fit_are_one_warning_at_the_users_line(blocks: Graph, pairs: Any) -> None:
    nodes, edges = messy(blocks, pairs)
    for act in (tiny().fit, tiny().fit_transform, tiny().set_output(transform="pandas").fit):
        with pytest.warns(UserWarning, match="notes on what was read") as told:
            act(nodes, edges=edges)
        assert len(told) == 1 and told[0].filename == __file__
        text = str(told[0].message)
        assert all(word in text for word in ("kind", "gap", "when", "index"))


def test_not_verbose_is_silent(
    blocks: Graph, pairs: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    nodes, edges = messy(blocks, pairs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tiny(verbose=False).fit(nodes, edges=edges).transform(nodes, edges=edges)
    assert capfd.readouterr() == ("", "")
    tiny().fit(blocks)
    assert "train" in capfd.readouterr().err  # quiet was only that fit


def test_the_documented_pipeline_scores_far_above_the_largest_class(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    block = next(b for b in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "GridS" in b)
    names: dict[str, Any] = {"DGB": DGB, "load_graph": load_graph}
    exec(block, names)
    counts = np.bincount(names["graph"].labels)
    assert names["search"].best_score_ > counts.max() / counts.sum() + 0.5
