"""A pickle reader for Planetoid's files that builds numbers, lists and dicts, nothing else."""

import pickle
import pickletools
from collections import defaultdict
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from dgb.arrays import Array
from dgb.data.formats.arrays import sparse_rows
from dgb.errors import DGBError, refusing
from dgb.files.limits import read_whole

Content = Any  # what a pickle holds is known only once it is read


def read_pickle(path: Path) -> Content:
    """Load one raw file; a CSR matrix comes back as a checked scipy csr_array."""
    with refusing(path, "not a Planetoid file", "fetch the data set again"):
        written = read_whole(path)
        _refuse_large_memo(written)
        content = _Unpickler(BytesIO(written), encoding="latin1").load()
        return sparse_rows(content.parts, "") if isinstance(content, _CSRParts) else content


def _refuse_large_memo(written: bytes) -> None:
    """Refuse a place to remember things at that the pickle has no bytes for: memory is taken by it.

    Walks over the whole pickle, which also finds texts that claim to be longer than the file.
    """
    for opcode, place, _ in pickletools.genops(written):
        if opcode.name in ("PUT", "LONG_BINPUT") and int(place or 0) > len(written):
            raise DGBError(f"remembers things at place {place}; do not use this file")


class _CSRParts:
    """Stands in for scipy's csr_matrix, whose inside has changed since these files were made."""

    parts: dict[str, Any]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.parts = {key: state[key] for key in ("data", "indices", "indptr")}
        self.parts["shape"] = state["_shape"]


def _empty_array(_kind: object, _shape: tuple[int, ...], _code: object) -> Array:
    return np.ndarray.__new__(np.ndarray, (0,), "b")  # its content follows in the pickle


def _number_type(code: str, *_flags: object) -> Content:
    # The flags of these old files are integers, against which some numpy versions warn.
    kind = np.dtype(code, copy=True)
    if kind.kind not in "biuf":
        raise DGBError(f"holds an array of type {code}, not of numbers; do not use this file")
    return kind


def _latin1(text: str, _encoding: str = "latin1") -> bytes:
    return text.encode("latin1")


_ALLOWED: dict[tuple[str, str], Any] = {
    ("builtins", "int"): int,
    ("builtins", "list"): list,
    ("__builtin__", "int"): int,  # Python 2's name, which the published files carry
    ("__builtin__", "list"): list,
    ("collections", "defaultdict"): defaultdict,
    ("_codecs", "encode"): _latin1,
    ("numpy", "dtype"): _number_type,
    ("numpy", "ndarray"): None,  # files name it, and none has to call it
    ("numpy.core.multiarray", "_reconstruct"): _empty_array,
    ("numpy._core.multiarray", "_reconstruct"): _empty_array,
    ("scipy.sparse.csr", "csr_matrix"): _CSRParts,
    ("scipy.sparse._csr", "csr_matrix"): _CSRParts,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Content:
        """Look a name up in the allow-list instead of importing it."""
        if (module, name) not in _ALLOWED:
            raise DGBError(
                f"asks for {module}.{name}, which no Planetoid file needs; do not use it"
            )
        return _ALLOWED[module, name]
