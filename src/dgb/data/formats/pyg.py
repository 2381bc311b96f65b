"""To and from torch_geometric's Data, in memory and in files that are read without running them."""

import warnings
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dgb.data.formats.arrays import class_labels, edge_matrix, own_ids
from dgb.data.formats.pyg_store import (
    array_of,
    column_encoding,
    count_rows,
    features_of,
    has,
    set_labels,
    set_nodes,
    splits_of,
    tensor_of,
)
from dgb.data.graph import Graph
from dgb.data.structure import make_featured_graph
from dgb.errors import DGBError, refusing
from dgb.files.limits import refuse_beyond_room
from dgb.files.packed import check_members

Data = Any  # torch_geometric's; imported only inside the functions, for a quick start


def from_pyg(data: Data, *, name: str = "graph", structure: str = "walk") -> Graph:
    """Make a Graph of a torch_geometric Data: x, edge_index, edge_weight, y, masks and node_ids.

    Without x, features of the kind `structure` are made of the edges; `feature_names` are kept.
    """
    if data.edge_index is None:
        raise DGBError("the Data has no edge_index; set data.edge_index, a [2, num_edges] tensor")
    x = None if data.x is None else features_of(data.x)
    num_nodes = _count_nodes(data) if x is None else x.shape[0]
    weight = array_of(data.edge_weight).ravel() if has(data, "edge_weight") else None
    graph = make_featured_graph(
        name,
        x,
        edge_matrix(array_of(data.edge_index), num_nodes, weight),
        structure,
        node_ids=own_ids(array_of(data.node_ids) if has(data, "node_ids") else None, num_nodes),
        labels=None if data.y is None else class_labels(array_of(data.y)),
        splits=splits_of(data, num_nodes),
    )
    if x is None:
        return graph
    return replace(graph, encoding=column_encoding(data, graph.num_features))


def to_pyg(graph: Graph) -> Data:
    """Make a torch_geometric Data of a Graph; sparse features become a sparse COO tensor."""
    import torch
    from torch_geometric import data as pyg

    edges = sparse.coo_array(graph.adjacency)
    data = pyg.Data(
        x=tensor_of(graph.x),
        edge_index=torch.from_numpy(np.stack(edges.coords).astype(np.int64)),
        edge_weight=torch.from_numpy(edges.data.copy()),
    )
    set_nodes(data, graph.node_ids, graph.encoding)
    set_labels(data, graph.labels, graph.splits, graph.num_nodes)
    return data


def _count_nodes(data: Data) -> int:
    # PyG itself counts by x or by the edges, which end before a last node without any.
    rows = count_rows(data)
    if rows is not None:
        return rows
    with warnings.catch_warnings():
        # PyG warns where it can only count by the edges, which is all that there is then.
        warnings.simplefilter("ignore", UserWarning)
        return int(data.num_nodes or 0)


_ADVICE = (
    "save one torch_geometric Data of tensors alone with torch.save(data, path), or write the "
    "graph with dgb.data.formats.npz.write_npz"
)
_SAFE_TORCH = (2, 6)  # before, a file could run code even with weights_only (CVE-2025-32434)
_HETERO = b"torch_geometric.data.hetero_data\nHeteroData"  # as a pickle names a class


def read_pyg(path: Path, structure: str = "walk") -> Graph:
    """Read a torch_geometric Data that was saved with torch.save(data, path)."""
    data = load_pyg(path)
    if type(data).__name__ != "Data":
        raise refusal(path, f"holds a {type(data).__name__}")
    with refusing(path, "not a whole Data", "save it again"):
        return replace(from_pyg(data, structure=structure), name=path.stem)


def load_pyg(path: Path) -> Any:
    """Return the Data or HeteroData of a file; whatever else it brings is refused, not run."""
    import torch
    from torch_geometric.data import Data, HeteroData, storage
    from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
    from torch_geometric.data.feature_store import TensorAttr
    from torch_geometric.data.graph_store import EdgeAttr

    plain = [Data, DataEdgeAttr, DataTensorAttr, storage.GlobalStorage]
    typed = [HeteroData, EdgeAttr, TensorAttr]
    stores = [storage.BaseStorage, storage.NodeStorage, storage.EdgeStorage]
    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < _SAFE_TORCH:
        raise DGBError(f"{path}: .pt files need torch 2.6 or newer to be read safely; upgrade it")
    _check_size(path)
    try:
        # The second: indices of a sparse tensor that lead out of it would end the process.
        with (
            torch.serialization.safe_globals([*plain, *typed, *stores]),
            torch.sparse.check_sparse_tensor_invariants(),  # type: ignore[no-untyped-call]
        ):
            data = torch.load(path, map_location="cpu", weights_only=True)
    except Exception:  # a broken file may raise nearly anything
        raise refusal(path, "holds what is not plain, or is broken") from None
    if type(data) not in (Data, HeteroData):
        raise refusal(path, f"holds a {type(data).__name__}")
    _check_tensors(path, data)
    return data


def _check_size(path: Path) -> None:
    """Refuse a file that unpacks to more than there is room for; torch writes, and reads, a zip."""
    with refusing(path, "not a readable file of torch.save", _ADVICE):
        with path.open("rb") as file:
            is_packed = file.read(4) == b"PK\x03\x04"  # torch's older form is not
        if is_packed:  # and what zipfile cannot read, torch perhaps can
            with zipfile.ZipFile(path) as archive:
                check_members(path, archive.infolist())


def _check_tensors(path: Path, data: Any) -> None:
    """Refuse tensors that claim more numbers than fit, such as one number for a billion rows."""
    import torch

    values = [value for store in data.stores for value in store.values()]
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    strided = [tensor for tensor in tensors if tensor.layout == torch.strided]
    # What a tensor holds is in the memory by now; counted is what it claims beyond that.
    more = (t.numel() * t.element_size() - t.untyped_storage().nbytes() for t in strided)
    refuse_beyond_room(f"{path} holds tensors that unfold to", sum(max(0, size) for size in more))


def holds_hetero_data(path: Path) -> bool:
    """Tell by the names within a file of torch.save, without reading it, if it is a HeteroData."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if _is_pickle(member)]
            check_members(path, members)
            return any(_HETERO in archive.read(member) for member in members)
    except DGBError:
        raise
    except Exception:  # whoever reads it will say what is wrong
        return False


def _is_pickle(member: zipfile.ZipInfo) -> bool:
    return member.filename.endswith("/data.pkl")


def refusal(path: Path, problem: str) -> DGBError:
    """Return the error for a file that holds something else than a Data."""
    return DGBError(f"{path}: {problem}; {_ADVICE}")
