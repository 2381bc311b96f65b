"""The folders that HeCo publishes: a letter for a type, two letters for a relation."""

from pathlib import Path

import numpy as np

from dgb.arrays import Array
from dgb.data.formats.arrays import count_nodes, edge_matrix, node_matrix, read_npy
from dgb.data.graph import Features, Split
from dgb.data.rules import check_labels, check_split
from dgb.data.tables.source import read_table
from dgb.data.tables.table import refuse_rows
from dgb.data.tables.written import are_like
from dgb.data.typed.graph import (
    UNNAMED,
    HeteroGraph,
    make_hetero_graph,
    make_node_type,
    make_relation,
)
from dgb.data.typed.resolve import choose_target, target_unclear, with_target, without_reverse
from dgb.errors import DGBError, refusing
from dgb.terminal import some

Pairs = dict[tuple[str, str], Array]  # [2, edges] by the two types that they join

_PAIRS, _FEATURES = "[a-z][a-z].txt", "[a-z]_feat.npz"
_READ = (_PAIRS, _FEATURES, "labels.npy", "train_*.npy", "val_*.npy", "test_*.npy")
_POSITION = r"^\d{1,18}$"


def is_heco(folder: Path) -> bool:
    """Tell by the names of its files whether a folder is one of HeCo's."""
    has_more = (folder / "labels.npy").is_file() or any(folder.glob(_FEATURES))
    return has_more and any(folder.glob(_PAIRS))


def read_heco(folder: Path, target: str = "") -> HeteroGraph:
    """Read X_feat.npz, pairs such as pa.txt, labels.npy and splits; other files stay unopened.

    Without `target`, it is the type with as many nodes as there are labels; without labels, the
    only one with features.
    """
    if not is_heco(folder):
        raise DGBError(f"{folder}: not a folder of HeCo's; it needs pairs (pa.txt) and labels")
    files = [path.name for path in folder.iterdir()]
    with refusing(folder, "its files do not fit together", "get them again", *files):
        return _read_together(folder, target)


def _read_together(folder: Path, target: str) -> HeteroGraph:
    files = {(path.stem[0], path.stem[1]): path for path in sorted(folder.glob(_PAIRS))}
    pairs = {types: _read_pairs(path) for types, path in files.items()}
    x = {path.stem[0]: node_matrix(path) for path in sorted(folder.glob(_FEATURES))}
    labels = _read_labels(folder / "labels.npy")
    counts = _count_types(pairs, x)
    labelled = _find_labelled(target, counts, x, labels)
    if labels is not None and labelled not in x:
        counts[labelled] = max(counts[labelled], len(labels))
    _check_pairs(folder, pairs, counts)
    relations, notes = without_reverse(
        make_relation(one, UNNAMED, two, edge_matrix(found, (counts[one], counts[two])))
        for (one, two), found in pairs.items()
    )
    splits = _read_splits(folder, counts[labelled])
    others = sorted(p.name for p in folder.iterdir() if not any(map(p.match, _READ)))
    unread = [f"files that are not read: {some(others, 10)}"] if others else []
    graph = make_hetero_graph(
        folder.resolve().name,
        {kind: make_node_type(np.arange(n), x.get(kind)) for kind, n in counts.items()},
        relations,
        labelled,
        labels=labels,
        splits=tuple(splits.values()),
        split_names=tuple(splits),
        notes=(*notes, *unread),
    )
    return with_target(graph, target)


def _count_types(pairs: Pairs, x: dict[str, Features]) -> dict[str, int]:
    ends: dict[str, list[Array]] = {}
    for kinds, found in pairs.items():
        for kind, positions in zip(kinds, found, strict=True):
            ends.setdefault(kind, []).append(positions)
    return {
        kind: x[kind].shape[0] if kind in x else count_nodes(np.concatenate(ends[kind]))
        for kind in dict.fromkeys([*ends, *x])
    }


def _check_pairs(folder: Path, pairs: Pairs, counts: dict[str, int]) -> None:
    for (one, two), found in pairs.items():
        sizes = np.array([[counts[one]], [counts[two]]])
        beyond = np.flatnonzero((found >= sizes).any(axis=0))
        if len(beyond):
            source, target = found[:, beyond[0]]
            raise DGBError(
                f"{folder / (one + two)}.txt: {len(beyond):,} pairs, such as {source} {target}, "
                f"name nodes that have no row of features ({counts[one]:,} {one}, "
                f"{counts[two]:,} {two}); get the files again"
            )


def _find_labelled(
    asked: str, counts: dict[str, int], x: dict[str, Features], labels: Array | None
) -> str:
    if labels is None:
        return choose_target(asked, counts, (), x)
    size = len(labels)
    fitting = [kind for kind, count in counts.items() if count == size]
    # Nodes without features are only known by their edges, which may end before the last node.
    fitting = fitting or [k for k, count in counts.items() if k not in x and count < size]
    if asked in fitting:
        return asked
    if len(fitting) == 1 or (asked and fitting):  # of a type that is not asked for
        return fitting[0]
    fit = f"{', '.join(fitting)} may be of so many nodes" if fitting else "no type is so large"
    raise target_unclear(f"there are {size:,} labels, and {fit}", fitting or counts)


def _read_labels(path: Path) -> Array | None:
    """Read one class a node from a .npy file, None where there is no such file."""
    if not path.exists():
        return None
    labels = read_npy(path)
    if labels.ndim != 1 or labels.dtype.kind not in "iuf":
        raise DGBError(f"{path}: labels must be one number a node, not {labels.dtype}")
    with refusing(path, "not labels", "get it again"):
        return check_labels(labels)


def _read_splits(folder: Path, num_nodes: int) -> dict[str, Split]:
    """Read train_20.npy, val_20.npy, test_20.npy and the like by their names, 20 before 40."""
    names = [path.stem.removeprefix("train_") for path in folder.glob("train_*.npy")]
    splits = {}
    for name in sorted(names, key=lambda name: (len(name), name)):  # 20, 40, 100
        parts = [read_npy(folder / f"{part}_{name}.npy") for part in ("train", "val", "test")]
        if any(part.ndim != 1 or part.dtype.kind not in "iu" for part in parts):
            raise DGBError(f"{folder}: train_{name}.npy and the like must be lists of positions")
        try:
            check_split(*parts, num_nodes=num_nodes)
        except DGBError as error:
            raise DGBError(f"{folder}, split {name}: {error}") from None
        splits[name] = Split(*(np.array(part, np.int64) for part in parts))
    return splits


def _read_pairs(path: Path) -> Array:
    """Return the positions of a file of pairs, int64 [2, pairs], naming the line of a bad one."""
    import pyarrow as pa

    table = read_table(path, has_names=False)
    if len(table.names) != 2:
        raise DGBError(f"{table.place(0)}: {len(table.names)} columns; a file of pairs has two")
    ends = []
    for name in table.names:
        cells = table.content.column(name)
        is_right = are_like(cells, _POSITION)
        rows = np.flatnonzero(~np.asarray(is_right.to_numpy()))
        refuse_rows(table, rows, "cells that are not positions 0, 1, 2 …", name, "fix them")
        ends.append(np.asarray(cells.cast(pa.int64()).to_numpy()))
    return np.stack(ends)
