"""Shapes that a file declares and does not hold: refused at once, and no memory taken for them."""

import io
import json
import struct
import time
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data as PygData
from torch_geometric.data import HeteroData

from dgb import load_graph, load_hetero
from dgb.errors import DGBError
from dgb.files import limits as room
from dgb.files.tensors import read_tensors
from dgb.run import machine
from dgb.run.folder import read_encoding, read_schema

HUGE = 10**12
FREE = 4e9  # bytes that a machine of these tests has left
EDGES = np.array([[0, 1], [1, 2]])
SECONDS = 3  # on a busy machine


@pytest.fixture(autouse=True)
def some_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "free_bytes", lambda: FREE)


def npy(descr: str, shape: str, *, is_fortran: bool = False) -> bytes:
    """Return an array file that declares whatever it likes above 64 zeros."""
    head = f"{{'descr': '{descr}', 'fortran_order': {is_fortran}, 'shape': {shape}, }}".encode()
    head += b" " * (63 - (len(head) + 10) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + bytes(64)


def plain(values: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, np.array(values))
    return file.getvalue()


def npz(**arrays: Any) -> Callable[[Path], Any]:
    """Return a reader of an npz of these arrays, which may be bytes with a header of their own."""

    def read(folder: Path) -> Any:
        with zipfile.ZipFile(folder / "g.npz", "w") as archive:
            for name, values in arrays.items():
                content = values if isinstance(values, bytes) else plain(values)
                archive.writestr(f"{name}.npy", content)
        return load_graph(folder / "g.npz")

    return read


def scipy_npz(form: str, size: int) -> Callable[[Path], Any]:
    places = {"indices": [0], "indptr": [0, 1], "row": [0], "col": [1]}
    return npz(format=np.array(form.encode()), shape=[size, size], data=[1.0], **places)


def own(**arrays: Any) -> Callable[[Path], Any]:
    return npz(edge_index=EDGES, **arrays)


def npy_file(descr: str, shape: str, **options: Any) -> Callable[[Path], Any]:
    def read(folder: Path) -> Any:
        (folder / "edges.npy").write_bytes(npy(descr, shape, **options))
        return load_graph(folder / "edges.npy")

    return read


def market(form: str, sizes: str) -> Callable[[Path], Any]:
    def read(folder: Path) -> Any:
        text = f"%%MatrixMarket matrix {form} real general\n{sizes}\n1 2 1\n"
        (folder / "g.mtx").write_text(text)
        return load_graph(folder / "g.mtx")

    return read


def tensors(**values: Any) -> Callable[[Path], Any]:
    def read(folder: Path) -> Any:
        torch.save(PygData(edge_index=torch.tensor(EDGES), **values), folder / "g.pt")
        return load_graph(folder / "g.pt")

    return read


def typed(**values: Any) -> Callable[[Path], Any]:
    def read(folder: Path) -> Any:
        data = HeteroData()
        data["paper"].x = torch.eye(3)
        for name, value in values.items():
            data["author"][name] = value
        data["author", "wrote", "paper"].edge_index = torch.tensor(EDGES)
        torch.save(data, folder / "g.pt")
        return load_hetero(folder / "g.pt", target="paper")

    return read


def safetensors(shape: list[int], offsets: list[int], length: int | None = None) -> Any:
    def read(folder: Path) -> Any:
        entry = {"dtype": "F32", "shape": shape, "data_offsets": offsets}
        head = json.dumps({"weights.0": entry}).encode()
        size = len(head) if length is None else length
        (folder / "model.safetensors").write_bytes(struct.pack("<Q", size) + head + bytes(8))
        return read_tensors(folder / "model.safetensors")

    return read


def heco(pairs: str, **labels: Any) -> Callable[[Path], Any]:
    def read(folder: Path) -> Any:
        (folder / "pa.txt").write_text(pairs)
        np.save(folder / "labels.npy", np.array([0, 1]))
        for name, content in labels.items():
            (folder / f"{name}.npy").write_bytes(content)
        return load_hetero(folder)

    return read


def toml(name: str, text: str, function: Callable[[Path], Any]) -> Callable[[Path], Any]:
    def read(folder: Path) -> Any:
        (folder / name).write_text(text)
        return function(folder)

    return read


def one_number(*shape: int) -> torch.Tensor:
    return torch.zeros(1).expand(*shape)


def one_label(count: int) -> torch.Tensor:
    return torch.zeros(1, dtype=torch.int64).expand(count)


def leading_out() -> torch.Tensor:
    """Return a sparse tensor that ends the process of whoever believes it."""
    rows, columns = torch.tensor([0, 10**8, 2, 2]), torch.tensor([0, 10**9])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # it is in a beta state, torch says
        return torch.sparse_csr_tensor(rows, columns, torch.ones(2), (3, 3), check_invariants=False)


COLUMNS = 'structure = ""\n[[columns]]\nname = "a"\nkind = "words"\nwidth = {}\n'
TYPES = 'target = "a"\nedges_hash = ""\nrelations = []\n[[types]]\nname = "a"\nwidth = 3\n'
TYPES += '[types.features]\nstructure = ""\n[[types.features.columns]]\nname = "b"\nwidth = {}\n'
SPARSE = torch.sparse_coo_tensor(
    torch.tensor([[0], [1]]), torch.ones(1), (HUGE, 3), check_invariants=True
)
CASES: dict[str, Callable[[Path], Any]] = {
    "npy, 2^40 × 2^20": npy_file("<i8", "(1099511627776, 1048576)"),
    "npy, Fortran": npy_file("<i8", "(1099511627776, 2)", is_fortran=True),
    "npy, a product that overflows to 0": npy_file("<i8", "(1099511627776, 16777216)"),
    "npy, 2 × 2^62": npy_file("|b1", "(2, 4611686018427387904)"),
    "npy, below zero": npy_file("<i8", "(2, -5)"),
    "npy, as a sum": npy_file("<i8", "(2, 2 ** 40)"),
    "npy, rows of nothing": npy_file("<i8", f"({HUGE}, 0)"),
    "npy, text of no letters": npy_file("<U0", f"({HUGE}, 2)"),
    "npz, 2^40 × 2^20": npz(edge_index=npy("<i8", "(1099511627776, 1048576)")),
    "npz, overflow": npz(edge_index=npy("<i8", "(1099511627776, 16777216)")),
    "npz, below zero": npz(edge_index=npy("<i8", "(-2, 2)")),
    "npz, Fortran": npz(edge_index=npy("<i8", f"(2, {HUGE})", is_fortran=True)),
    "npz, more than stands there": npz(edge_index=npy("<i8", "(2, 100000000)")),
    "npz, a position": npz(edge_index=[[0, HUGE], [1, 2]]),
    "npz, a smaller position": npz(edge_index=[[0, 10**8], [1, 2]]),
    "npz, ids of no letters": own(node_ids=npy("<U0", f"({HUGE},)")),
    "npz, some ids of no letters": own(node_ids=npy("<U0", "(50000000,)")),
    "npz, rows of nothing": own(x=npy("<f4", f"({HUGE}, 0)")),
    "npz, rows": own(x_indices=[0, 1, 2], x_indptr=[0, 1, 2, 3], x_shape=[HUGE, 3]),
    "npz, columns": own(x_indices=[0, 1, 2], x_indptr=[0, 1, 2, 3], x_shape=[3, HUGE]),
    "npz, columns that overflow": own(x_indices=[0], x_indptr=[0, 1, 1, 1], x_shape=[3, 2**63 - 1]),
    "npz, ids of another length": own(x=np.eye(3), node_ids=["a", "b"]),
    **{f"scipy {form}": scipy_npz(form, HUGE) for form in ("csr", "csc", "coo")},
    "scipy coo, smaller": scipy_npz("coo", 10**8),
    "scipy coo, below zero": scipy_npz("coo", -3),
    "MatrixMarket": market("coordinate", f"{HUGE} {HUGE} 1"),
    "MatrixMarket, smaller": market("coordinate", "100000000 100000000 1"),
    "MatrixMarket, entries": market("coordinate", f"3 3 {HUGE}"),
    "MatrixMarket, some entries": market("coordinate", "3 3 100000000"),
    "MatrixMarket, a few entries": market("coordinate", "3 3 9"),
    "MatrixMarket, dense": market("array", "1000000 1000000"),
    "MatrixMarket, below zero": market("coordinate", "-3 -3 1"),
    "pt, one number for all rows": tensors(x=one_number(HUGE, 1)),
    "pt, one number for all columns": tensors(x=one_number(3, HUGE)),
    "pt, one number for all labels": tensors(x=torch.eye(3), y=one_label(HUGE)),
    "pt, sparse": tensors(x=SPARSE),
    "pt, sparse places that lead out of it": tensors(x=leading_out()),
    "pt, num_nodes": tensors(num_nodes=HUGE),
    "HeteroData, num_nodes": typed(num_nodes=HUGE),
    "HeteroData, one number": typed(x=one_number(HUGE, 1)),
    "HeteroData, sparse": typed(x=SPARSE),
    "safetensors, shape": safetensors([HUGE, HUGE], [0, 8]),
    "safetensors, offsets": safetensors([2], [0, HUGE]),
    "safetensors, below zero": safetensors([-2], [0, 8]),
    "safetensors, header": safetensors([2], [0, 8], 2**62),
    "HeCo, positions": heco(f"0 0\n1 {HUGE}\n"),
    "HeCo, positions of 18 digits": heco(f"0 0\n1 {10**17}\n"),
    "HeCo, labels": heco("0 0\n1 2\n", labels=npy("<i8", f"({HUGE},)")),
    "HeCo, a split": heco("0 0\n1 2\n", train_20=npy("<i8", f"({HUGE},)")),
    "features.toml": toml("features.toml", COLUMNS.format(HUGE), read_encoding),
    "features.toml, a fraction": toml("features.toml", COLUMNS.format(1.5), read_encoding),
    "schema.toml": toml("schema.toml", TYPES.format(HUGE), read_schema),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of numpy, on a product that overflows
@pytest.mark.parametrize("name", CASES)
def test_an_absurd_shape_is_one_clear_line_at_once(name: str, tmp_path: Path) -> None:
    machine.reset_peak()
    before, start = machine.peak_mb() or 0, time.perf_counter()
    with pytest.raises(DGBError) as caught:
        CASES[name](tmp_path)
    assert "\n" not in str(caught.value)
    assert time.perf_counter() - start < SECONDS
    assert (machine.peak_mb() or 0) - before < 300
