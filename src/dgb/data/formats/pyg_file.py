"""A torch_geometric Data in a file of torch.save, read without running anything it brings."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from dgb.data.formats.pyg import from_pyg
from dgb.data.graph import Graph
from dgb.errors import DGBError

_SAFE_TORCH = (2, 6)  # before, a file could run code even with weights_only (CVE-2025-32434)
_BROKEN = (AttributeError, ValueError, TypeError, KeyError, IndexError, RuntimeError)
_UNREADABLE = (*_BROKEN, OSError, EOFError, MemoryError, AssertionError)


def read_pyg(path: Path, structure: str = "walk") -> Graph:
    """Read a torch_geometric Data that was saved with torch.save(data, path)."""
    data = _load(path)
    try:
        return replace(from_pyg(data, structure=structure), name=path.stem)
    except DGBError as error:
        raise DGBError(f"{path}: {error}") from None
    except _BROKEN as error:
        raise DGBError(f"{path}: not a whole Data ({error}); save it again") from None


def _load(path: Path) -> Any:
    import pickle
    import struct

    import torch
    from torch_geometric.data import Data
    from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
    from torch_geometric.data.storage import GlobalStorage

    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < _SAFE_TORCH:
        raise DGBError(f"{path}: .pt files need torch 2.6 or newer to be read safely; upgrade it")
    try:
        with torch.serialization.safe_globals([Data, DataEdgeAttr, DataTensorAttr, GlobalStorage]):
            data = torch.load(path, map_location="cpu", weights_only=True)
    except (*_UNREADABLE, pickle.UnpicklingError, struct.error):
        raise _refusal(path, "holds what is not plain, or is broken") from None
    if type(data) is not Data:
        raise _refusal(path, f"holds a {type(data).__name__}")
    return data


def _refusal(path: Path, problem: str) -> DGBError:
    return DGBError(
        f"{path}: {problem}; save one torch_geometric Data of tensors alone with "
        "torch.save(data, path), or write the graph with dgb.data.formats.npz.write_npz"
    )
