"""Files of torch.save that hold a Data or HeteroData, read without running what they bring."""

import zipfile
from pathlib import Path
from typing import Any

from dgb.data.formats.pyg import from_hetero_data, from_pyg
from dgb.data.graph import Graph
from dgb.data.typed.graph import HeteroGraph
from dgb.errors import DGBError, refusing
from dgb.files.limits import check_members, refuse_beyond_room

_ADVICE = (
    "save one torch_geometric Data of tensors alone with torch.save(data, path), or write the "
    "graph with dgb.data.formats.npz.write_npz"
)
_SAFE_TORCH = (2, 6)  # before, a file could run code even with weights_only (CVE-2025-32434)
_HETERO = b"torch_geometric.data.hetero_data\nHeteroData"  # as a pickle names a class


def read_pyg(path: Path, structure: str = "walk", repeats: str = "max") -> Graph:
    """Read a torch_geometric Data that was saved with torch.save(data, path)."""
    data = _load(path, is_hetero=False)
    with refusing(path, "not a whole Data", "save it again"):
        return from_pyg(data, name=path.stem, structure=structure, repeats=repeats)


def read_hetero_data(path: Path, target: str = "") -> HeteroGraph:
    """Read a torch_geometric HeteroData that was saved with torch.save(data, path)."""
    data = _load(path, is_hetero=True)
    with refusing(path, "not a whole HeteroData", "save it again"):
        return from_hetero_data(data, target, path.stem)


def _load(path: Path, *, is_hetero: bool) -> Any:
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
    with refusing(path, "not a readable file of torch.save", _ADVICE):
        with path.open("rb") as file:
            is_packed = file.read(4) == b"PK\x03\x04"  # torch's older form is not
        if is_packed:  # and what zipfile cannot read, torch perhaps can
            with zipfile.ZipFile(path) as archive:
                check_members(path, archive.infolist())
    try:
        # The second: indices of a sparse tensor that lead out of it would end the process.
        with (
            torch.serialization.safe_globals([*plain, *typed, *stores]),
            torch.sparse.check_sparse_tensor_invariants(),  # type: ignore[no-untyped-call]
        ):
            data = torch.load(path, map_location="cpu", weights_only=True)
    except Exception:  # a broken file may raise nearly anything
        raise DGBError(f"{path}: holds what is not plain, or is broken; {_ADVICE}") from None
    if type(data) is not (HeteroData if is_hetero else Data):
        raise DGBError(f"{path}: holds a {type(data).__name__}; {_ADVICE}")
    _check_tensors(path, data)
    return data


def _check_tensors(path: Path, data: Any) -> None:
    """Refuse tensors that claim more numbers than fit, such as one number for a billion rows."""
    import torch

    values = [value for store in data.stores for value in store.values()]
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    # What a tensor holds is in the memory by now; counted is what it claims beyond that.
    more = (
        t.numel() * t.element_size() - t.untyped_storage().nbytes()
        for t in tensors
        if t.layout == torch.strided
    )
    refuse_beyond_room(f"{path} holds tensors that unfold to", sum(max(0, size) for size in more))


def holds_hetero_data(path: Path) -> bool:
    """Tell by the names within a file of torch.save, without reading it, if it is a HeteroData."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [m for m in archive.infolist() if m.filename.endswith("/data.pkl")]
            check_members(path, members)
            return any(_HETERO in archive.read(member) for member in members)
    except DGBError:
        raise
    except Exception:  # whoever reads it will say what is wrong
        return False
