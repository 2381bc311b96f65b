"""A torch_geometric Data in a file of torch.save, read without running anything it brings."""

import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from dgb.data.formats.pyg import from_pyg
from dgb.data.graph import Graph
from dgb.errors import DGBError, refusing

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
    try:
        with torch.serialization.safe_globals([*plain, *typed, *stores]):
            data = torch.load(path, map_location="cpu", weights_only=True)
    except Exception:  # a broken file may raise nearly anything
        raise refusal(path, "holds what is not plain, or is broken") from None
    if type(data) not in (Data, HeteroData):
        raise refusal(path, f"holds a {type(data).__name__}")
    return data


def holds_hetero_data(path: Path) -> bool:
    """Tell by the names within a file of torch.save, without reading it, if it is a HeteroData."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [name for name in archive.namelist() if name.endswith("/data.pkl")]
            return any(_HETERO in archive.read(name) for name in members)
    except Exception:  # whoever reads it will say what is wrong
        return False


def refusal(path: Path, problem: str) -> DGBError:
    """Return the error for a file that holds something else than a Data."""
    return DGBError(
        f"{path}: {problem}; save one torch_geometric Data of tensors alone with "
        "torch.save(data, path), or write the graph with dgb.data.formats.npz.write_npz"
    )
