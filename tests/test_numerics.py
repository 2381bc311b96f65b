"""Graphs at the edge of what has numbers, each with the outcome that is promised."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from dgb.cli import main
from dgb.cookbook import load_recipe
from dgb.data.formats.npz import write_npz
from dgb.data.graph import Graph, make_graph
from dgb.model.loss import regression_loss
from dgb.run.folder import EMBEDDINGS
from dgb.run.train import train
from dgb.run.vectors import read_embeddings
from tests.conftest import QUICK_PROBE, make_blocks

SMALL = "encoder.width=8 heads.hidden=8 heads.width=8 train.epochs=4"
WAYS = {
    "paper": "",
    "without BatchNorm": "heads.batch_norm=false",
    "row batches": "train.batch_size=20",
    "plus": "embed.operator=adj+diff embed.smooth=0.1 embed.features=true",
}
DEFAULTS = {"default": "", "default in row batches": "train.batch_size=20"}
ALIKE = "they hardly tell nodes apart"


def dense(graph: Graph) -> np.ndarray:
    return np.asarray(graph.x.toarray())


def weaken(graph: Graph) -> Any:
    """Return edges of weight one, but for those of every third node, which hardly weigh."""
    is_weak = np.arange(graph.num_nodes) % 3 == 0
    weight = np.where(is_weak[:, None] | is_weak[None], np.float32(1e-44), np.float32(1))
    return sparse.csr_array(graph.adjacency.multiply(weight), dtype=np.float32)


def cut_in_three(graph: Graph) -> Any:
    part = np.arange(graph.num_nodes) % 3
    return graph.adjacency.multiply(part[:, None] == part[None]).tocsr()


GRAPHS: dict[str, tuple[Callable[[Graph], Graph], str]] = {
    "constant features": (lambda g: replace(g, x=np.ones((90, 5), np.float32)), ALIKE),
    "features of zeros": (lambda g: replace(g, x=np.zeros((90, 5), np.float32)), ALIKE),
    "one column": (lambda g: replace(g, x=dense(g)[:, :1] + 1), ALIKE),
    "rows of zeros": (lambda g: replace(g, x=dense(g) * (np.arange(90) % 4 > 0)[:, None]), ""),
    "denormal features": (lambda g: replace(g, x=np.float32(1e-44) * dense(g)), ALIKE),
    "huge features": (lambda g: replace(g, x=np.float32(3e38) * dense(g)), ""),
    "huge weights": (lambda g: replace(g, adjacency=np.float32(3e38) * g.adjacency), ""),
    "denormal weights": (lambda g: replace(g, adjacency=np.float32(1e-44) * g.adjacency), ""),
    "some denormal weights": (lambda g: replace(g, adjacency=weaken(g)), ""),
    "one class": (lambda g: replace(g, labels=np.zeros(90, np.int64)), "no scores"),
    "no edges": (lambda g: replace(g, adjacency=sparse.csr_array((90, 90), dtype=np.float32)), ""),
    "components": (lambda g: replace(g, adjacency=cut_in_three(g)), ""),
}


def trained(graph: Graph, folder: Path, *sets: str, recipe: str = "paper") -> int:
    write_npz(folder / "g.npz", graph)
    words = [word for pair in [*SMALL.split(), *QUICK_PROBE, *sets] for word in ("--set", pair)]
    run = ("--out", str(folder / "run"), "--recipe", recipe)
    return main(["train", str(folder / "g.npz"), *run, *words])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", GRAPHS)
def test_graphs_at_the_edge_train_to_finite_vectors(
    name: str, way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change, told = GRAPHS[name]
    assert trained(change(make_blocks(90)), tmp_path, *WAYS[way].split()) == 0
    heard = capsys.readouterr().err
    assert told in heard or way == "plus"  # where features and a second operator add to the rank
    assert told == ALIKE or ALIKE not in heard
    _, z = read_embeddings(tmp_path / "run" / EMBEDDINGS)
    assert z.shape[0] == 90 and np.isfinite(z).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("way", DEFAULTS)
@pytest.mark.parametrize("name", GRAPHS)
def test_graphs_at_the_edge_are_embedded_by_the_default_or_refused(
    name: str, way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = GRAPHS[name][0](make_blocks(90))
    code = trained(graph, tmp_path, *DEFAULTS[way].split(), recipe="default")
    if name == "huge features":
        assert code == 2 and "data.normalise=row" in capsys.readouterr().err
        return
    assert code == 0
    _, z = read_embeddings(tmp_path / "run" / EMBEDDINGS)
    assert z.shape[0] == 90 and np.isfinite(z).all()
    for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines():
        assert "NaN" not in line and "Infinity" not in line


def test_one_node_is_no_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "g.npz", x=np.ones((1, 3)), edge_index=np.zeros((2, 0), int))
    (tmp_path / "g.csv").write_text("source,target\na,a\n")
    for name, told in (("g.npz", "at least 2 nodes"), ("g.csv", "needs at least two")):
        assert main(["train", str(tmp_path / name)]) == 2
        assert told in capsys.readouterr().err


@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_the_smallest_graphs_train(nodes: int, tmp_path: Path) -> None:
    edges = sparse.csr_array(np.eye(nodes, k=1))
    assert trained(make_graph("g", np.eye(nodes, 3) + 1, edges), tmp_path) == 0


def test_features_too_large_for_the_loss_are_told_before_the_first_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = make_blocks(90)
    huge = replace(graph, x=np.float32(3e38) * dense(graph))
    assert trained(huge, tmp_path, "data.normalise=none") == 2
    told = capsys.readouterr().err
    assert "epoch 1" in told and "or scale the features (--set data.normalise=row)" in told


@pytest.mark.parametrize("view", ["nfd+adj", "nd+diff"])
def test_a_hub_of_a_million_neighbors_is_a_node_like_others(view: str) -> None:
    n = 1_000_001
    edges = sparse.coo_array(
        (np.ones(n - 1, bool), (np.zeros(n - 1, int), np.arange(1, n))), (n, n)
    )
    x = np.random.default_rng(0).random((n, 3), np.float32)
    sets = [*SMALL.split(), "train.epochs=1", f"view1.augment={view}", "embed.operator=adj+diff"]
    found = train(make_graph("star", x, edges), load_recipe("paper", sets)).embeddings()
    assert found.shape == (n, 8) and np.isfinite(found).all()
    assert found[1:].std(axis=0).min() > 0  # and its neighbors are not all alike


def test_a_prediction_without_a_direction_moves_nothing() -> None:
    prediction = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    prediction[1] = 0
    projection = torch.ones(4, 3)
    whole = prediction.clone().requires_grad_()
    regression_loss(whole, projection).backward()  # type: ignore[no-untyped-call]
    assert whole.grad is not None
    assert not whole.grad[1].any()
    assert torch.isnan(regression_loss(prediction * torch.nan, projection))
    others = prediction[[0, 2, 3]].clone().requires_grad_()
    regression_loss(others, projection[:3]).backward()  # type: ignore[no-untyped-call]
    assert others.grad is not None
    torch.testing.assert_close(whole.grad[[0, 2, 3]], others.grad * 3 / 4)
