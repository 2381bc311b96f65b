"""The verbs that use embeddings: the nearest nodes of a node, and groups of nodes."""

import csv
import json
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dgb.commands.options import check_counts
from dgb.errors import DGBError

if TYPE_CHECKING:
    from dgb.data.graph import Array

CENTRAL = 5  # nodes that stand for a cluster


def neighbors(options: Namespace) -> None:
    """Print the nearest nodes of the nodes asked for, by cosine."""
    import numpy as np

    from dgb.data.find_nodes import find_nodes
    from dgb.evaluate.neighbours import nearest
    from dgb.run import folder as files

    if options.k < 1:
        raise DGBError(f"-k must be at least 1, not {options.k}")
    folder = Path(options.run)
    files.read_recipe(folder)
    path = Path(options.vectors or folder / files.EMBEDDINGS)
    ids, z = files.read_embeddings(path)
    rows = find_nodes(ids, np.array(options.nodes))
    positions, similarities = nearest(z, rows, options.k)
    # Vectors of another file may be of another graph, whose ids only look the same.
    labels = {} if options.vectors else _labels(folder)
    found = [
        _entry(node, ids[near].tolist(), similar.tolist(), labels)
        for node, near, similar in zip(ids[rows].tolist(), positions, similarities, strict=True)
    ]
    if options.json:
        print(json.dumps(found, indent=2, default=str))
    else:
        print("\n\n".join(_readable(entry) for entry in found))


def cluster(options: Namespace) -> None:
    """Group the nodes of a run by k-means; write a cluster for every node and print the groups."""
    from dgb.evaluate.cluster import central_rows, choose_clusters
    from dgb.evaluate.cluster import cluster as k_means
    from dgb.run import folder as files

    check_counts(options, "clusters")
    folder = Path(options.run)
    seed = files.read_recipe(folder).train.seed
    out = _checked_out(options.out, folder)
    ids, z = files.read_embeddings(folder / files.EMBEDDINGS)
    count = options.clusters
    if count is None:
        count = choose_clusters(z, seed)
        best = f"{count} clusters have the best silhouette of 2 to 20"
        found = best if count > 1 else "one cluster: vectors are all alike, or fewer than three"
        print(f"{found}; --clusters K sets another")
    if count > len(z):
        raise DGBError(f"--clusters must be at most the {len(z)} nodes, not {count}")
    clusters = k_means(z, count, seed)
    write_clusters(out, ids, clusters)
    print(f"{'cluster':>7}{'nodes':>10}  most central")
    for name, central in enumerate(central_rows(z, clusters, CENTRAL)):
        size = int((clusters == name).sum())
        print(f"{name:>7}{size:>10,}  {', '.join(map(str, ids[central]))}")
    print(f"cluster of every node: {out}")


def write_clusters(path: Path, ids: "Array", clusters: "Array") -> None:
    """Write the columns node_id and cluster as CSV or Parquet, by the name of the file."""
    import pyarrow as pa
    from pyarrow import parquet

    from dgb.run.folder import id_column
    from dgb.whole_file import whole_file

    with whole_file(path) as part:
        if path.suffix == ".parquet":
            columns = {"node_id": id_column(ids), "cluster": pa.array(clusters, pa.int32())}
            parquet.write_table(pa.table(columns), part)
            return
        with part.open("w", encoding="utf-8", newline="") as file:
            rows = zip(ids.tolist(), clusters.tolist(), strict=True)
            csv.writer(file, lineterminator="\n").writerows([("node_id", "cluster"), *rows])


def _checked_out(out: str | None, folder: Path) -> Path:
    path = Path(out) if out else folder / "clusters.csv"
    if path.suffix not in (".csv", ".parquet") or not path.parent.is_dir():
        raise DGBError(f"--out must be a .csv or .parquet file in a folder that exists, not {out}")
    return path


def _labels(folder: Path) -> dict[Any, str]:
    """Return the label of every node that the run's map shows with one."""
    from dgb.run.map import FILE, read_map

    table = read_map(folder / FILE)
    if table is None:
        return {}
    pairs = zip(table["node_id"].to_pylist(), table["label"].to_pylist(), strict=True)
    return {node: label for node, label in pairs if label is not None}


def _entry(
    node: Any, near: list[Any], similarities: list[float], labels: dict[Any, str]
) -> dict[str, Any]:
    found = [
        {"id": other, "similarity": round(similar, 4), "label": labels.get(other)}
        for other, similar in zip(near, similarities, strict=True)
    ]
    return {"id": node, "label": labels.get(node), "neighbors": found}


def _readable(entry: dict[str, Any]) -> str:
    width = max([len(str(near["id"])) for near in entry["neighbors"]], default=0) + 2
    label = f" ({entry['label']})" if entry["label"] else ""
    rows = [
        f"  {near['id']!s:{width}}{near['similarity']:>8.4f}  {near['label'] or ''}".rstrip()
        for near in entry["neighbors"]
    ]
    return "\n".join([f"{entry['id']}{label}", *rows])
