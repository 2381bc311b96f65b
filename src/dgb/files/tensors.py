"""Tensors in a safetensors file, with a digest by which a flipped bit is noticed."""

import hashlib
import json
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from dgb.errors import DGBError
from dgb.files.atomic import whole_file

DIGEST = "sha256"  # its key, next to the caller's own

Tensors = dict[str, Tensor]
Metadata = dict[str, str]


def write_tensors(
    path: Path, tensors: Tensors, metadata: Metadata, *, previous: Path | None = None
) -> None:
    """Write a safetensors file atomically, the same bytes for the same content.

    `previous` is where the file before it is kept.
    """
    tensors = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    content = memoryview(save(tensors, metadata | {DIGEST: _digest(tensors, metadata)}))
    # The library writes its metadata in an order that changes from process to process.
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.dumps(json.loads(bytes(content[8:start])), sort_keys=True).encode()
    header += b" " * (-len(header) % 8)  # so that numbers keep their alignment
    with whole_file(path, previous=previous) as part, part.open("wb") as file:
        file.writelines([len(header).to_bytes(8, "little"), header, content[start:]])


def read_tensors(path: Path, *, needs_digest: bool = True) -> tuple[Tensors, Metadata]:
    """Read a safetensors file; the error says what is wrong, and the caller what to do about it."""
    try:
        with safe_open(path, "pt") as file:
            # Copies: a tensor that maps the file would keep Windows from replacing it.
            tensors = {key: file.get_tensor(key).clone() for key in file.keys()}  # noqa: SIM118
            metadata = file.metadata() or {}
    except (OSError, SafetensorError) as error:
        raise DGBError(f"cannot read {path}: {error}") from error
    content = {key: value for key, value in metadata.items() if key != DIGEST}
    if DIGEST not in metadata and needs_digest:
        raise DGBError(f"{path} has no digest: an older dgb wrote it, or it is damaged")
    if DIGEST in metadata and metadata[DIGEST] != _digest(tensors, content):
        raise DGBError(f"{path} is damaged: it is not what was written")
    return tensors, metadata


def _digest(tensors: Tensors, metadata: Metadata) -> str:
    """Return SHA-256 of all that a reader is given: names, types, shapes and numbers."""
    digest = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode())
    for name, value in sorted(tensors.items()):
        digest.update(json.dumps([name, str(value.dtype), list(value.shape)]).encode())
        digest.update(value.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
