"""Files of embeddings: one of Parquet, or a folder of such parts; taken some rows at a time."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from dgb.arrays import Array, are_finite, row_parts
from dgb.data.ids import arrow_ids
from dgb.errors import DGBError, refusing
from dgb.files.atomic import whole_file
from dgb.files.columns import check_columns

ONE_COPY = 0.9  # of the free memory, for what is read into one array batch by batch


def write_embeddings(path: Path, node_ids: Array, z: Array, *, npy: bool = False) -> None:
    """Write Parquet with the columns `node_id` and `embedding`, and optionally .npy.

    z is taken some rows at a time: it may lie in a file that is larger than the memory.
    """
    from pyarrow import parquet

    batches = vector_batches(node_ids, z, "embedding")
    with whole_file(path) as part, parquet.ParquetWriter(part, batches.schema) as file:
        for batch in batches:
            file.write_batch(batch)
    if npy:
        write_npy(path.with_suffix(".npy"), z)


def vector_batches(node_ids: Array, z: Array, name: str) -> Any:
    """Return an Arrow reader of the columns `node_id` and, as lists of one length, the vectors."""
    import pyarrow as pa

    ids, kind = arrow_ids(node_ids), pa.list_(pa.float32(), z.shape[1])
    schema = pa.schema({"node_id": ids.type, name: kind})

    def batches() -> Iterator[Any]:
        for rows in row_parts(*z.shape):
            flat = pa.array(np.ascontiguousarray(z[rows], np.float32).reshape(-1))
            lists = pa.FixedSizeListArray.from_arrays(flat, type=kind)
            yield pa.record_batch([ids[rows], lists], schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def write_npy(path: Path, z: Array) -> None:
    """Write an array atomically."""
    with whole_file(path) as part, part.open("wb") as file:
        np.save(file, z, allow_pickle=False)


def remove_parts(path: Path) -> None:
    """Remove embeddings that lie in a folder, and nothing else: one file can take its place."""
    try:
        for part in path.glob("part-*.parquet*"):
            part.unlink()
        path.rmdir()
    except OSError as error:
        raise DGBError(f"{path} is a folder that holds other files; move it away") from error


def read_embeddings(path: Path) -> tuple[Array, Array]:
    """Return node ids [n] and embeddings [n, width] of a file that `write_embeddings` wrote.

    A folder of such files, as the engines write it, is read in the order of their names.
    """
    with _open_parts(path) as files:
        return _read_ids(files), _read_vectors(files)


def read_ids(path: Path) -> Array:
    """Return the node ids [n] of a file of embeddings alone."""
    with _open_parts(path) as files:
        return _read_ids(files)


@contextmanager
def _open_parts(path: Path) -> Iterator[list[Any]]:
    from pyarrow import parquet

    parts = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not path.exists() or not parts:
        raise DGBError(f"{path} is not there; `dgb train` and `dgb embed` write such files")
    problem = "is not a file of embeddings, with columns node_id and embedding, lists of one length"
    with refusing(path, problem, "make it again with `dgb embed`"), ExitStack() as stack:
        # A buffer would be a second copy.
        opened = [parquet.ParquetFile(part, pre_buffer=False) for part in parts]
        files = [stack.enter_context(file) for file in opened]
        check_columns(str(path), *files, share=ONE_COPY)
        yield files


def _read_ids(files: list[Any]) -> Array:
    return np.concatenate([file.read(["node_id"])["node_id"].to_numpy() for file in files])


def _read_vectors(files: list[Any]) -> Array:
    """Fill one array from Parquet files, batch by batch, so that no second one is made."""
    from pyarrow import compute

    z, row = np.empty((0, 0), np.float32), 0
    total = sum(file.metadata.num_rows for file in files)
    for batch in chain.from_iterable(file.iter_batches(columns=["embedding"]) for file in files):
        vectors = batch["embedding"]
        lengths = compute.list_value_length(vectors).to_numpy(zero_copy_only=False)
        z = z if row else np.empty((total, int(lengths[0])), np.float32)
        flat = vectors.flatten().to_numpy(zero_copy_only=False)
        z[row : row + len(vectors)] = flat.reshape(len(vectors), -1)
        if not (lengths == z.shape[1]).all() or not are_finite(z[row : row + len(vectors)]):
            raise ValueError
        row += len(vectors)
    if not row:
        raise ValueError
    return z
