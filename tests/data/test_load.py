"""Names and paths to graphs, the bundled Cora, and the counts of a graph."""

import subprocess
import sys
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from dgb.data.formats.npz import write_npz
from dgb.data.graph import make_graph
from dgb.data.load import load_graph
from dgb.data.look.counts import count_graph
from dgb.data.public.datasets import fetch_dataset
from dgb.data.public.download import file_sha256
from dgb.data.public.sources import find_source, known_sources, list_datasets
from dgb.errors import DGBError

from .test_public import write_gnn_benchmark


def test_the_bundled_cora_is_planetoids() -> None:
    graph = load_graph("cora", offline=True)
    assert (graph.num_nodes, graph.num_edges, graph.num_features) == (2708, 5278, 1433)
    assert graph.x.nnz == 49216
    assert len(set(graph.node_ids.tolist())) == 2708
    assert graph.labels is not None
    assert np.bincount(graph.labels).tolist() == [351, 217, 418, 818, 426, 298, 180]
    assert graph.label_names[3] == "Neural_Networks"
    (split,) = graph.splits
    assert [len(part) for part in vars(split).values()] == [140, 500, 1000]
    assert np.bincount(graph.labels[split.train]).tolist() == [20] * 7
    assert len(set(np.concatenate(list(vars(split).values())).tolist())) == 1640


def test_the_bundled_file_is_the_pinned_one() -> None:
    with resources.as_file(resources.files("dgb.data") / "cora.npz") as path:
        assert file_sha256(path) == find_source("cora").files["cora.npz"]


def test_the_counts_of_the_list_are_those_of_the_graph() -> None:
    counts = count_graph(load_graph("CORA"))
    source = find_source("cora")
    for count in ("nodes", "edges", "features", "classes"):
        assert counts[count] == getattr(source, count)


@pytest.mark.parametrize("name", ["amazon-photo", "Amazon_Photo", "AMAZON PHOTO"])
def test_names_in_any_spelling(name: str) -> None:
    assert find_source(name).name == "amazon-photo"


def test_an_unknown_name_is_answered_with_the_closest() -> None:
    with pytest.raises(DGBError) as caught:
        load_graph("citesear")
    message = str(caught.value)
    assert "did you mean citeseer?" in message
    assert all(name in message for name in known_sources())
    assert "\n" not in message


def test_every_pinned_hash_looks_like_one() -> None:
    for source in known_sources().values():
        for sha256 in source.files.values():
            assert sha256 == "" or (len(sha256) == 64 and int(sha256, 16) >= 0)
    assert all(len(find_source(name).files) == 8 for name in ("citeseer", "pubmed"))
    assert all(all(find_source(name).files.values()) for name in ("cora", "citeseer", "pubmed"))


def test_a_path_is_read_as_a_file(tmp_path: Path) -> None:
    edges = sparse.coo_array(([1.0], ([0], [1])), shape=(3, 3))
    write_npz(tmp_path / "mine.npz", make_graph("mine", np.ones((3, 2)), edges))
    for path in (tmp_path / "mine.npz", str(tmp_path / "mine.npz")):
        assert (load_graph(path).name, load_graph(path).num_edges) == ("mine", 1)


def test_a_local_folder_serves_both_forms_of_a_graph_alike(tmp_path: Path) -> None:
    original, own = tmp_path / "original", tmp_path / "own"
    original.mkdir()
    own.mkdir()
    write_gnn_benchmark(original / "ms_academic_cs.npz")
    published = load_graph("coauthor-cs", data_folder=original, offline=True)
    counted = make_graph("x", published.x * 3, published.adjacency, labels=published.labels)
    write_npz(own / "coauthor_cs.npz", counted)
    again = load_graph("Coauthor_CS", data_folder=own, offline=True)
    assert again.name == published.name == "coauthor-cs"
    assert abs(again.x - published.x).nnz == 0
    assert published.x.max() == 1


def test_the_list_tells_what_is_at_hand(tmp_path: Path, cache: Path) -> None:
    write_gnn_benchmark(tmp_path / "amazon_electronics_photo.npz")
    (cache / "wikics").mkdir(parents=True)
    (cache / "wikics" / "data.json").write_text("{}")
    states = {row["name"]: row["state"] for row in list_datasets(data_folder=tmp_path)}
    assert states["cora"] == "bundled"
    assert states["amazon-photo"] == "local"
    assert states["wikics"] == "cached"
    assert states["pubmed"] == "not fetched"


def test_fetching_tells_where_the_files_are(tmp_path: Path) -> None:
    assert fetch_dataset("cora") is None
    write_gnn_benchmark(tmp_path / "amazon_electronics_photo.npz")
    assert fetch_dataset("amazon-photo", data_folder=tmp_path, offline=True) == tmp_path
    with pytest.raises(DGBError, match="offline"):
        fetch_dataset("pubmed", offline=True)


def test_check_counts_by_hand() -> None:
    edges = sparse.coo_array(([1.0, 1.0, 1.0], ([0, 1, 3], [1, 2, 4])), shape=(6, 6))
    x = sparse.csr_array(np.array([[1, 1], [1, 0], [0, 0], [0, 1], [1, 0], [0, 0]]))
    counts = count_graph(make_graph("toy", x, edges, labels=np.array([0, 0, 1, 1, -1, 1])))
    assert (counts["components"], counts["isolated_nodes"]) == (3, 1)
    assert counts["rows_without_features"] == 2
    assert counts["feature_density"] == pytest.approx(5 / 12)
    assert (counts["label_balance"], counts["unlabelled"]) == ({"0": 2, "1": 3}, 1)
    assert counts["edge_homophily"] == pytest.approx(
        0.5
    )  # the edge to the unlabelled node is left out


def test_listing_imports_nothing_heavy() -> None:
    code = (
        "import sys, dgb.data.load; from dgb.data.public.sources import list_datasets; "
        "list_datasets(); "
        "print(sorted({'torch', 'torch_geometric', 'pyarrow', 'sklearn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
