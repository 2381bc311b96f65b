"""The map of a run: where every node lies, what it is, and which nodes are nearest to it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dgb.arrays import Array
from dgb.data.graph import Graph, Split
from dgb.data.ids import arrow_ids
from dgb.data.names import own_features
from dgb.data.typed.graph import AnyGraph, HeteroGraph
from dgb.data.typed.resolve import union_graph, union_ids
from dgb.errors import DGBError
from dgb.evaluate.cluster import choose_clusters, cluster
from dgb.evaluate.map import NEAR, map_coordinates
from dgb.evaluate.scores import class_names
from dgb.evaluate.why import COLUMN, look_at_columns
from dgb.files.columns import open_parquet, write_parquet
from dgb.neighbors import nearest_all
from dgb.terminal import progress_bar

MAP = "map.parquet"
NODES = 20_000  # at most; of more a sample is drawn
NEIGHBORS = 8
SEED = 0
COLUMNS = (
    *("node_id", "x", "y", "degree", "cluster", "label", "predicted", "split"),
    *("neighbors", "similarity"),
)


def write_map(
    folder: Path,
    graph: AnyGraph,
    z: Array,
    predicted: Array | None,
    split: Split | None,
    *,
    is_whole: bool = False,
) -> Path:
    """Write map.parquet, a row per node or per node of a sample of 20,000; return its path.

    `predicted` are names of classes [num_nodes]. With `is_whole`, z has rows of all types of
    nodes, and these take the place of labels. The neighbors are rows of this table.
    """
    import pyarrow as pa

    x = own_features(graph, is_whole=is_whole)
    if isinstance(graph, HeteroGraph) and is_whole:
        graph, split = _graph_of_types(graph), None
    if isinstance(graph, HeteroGraph):
        degrees = graph.degrees(graph.target)
    else:
        degrees = np.diff(graph.adjacency.indptr)
    graph = graph.target_graph()
    nodes = np.arange(graph.num_nodes)
    if len(nodes) > NODES:
        nodes = np.sort(np.random.default_rng(SEED).choice(len(nodes), NODES, replace=False))
    rows = z[nodes]
    with progress_bar(None, "map", unit="part", total=3) as bar:
        near = nearest_all(rows, NEAR)
        bar.update()
        xy, name = map_coordinates(rows, SEED, near)
        bar.update()
        # Of all rows, so that `dgb cluster` finds as many; and those, where all nodes are drawn.
        clusters = cluster(rows, min(choose_clusters(z, SEED), len(rows)), SEED)
        bar.update()
    texts = {
        "label": None if graph.labels is None else class_names(graph, graph.labels[nodes]),
        "predicted": None if predicted is None else predicted[nodes],
        "split": None if split is None else _parts(split, nodes),
    }
    columns = {
        "node_id": arrow_ids(graph.node_ids[nodes]),
        "x": pa.array(xy[:, 0], pa.float32()),
        "y": pa.array(xy[:, 1], pa.float32()),
        "degree": pa.array(degrees[nodes], pa.int32()),
        "cluster": pa.array(clusters, pa.int32()),
    } | {
        column: pa.nulls(len(nodes), pa.string()) if of is None else pa.array(of, pa.string())
        for column, of in texts.items()
    }
    shown = look_at_columns(graph, x, nodes, clusters)
    table = pa.table(
        columns | _list_neighbors(*near) | {f"{COLUMN}{key}": v for key, v in shown.columns.items()}
    )
    about = {"map": name, "nodes": str(graph.num_nodes), "clusters": json.dumps(shown.clusters)}
    about |= {"columns": str(shown.count)}
    table = table.replace_schema_metadata(about)
    write_parquet(folder / MAP, table)
    return folder / MAP


def read_map(path: Path) -> Any:
    """Return the table of a map, None where there is no file."""
    import pyarrow as pa

    if not path.exists():
        return None
    fix = "train again to write it again"
    try:
        with open_parquet(path, path) as file:
            table = file.read()
    except (OSError, pa.ArrowException) as error:
        raise DGBError(f"cannot read {path}: {error}; {fix}") from error
    # As earlier versions of DGB spelt it.
    names = ["neighbors" if name == "neighbours" else name for name in table.column_names]
    table = table.rename_columns(names).replace_schema_metadata(table.schema.metadata)
    missing = set(COLUMNS) - set(names)
    if missing or table.num_rows == 0:
        what = f"it lacks {', '.join(sorted(missing))}" if missing else "it has no rows"
        raise DGBError(f"{path} is not a map of a run: {what}; {fix}")
    return table


def _graph_of_types(graph: HeteroGraph) -> Graph:
    """Return the nodes of all types, each with its type for a label."""
    sizes = [nodes.num_nodes for nodes in graph.nodes.values()]
    return replace(
        graph.target_graph(),
        adjacency=union_graph(graph),
        node_ids=union_ids(graph),
        labels=np.repeat(np.arange(len(sizes)), sizes),
        label_names=tuple(graph.nodes),
        splits=(),
    )


def _list_neighbors(positions: Array, similarities: Array) -> dict[str, Any]:
    import pyarrow as pa

    positions, similarities = positions[:, :NEIGHBORS], similarities[:, :NEIGHBORS]
    ends = pa.array(np.arange(len(positions) + 1) * positions.shape[1], pa.int32())
    flat = pa.array(positions.reshape(-1), pa.int32()), pa.array(similarities.reshape(-1))
    lists = [pa.ListArray.from_arrays(ends, values) for values in flat]
    return dict(zip(("neighbors", "similarity"), lists, strict=True))


def _parts(split: Split, nodes: Array) -> Array:
    part = np.full(len(nodes), None, dtype=object)
    for name in ("train", "validation", "test"):
        part[np.isin(nodes, getattr(split, name))] = name
    return part
