"""The transforms for torch_geometric against dense brute force, alone and in a pipeline."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import torch
from scipy import linalg
from scipy.sparse import csgraph
from torch_geometric import transforms as pyg
from torch_geometric.data import Data, HeteroData
from torch_geometric.loader import DataLoader
from torch_geometric.nn import SimpleConv

from dgb import DGBError
from dgb.arrays import Array
from dgb.data.formats.pyg import to_pyg
from dgb.transforms import PPR, DropFeatures, DropNodes, Heat
from tests.conftest import make_blocks

NUM_NODES = 12


def as_data(adjacency: Any, num_columns: int = 5) -> Any:
    coo = adjacency.tocoo()
    x = torch.from_numpy(np.random.default_rng(0).random((NUM_NODES, num_columns)))
    index = torch.from_numpy(np.stack(coo.coords).astype(np.int64))
    return Data(x=x.float(), edge_index=index, edge_weight=torch.from_numpy(coo.data))


def exact(adjacency: Any, transform: Any) -> Array:
    """Return S by a dense inverse (Eq. 6) or a matrix exponential (Eq. 5)."""
    dense = adjacency.toarray().astype(np.float64)
    degree = np.maximum(dense.sum(axis=1), 1e-30)
    degree[dense.sum(axis=1) == 0] = 1
    one = np.eye(len(dense))
    if isinstance(transform, PPR):
        t_sym = dense / np.sqrt(degree[:, None] * degree[None])
        inverse: Array = 0.2 * np.linalg.inv(one - 0.8 * t_sym)
        return inverse
    return np.asarray(linalg.expm(3.0 * (dense / degree[None] - one)))


def top(s: Array, k: int) -> Array:
    kept = np.zeros_like(s)
    for row, values in enumerate(s):
        largest = np.argsort(-values)[:k]
        kept[row, largest] = values[largest]
    return kept


def received(data: Any, x: torch.Tensor) -> Array:
    """Return what a sum over the messages of torch_geometric makes of x."""
    out: Array = SimpleConv(aggr="sum")(x, data.edge_index, data.edge_weight).numpy()
    return out


@pytest.mark.parametrize("make", [lambda **k: PPR(0.2, **k), lambda **k: Heat(3.0, **k)])
@pytest.mark.parametrize("top_k", [1, 3, 500])
def test_a_convolution_over_the_new_edges_is_the_sparsified_s(
    adjacency: Any, make: Any, top_k: int
) -> None:
    data, transform = as_data(adjacency), make(top_k=top_k)
    diffused = transform(data)
    expected = top(exact(adjacency, transform), top_k)
    np.testing.assert_allclose(received(diffused, torch.eye(NUM_NODES)), expected, atol=2e-6)
    assert diffused.num_nodes == NUM_NODES and diffused.edge_index.dtype == torch.int64


@pytest.mark.parametrize("make", [lambda **k: PPR(0.2, **k), lambda **k: Heat(3.0, **k)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
def test_features_are_diffused_exactly(adjacency: Any, make: Any, dtype: torch.dtype) -> None:
    data, transform = as_data(adjacency), make(of="x")
    data.x = (data.x * 10).to(dtype)
    diffused = transform(data)
    expected = exact(adjacency, transform) @ data.x.numpy()
    np.testing.assert_allclose(diffused.x.numpy(), expected, atol=1e-4)
    assert torch.equal(diffused.edge_index, data.edge_index)
    assert diffused.x.dtype == (dtype if dtype.is_floating_point else torch.float32)


def test_gradients_flow_through_diffused_features(adjacency: Any) -> None:
    data = as_data(adjacency)
    data.x.requires_grad_()
    PPR(0.2, of="x")(data).x[0].sum().backward()
    expected = np.repeat(exact(adjacency, PPR())[0][:, None], 5, axis=1)
    np.testing.assert_allclose(data.x.grad.numpy(), expected, atol=1e-5)


def test_threshold_alone_cuts_s(adjacency: Any) -> None:
    transform = PPR(0.2, top_k=0, threshold=0.07)
    s = exact(adjacency, transform)
    expected = np.where(s >= 0.07, s, 0)
    got = received(transform(as_data(adjacency)), torch.eye(NUM_NODES))
    np.testing.assert_allclose(got, expected, atol=2e-6)


def test_edges_in_one_direction_and_self_loops_change_nothing(adjacency: Any) -> None:
    data, one_way = as_data(adjacency), as_data(adjacency)
    is_kept = one_way.edge_index[0] < one_way.edge_index[1]
    loop = torch.tensor([[3], [3]])
    one_way.edge_index = torch.cat([one_way.edge_index[:, is_kept], loop], dim=1)
    one_way.edge_weight = torch.cat([one_way.edge_weight[is_kept], torch.ones(1)])
    first, second = PPR(top_k=4)(data), PPR(top_k=4)(one_way)
    assert torch.equal(first.edge_index, second.edge_index)
    assert torch.equal(first.edge_weight, second.edge_weight)


def test_no_edges_and_isolated_nodes_keep_a_loop_to_themselves() -> None:
    data = Data(x=torch.ones(3, 2), edge_index=torch.zeros(2, 0, dtype=torch.int64))
    diffused = PPR(0.2)(data)
    assert diffused.edge_index.tolist() == [[0, 1, 2], [0, 1, 2]]
    torch.testing.assert_close(diffused.edge_weight, torch.full((3,), 0.2))


def test_what_old_edges_carried_goes_and_what_nodes_carry_stays(adjacency: Any) -> None:
    data = as_data(adjacency)
    data.edge_attr = torch.ones(data.num_edges, 4)
    data.y, data.edge_label_index = torch.arange(NUM_NODES), data.edge_index
    diffused = Heat(top_k=2)(data)
    assert "edge_attr" not in diffused and torch.equal(diffused.y, data.y)
    assert torch.equal(diffused.edge_label_index, data.edge_index)


ALL = [PPR(top_k=3), PPR(of="x"), Heat(), DropNodes(0.5), DropFeatures(0.5)]


@pytest.mark.parametrize("transform", ALL, ids=repr)
def test_the_data_passed_in_is_left_as_it_is(adjacency: Any, transform: Any) -> None:
    for data in (as_data(adjacency), two_kinds(adjacency)):
        before = copy.deepcopy(data)
        transform(data)
        assert str(data) == str(before)
        for store, old in zip(data.stores, before.stores, strict=True):
            assert all(torch.equal(store[key], old[key]) for key in old.keys())  # noqa: SIM118


@pytest.mark.parametrize("layout", [torch.strided, torch.sparse_coo, torch.sparse_csr])
@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
def test_dropping_zeroes_its_rate_and_keeps_the_mean(layout: torch.layout) -> None:
    dense = torch.rand(3000, 20) + 0.1
    x = dense if layout == torch.strided else dense.to_sparse(layout=layout)
    data = Data(x=x)
    nodes, features = (drop(0.1)(data).x for drop in (DropNodes, DropFeatures))
    assert nodes.layout == features.layout == layout
    nodes, features = nodes.to_dense(), features.to_dense()
    is_dropped = (nodes == 0).all(dim=1)
    assert is_dropped.float().mean().item() == pytest.approx(0.1, abs=0.03)
    torch.testing.assert_close(nodes[~is_dropped], dense[~is_dropped] / 0.9)
    assert (features == 0).float().mean().item() == pytest.approx(0.1, abs=0.01)
    assert not (features == 0).all(dim=1).any()
    assert features.mean().item() == pytest.approx(dense.mean().item(), rel=0.02)


@pytest.mark.parametrize("drop", [DropNodes, DropFeatures])
def test_masks_are_fresh_in_every_call_and_repeat_with_their_seed(drop: Any) -> None:
    data = Data(x=torch.ones(200, 3, dtype=torch.float64))
    transform = drop(0.5)
    assert not torch.equal(transform(data).x, transform(data).x)
    assert transform(data).x.dtype == torch.float64
    draws = []
    for _ in range(2):
        seeded = drop(0.5, torch.Generator().manual_seed(4))
        torch.rand(7)  # the global generator has no part in it
        draws.append(seeded(data).x)
    assert torch.equal(*draws)


def two_kinds(adjacency: Any) -> Any:
    homogeneous, data = as_data(adjacency), HeteroData()
    data["paper"].x = homogeneous.x
    data["author"].x = torch.ones(4, 2)
    data["paper", "cites", "paper"].edge_index = homogeneous.edge_index
    data["paper", "cites", "paper"].edge_weight = homogeneous.edge_weight
    data["author", "writes", "paper"].edge_index = torch.tensor([[0, 1, 3], [5, 6, 11]])
    return data


def test_hetero_data_is_diffused_by_type_and_bipartite_edges_stay(adjacency: Any) -> None:
    data = two_kinds(adjacency)
    alone, diffused = PPR(top_k=3)(as_data(adjacency)), PPR(top_k=3)(data)
    cites = diffused["paper", "cites", "paper"]
    assert torch.equal(cites.edge_index, alone.edge_index)
    assert torch.equal(cites.edge_weight, alone.edge_weight)
    writes = ("author", "writes", "paper")
    assert torch.equal(diffused[writes].edge_index, data[writes].edge_index)
    assert "edge_weight" not in diffused[writes]
    features = PPR(of="x")(data)
    assert torch.equal(features["paper"].x, PPR(of="x")(as_data(adjacency)).x)
    assert torch.equal(features["author"].x, data["author"].x)  # no edges of their own


def test_edge_types_of_one_node_type_diffuse_features_together(adjacency: Any) -> None:
    data, whole = two_kinds(adjacency), as_data(adjacency)
    edges = data["paper", "cites", "paper"]
    is_first = torch.arange(edges.num_edges) % 3 == 0
    data["paper", "follows", "paper"].edge_index = edges.edge_index[:, ~is_first]
    data["paper", "follows", "paper"].edge_weight = edges.edge_weight[~is_first]
    edges.edge_index, edges.edge_weight = (
        edges.edge_index[:, is_first],
        edges.edge_weight[is_first],
    )
    torch.testing.assert_close(Heat(of="x")(data)["paper"].x, Heat(of="x")(whole).x)


def test_hetero_features_are_dropped_in_every_node_type(adjacency: Any) -> None:
    dropped = DropNodes(0.5, torch.Generator().manual_seed(1))(two_kinds(adjacency))
    for kind in ("paper", "author"):
        is_dropped = (dropped[kind].x == 0).all(dim=1)
        assert 0 < is_dropped.sum() < len(is_dropped)


def test_compose_and_the_projects_own_data_of_sparse_features() -> None:
    graph = make_blocks(60)
    data = to_pyg(graph)
    pipeline = pyg.Compose([pyg.ToUndirected(), PPR(top_k=5), DropFeatures(0.2), DropNodes(0.2)])
    made = pipeline(data)
    _, component = csgraph.connected_components(graph.adjacency)
    assert made.num_edges == np.minimum(np.bincount(component)[component], 5).sum()
    assert made.x.is_sparse and made.validate()
    assert PPR(of="x")(data).x.shape == data.x.shape


def test_a_loader_with_workers_draws_its_own_masks(adjacency: Any) -> None:
    graphs = [as_data(adjacency) for _ in range(4)]
    pipeline = pickle.loads(pickle.dumps(pyg.Compose(ALL[:1] + ALL[3:])))  # noqa: S301
    batches = list(DataLoader(Mapped(graphs, pipeline), batch_size=2, num_workers=2))
    assert [batch.num_nodes for batch in batches] == [24, 24]
    assert not torch.equal(batches[0].x, batches[1].x)


class Mapped(torch.utils.data.Dataset[Any]):
    def __init__(self, graphs: list[Any], transform: Any) -> None:
        self.graphs, self.transform = graphs, transform

    def __len__(self) -> int:
        return len(self.graphs)

    def __getitem__(self, index: int) -> Any:
        return self.transform(self.graphs[index])


def test_transforms_print_as_they_are_made() -> None:
    for made in (
        PPR(0.1, top_k=0, threshold=0.01),
        Heat(2.0, top_k=3),
        PPR(of="x"),
        DropNodes(0.2),
    ):
        again = eval(repr(made))
        assert type(again) is type(made) and repr(again) == repr(made)
        if isinstance(made, PPR | Heat):
            assert (again.kernel, again.cut, again.of) == (made.kernel, made.cut, made.of)
    assert repr(PPR(0.1, top_k=8)) == "PPR(alpha=0.1, top_k=8, threshold=0.0, of='edges')"


@pytest.mark.filterwarnings("ignore:Sparse ")
def test_mistakes_say_what_to_do(adjacency: Any) -> None:
    with pytest.raises(DGBError, match="drop_rate must be a number from 0 to below 1, not 1"):
        DropNodes(1)
    with pytest.raises(DGBError, match="set top_k or threshold"):
        PPR(top_k=0)
    with pytest.raises(DGBError, match="alpha must be"):
        PPR(alpha=2)
    with pytest.raises(DGBError, match="of must be edges or x"):
        Heat(of="y")
    with pytest.raises(DGBError, match="no edge_index"):
        PPR()(pyg.ToSparseTensor(layout=torch.sparse_csr)(as_data(adjacency)))
