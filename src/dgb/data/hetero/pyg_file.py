"""A torch_geometric HeteroData in a file of torch.save, read without running what it brings."""

from pathlib import Path

from dgb.data.formats.pyg_file import BROKEN, load_pyg, refusal
from dgb.data.hetero.graph import HeteroGraph
from dgb.data.hetero.pyg import from_hetero_data
from dgb.errors import DGBError


def read_hetero_data(path: Path, target: str = "") -> HeteroGraph:
    """Read a torch_geometric HeteroData that was saved with torch.save(data, path)."""
    data = load_pyg(path)
    if type(data).__name__ != "HeteroData":
        raise refusal(path, "holds no HeteroData")
    try:
        return from_hetero_data(data, target, path.stem)
    except DGBError as error:
        raise DGBError(f"{path}: {error}") from None
    except BROKEN as error:
        raise DGBError(f"{path}: not a whole HeteroData ({error}); save it again") from None
