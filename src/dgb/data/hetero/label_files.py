"""Labels and splits of the target nodes as arrays of numbers in files."""

from pathlib import Path

import numpy as np

from dgb.data.checked import check_split, checked_labels
from dgb.data.formats.node_matrix import read_npy
from dgb.data.graph import Array, Split
from dgb.errors import DGBError


def label_array(path: Path) -> Array | None:
    """Read one class a node from a .npy file, None where there is no such file."""
    if not path.exists():
        return None
    labels = read_npy(path)
    if labels.ndim != 1 or labels.dtype.kind not in "iuf":
        raise DGBError(f"{path}: labels must be one number a node, not {labels.dtype}")
    try:
        return checked_labels(labels)
    except DGBError as error:
        raise DGBError(f"{path}: {error}") from None


def split_files(folder: Path, num_nodes: int) -> dict[str, Split]:
    """Read train_20.npy, val_20.npy, test_20.npy and the like by their names, 20 before 40."""
    names = [path.stem.removeprefix("train_") for path in folder.glob("train_*.npy")]
    ordered = sorted(names, key=lambda name: (len(name), name))  # 20, 40, 100
    return {name: _split(folder, name, num_nodes) for name in ordered}


def _split(folder: Path, name: str, num_nodes: int) -> Split:
    parts = [read_npy(folder / f"{part}_{name}.npy") for part in ("train", "val", "test")]
    if any(part.ndim != 1 or part.dtype.kind not in "iu" for part in parts):
        raise DGBError(f"{folder}: train_{name}.npy and the like must be lists of positions")
    try:
        check_split(*parts, num_nodes=num_nodes)
    except DGBError as error:
        raise DGBError(f"{folder}, split {name}: {error}") from None
    return Split(*(np.array(part, np.int64) for part in parts))
