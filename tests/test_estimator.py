"""The Python interface: PyG Data, plain arrays, save and load, and the script of loose parts."""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from dgb import DGB, DGBError
from dgb.data.graph import Graph
from dgb.data.pyg import to_pyg
from dgb.evaluate.probe import linear_probe
from tests.conftest import make_blocks

SMALL = ("encoder.width=16", "heads.hidden=16", "heads.width=16", "train.epochs=30")


def test_pyg_data_arrays_and_graph_give_the_same_vectors(blocks: Graph) -> None:
    z = DGB(overrides=SMALL).fit_transform(to_pyg(blocks))
    assert z.shape == (90, 16) and z.dtype == np.float32
    np.testing.assert_array_equal(DGB(overrides=SMALL).fit_transform(blocks), z)
    by_arrays = DGB(overrides=SMALL).fit_transform(blocks.x, adjacency=blocks.adjacency)
    np.testing.assert_array_equal(by_arrays, z)


def test_transform_and_a_saved_model_agree(blocks: Graph, tmp_path: Path) -> None:
    model = DGB(overrides=SMALL)
    z = model.fit_transform(blocks)
    np.testing.assert_array_equal(model.transform(blocks), z)
    model.save(tmp_path / "model")
    loaded = DGB.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.transform(blocks), z)
    assert loaded.transform(make_blocks(40, seed=3)).shape == (40, 16)


@pytest.mark.parametrize("sets", [[], ["train.batch_size=20"], ["diffusion.top_k=3"]])
def test_no_edges_dense_features_and_an_empty_row_train(sets: list[str]) -> None:
    x = np.random.default_rng(0).normal(size=(50, 6))
    x[3] = 0
    no_edges = sparse.csr_array((50, 50))
    z = DGB(overrides=[*SMALL, *sets]).fit_transform(x, adjacency=no_edges)
    assert (
        np.isfinite(z).all() and (z[3] == 0).all() and (np.delete(z, 3, 0) != 0).any(axis=1).all()
    )


def test_two_layers_train_and_embed(blocks: Graph) -> None:
    sets = [*SMALL, "encoder.layers=2", "diffusion.top_k=5", "embed.operator=adj+diff"]
    model = DGB(overrides=sets)
    np.testing.assert_array_equal(model.fit_transform(blocks), model.transform(blocks))


def test_mistakes_say_what_to_do(blocks: Graph) -> None:
    with pytest.raises(DGBError, match="not fitted"):
        DGB().transform(blocks)
    with pytest.raises(DGBError, match="adjacency="):
        DGB().fit(blocks.x)
    model = DGB(overrides=SMALL).fit(blocks)
    with pytest.raises(DGBError, match="60"):
        model.transform(blocks.x[:, :50], adjacency=blocks.adjacency)


def test_training_beats_the_untrained_encoder_on_a_planted_graph() -> None:
    graph = make_blocks(400, seed=2)
    assert graph.labels is not None
    sets = [*SMALL, "train.learning_rate=0.005", "view1.nfd_drop_rate=0.5"]
    trained = DGB(overrides=[*sets, "train.epochs=60"]).fit_transform(graph)
    untrained = DGB(overrides=[*sets, "train.epochs=0"]).fit_transform(graph)
    after, before = (
        linear_probe(z, graph.labels, graph.splits[0]).test for z in (trained, untrained)
    )
    assert after > before
