"""A torch_geometric HeteroData in a file of torch.save, read without running what it brings."""

from pathlib import Path

from dgb.data.formats.pyg_file import load_pyg, refusal
from dgb.data.hetero.graph import HeteroGraph
from dgb.data.hetero.pyg import from_hetero_data
from dgb.errors import refusing


def read_hetero_data(path: Path, target: str = "") -> HeteroGraph:
    """Read a torch_geometric HeteroData that was saved with torch.save(data, path)."""
    data = load_pyg(path)
    if type(data).__name__ != "HeteroData":
        raise refusal(path, "holds no HeteroData")
    with refusing(path, "not a whole HeteroData", "save it again"):
        return from_hetero_data(data, target, path.stem)
