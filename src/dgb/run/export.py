"""Vectors in the forms that other tools read: a file each, or a folder of files."""

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from dgb.arrays import Array, row_parts
from dgb.data.ids import arrow_ids
from dgb.errors import DGBError
from dgb.evaluate.links import edge_pairs
from dgb.files.atomic import whole_file, write_text
from dgb.run.vectors import vector_batches, write_embeddings, write_npy
from dgb.terminal import log

TABLE = "embeddings"  # of a database
PROJECTOR = """embeddings {
  tensor_name: "dgb"
  tensor_path: "vectors.tsv"
  metadata_path: "metadata.tsv"
}
"""


@dataclass(frozen=True, eq=False)
class Exported:
    """What is exported: ids, a vector for each, and what else is known of the nodes."""

    ids: Array
    z: Array
    more: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # columns, by their names
    edges: Any = None  # adjacency of the rows; None where the format has no edges

    def rows(self) -> Iterator[tuple[Any, list[str]]]:
        """Yield every id with its numbers as the shortest text that reads back the same."""
        import pyarrow as pa

        width = self.z.shape[1]
        for part in row_parts(len(self.z), width):
            flat = np.ascontiguousarray(self.z[part], np.float32).reshape(-1)
            texts = pa.array(flat).cast(pa.string()).to_pylist()
            starts = range(0, len(texts), width)
            numbers = (texts[start : start + width] for start in starts)
            yield from zip(self.ids[part].tolist(), numbers, strict=True)


def write_csv(path: Path, vectors: Exported) -> None:
    """Write the columns node_id, z0, z1, … as CSV."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    ids = arrow_ids(vectors.ids)
    names = [f"z{number}" for number in range(vectors.z.shape[1])]
    schema = pa.schema({"node_id": ids.type} | dict.fromkeys(names, pa.float32()))
    with whole_file(path) as part, arrow_csv.CSVWriter(part, schema) as file:
        for rows in row_parts(*vectors.z.shape):
            columns = np.asarray(vectors.z[rows], np.float32).T
            arrays = [ids[rows], *map(pa.array, columns)]
            file.write_table(pa.table(arrays, schema=schema))


def write_arrays(path: Path, vectors: Exported) -> None:
    """Write vectors as .npy, and their ids as a column of text next to it."""
    write_npy(path, np.asarray(vectors.z, np.float32))
    lines = ([str(node)] for node in vectors.ids.tolist())
    _write_rows(path.with_suffix(".ids.csv"), ["node_id"], lines)


def write_word2vec(path: Path, vectors: Exported) -> None:
    """Write word2vec's text format, where spaces part the numbers: those of ids become `_`."""
    words = [re.sub(r"\s+", "_", str(node)) for node in vectors.ids.tolist()]
    if len(set(words)) < len(words) or "" in words:
        raise DGBError("ids differ in spaces alone, which word2vec's format cannot hold; take csv")
    if changed := sum(word != str(node) for word, node in zip(words, vectors.ids, strict=True)):
        log(f"note: spaces of {changed:,} ids are written as _")
    with whole_file(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        file.write(f"{len(words)} {vectors.z.shape[1]}\n")
        for word, (_, numbers) in zip(words, vectors.rows(), strict=True):
            file.write(f"{word} {' '.join(numbers)}\n")


def write_tensorboard(path: Path, vectors: Exported) -> None:
    """Write the files of TensorBoard's projector: vectors, metadata, and what says so."""
    path.mkdir(exist_ok=True)
    with whole_file(path / "vectors.tsv") as part, part.open("w", encoding="utf-8") as file:
        file.writelines("\t".join(numbers) + "\n" for _, numbers in vectors.rows())
    columns = {"node_id": vectors.ids.tolist(), **vectors.more}
    # TensorBoard takes the first line for names only where there are several columns.
    lines = [] if len(columns) == 1 else ["\t".join(columns)]
    for row in zip(*columns.values(), strict=True):
        lines.append("\t".join("" if c is None else re.sub(r"\s+", " ", str(c)) for c in row))
    write_text(path / "metadata.tsv", "\n".join(lines) + "\n")
    write_text(path / "projector_config.pbtxt", PROJECTOR)


def write_duckdb(path: Path, vectors: Exported) -> None:
    """Write a DuckDB database with the table embeddings (node_id, embedding FLOAT[n])."""
    duckdb = _import("duckdb")
    with whole_file(path) as part:
        part.unlink()  # DuckDB makes the file itself
        with duckdb.connect(str(part)) as database:
            database.register("rows", vector_batches(vectors.ids, vectors.z, "embedding"))
            database.execute(f"CREATE TABLE {TABLE} AS SELECT * FROM rows")
            database.unregister("rows")


def write_lancedb(path: Path, vectors: Exported) -> None:
    """Write a LanceDB folder with the table embeddings (node_id, vector)."""
    lancedb = _import("lancedb")
    batches = vector_batches(vectors.ids, vectors.z, "vector")
    lancedb.connect(str(path)).create_table(TABLE, batches, mode="overwrite")


def write_neo4j(path: Path, vectors: Exported) -> None:
    """Write nodes.csv and relationships.csv as `neo4j-admin database import` takes them."""
    path.mkdir(exist_ok=True)
    heads = ["nodeId:ID", *vectors.more, "embedding:float[]", ":LABEL"]
    more = zip(*vectors.more.values(), strict=True) if vectors.more else iter(lambda: (), None)
    rows = (
        [str(node), *cells, ";".join(numbers), "Node"]
        for (node, numbers), cells in zip(vectors.rows(), more, strict=False)
    )
    _write_rows(path / "nodes.csv", heads, rows)
    pairs, weights = edge_pairs(vectors.edges)
    ends = zip(vectors.ids[pairs[:, 0]].tolist(), vectors.ids[pairs[:, 1]].tolist(), strict=True)
    lines = ([*end, weight, "EDGE"] for end, weight in zip(ends, weights.tolist(), strict=True))
    _write_rows(
        path / "relationships.csv", [":START_ID", ":END_ID", "weight:float", ":TYPE"], lines
    )


def _write_rows(path: Path, heads: Sequence[str], rows: Any) -> None:
    with whole_file(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(heads)
        writer.writerows(rows)


def _import(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise DGBError(
            f"this format is written by {name}; install it: pip install {name}"
        ) from None


def write_parquet(path: Path, vectors: Exported) -> None:
    """Write Parquet with the columns node_id and embedding, lists of one length."""
    write_embeddings(path, vectors.ids, vectors.z)


# What `--to` may be: the name of the file or folder in a run, and what writes it.
FORMATS: dict[str, tuple[str, Callable[[Path, Exported], None]]] = {
    "csv": ("vectors.csv", write_csv),
    "parquet": ("vectors.parquet", write_parquet),
    "npy": ("vectors.npy", write_arrays),
    "word2vec": ("vectors.txt", write_word2vec),
    "tensorboard": ("tensorboard", write_tensorboard),
    "duckdb": ("vectors.duckdb", write_duckdb),
    "lancedb": ("vectors.lancedb", write_lancedb),
    "neo4j-csv": ("neo4j", write_neo4j),
}
