"""`DGB.update`: a fitted estimator goes on with a new version of its graph, in the same axes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dgb import DGB, DGBError, load_graph
from dgb.cli import main
from dgb.data.formats.npz import write_npz
from dgb.data.graph import Graph
from dgb.evaluate.drift import cosines
from dgb.run.vectors import read_embeddings
from tests.conftest import take_nodes
from tests.hetero import make_library
from tests.test_estimator import tiny

HOPS = (
    "encoder.hops=[1,2]",
    "encoder.width=8",
    "heads.hidden=8",
    "heads.width=8",
    "embed.learnt_columns=10",
    "embed.diffused_columns=12",
    "embed.structure_columns=8",
    "embed.centre=false",  # what all nodes share keeps cosines of so few of them steady
    "train.epochs=30",
)


@pytest.fixture
def versions(blocks: Graph) -> tuple[Graph, Graph]:
    """Return a graph and its later version: five nodes gone, ten new, in another order."""
    return take_nodes(blocks, np.arange(80)), take_nodes(blocks, np.arange(5, 90)[::-1])


def test_vectors_of_all_nodes_come_back_in_the_same_axes(versions: tuple[Graph, Graph]) -> None:
    before, later = versions
    model = DGB(overrides=HOPS, random_state=0)
    old, recipe = model.fit_transform(before), model.recipe_
    z = model.update(later)
    assert z.dtype == np.float32 and z.shape == (85, 30)
    assert model.node_ids_.tolist() == later.node_ids.tolist()
    assert np.median(cosines(z[10:][::-1], old[5:])) > 0.97
    assert not np.array_equal(z[10:][::-1], old[5:])
    np.testing.assert_allclose(model.transform(later), z, atol=1e-6)
    np.testing.assert_array_equal(model.to_frame().to_numpy(), z)
    frame = pd.DataFrame(model.drift_).set_index("node_id")
    assert frame.state.value_counts().to_dict() == {"kept": 75, "new": 10, "gone": 5}
    assert model.recipe_ == recipe  # so that the next update is as long
    again = model.update(later, epochs=0)
    assert np.median(cosines(again, z)) > 0.99
    assert not hasattr(model.fit(before), "drift_")


def test_it_is_what_the_command_does(versions: tuple[Graph, Graph], tmp_path: Path) -> None:
    for name, graph in zip(("before", "later"), versions, strict=True):
        write_npz(tmp_path / f"{name}.npz", graph)
    run, updated = str(tmp_path / "run"), str(tmp_path / "updated")
    sets = [word for pair in HOPS for word in ("--set", pair)]
    path = str(tmp_path / "before.npz")
    assert main(["train", path, "--out", run, "--no-report", *sets]) == 0
    words = ["update", run, str(tmp_path / "later.npz"), "--out", updated, "--no-report"]
    assert main(words) == 0
    z = DGB.load(run).update(load_graph(str(tmp_path / "later.npz")))
    np.testing.assert_array_equal(z, read_embeddings(Path(updated) / "embeddings.parquet")[1])
    # A run that was short because it was an update is no short training from the beginning.
    assert DGB.load(updated).recipe_.train == DGB.load(run).recipe_.train


def test_ids_stand_for_the_nodes_of_the_new_version(versions: tuple[Graph, Graph]) -> None:
    before, later = versions
    model = tiny(graph=before).fit(before.node_ids)
    z = model.update(later)
    np.testing.assert_array_equal(model.transform(["paper-89", "paper-7"]), z[[0, 82]])
    with pytest.raises(DGBError, match="no node 'paper-2'"):
        model.transform(["paper-2"])
    with pytest.raises(DGBError, match="takes the new version of the graph, not ids"):
        model.update(later.node_ids)


def test_frames_and_several_types_are_updated() -> None:
    nodes = pd.DataFrame({"id": list("abcdefgh"), "age": range(8), "city": list("xyxyxyxy")})
    edges = pd.DataFrame({"source": list("abcdefg"), "target": list("bcdefgh")})
    model = tiny(recipe="default", verbose=False).fit(nodes, edges=edges)
    z = model.update(nodes[::-1][:6], edges=edges[2:])
    assert len(z) == 6 and model.node_ids_.tolist() == list("hgfedc")
    typed = DGB(overrides=("hetero.max_length=2",), width=8, epochs=2, verbose=False)
    typed.fit(make_library(60))
    assert len(typed.update(make_library(66))) == 66


def test_what_is_no_new_version_is_refused(versions: tuple[Graph, Graph], tmp_path: Path) -> None:
    before, later = versions
    model = tiny().fit(before)
    others = replace(later, node_ids=np.array([f"other-{i}" for i in range(85)]))
    with pytest.raises(DGBError, match="no new version of that graph; embed it with transform"):
        model.update(others)
    with pytest.raises(DGBError, match="50 feature columns"):
        model.update(replace(later, x=later.x[:, :50]))
    model.save(tmp_path)
    with pytest.raises(DGBError, match="no embeddings were loaded"):
        DGB.load(tmp_path).update(later)
    assert len(DGB.load(tmp_path, graph=before).update(later)) == 85
