"""What every reader has to answer, whatever it is given: a sound graph or one clear sentence."""

import os
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from scipy import sparse

from dgb.data.graph import Graph, Split
from dgb.data.typed.graph import HeteroGraph
from dgb.errors import DGBError

WANTED = int(os.environ.get("DGB_FUZZ", "0"))  # inputs of the long run, 0 for that of every day
EVERY_DAY = 1500
SHARES = 100  # that the tests of this folder divide the inputs into
LONGEST = timedelta(seconds=20)  # for one input, far more than any takes
answers: Counter[str] = Counter()  # how often which one was given, told at the end


def inputs(shares: int) -> settings:
    """Return so many hundredths of the inputs; those of every day are the same each time."""
    return settings(
        max_examples=max((WANTED or EVERY_DAY) * shares // SHARES, 1),
        deadline=LONGEST,
        derandomize=not WANTED,
        database=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )


def answer(read: Callable[[], Any], *named: str) -> Any:
    """Return what was read, or the error, which has to name one of the files."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # an overflow that is only warned of is a wrong number
            found = read()
    except DGBError as error:
        answers["errors"] += 1
        for fault in error.args:
            check_sentence(fault, *named)
        return error
    answers["read"] += 1
    if isinstance(found, Graph):
        check_graph(found)
    if isinstance(found, HeteroGraph):
        check_hetero(found)
    return found


def check_sentence(text: str, *named: str) -> None:
    """Check that an error is one line of printable text that names a file and what to do."""
    assert not any(unicodedata.category(letter) in ("Cc", "Cs") for letter in text), repr(text)
    assert len(text) < 2500, text
    assert not named or any(name in text for name in named), text
    is_advice = any(words in text for words in (";", " must ", " needs ", " such as ", ": write "))
    assert is_advice, f"it does not say what to do: {text}"


def check_graph(graph: Graph) -> None:
    """Check all that the other stages rely on."""
    n = graph.num_nodes
    assert n >= 2
    check_matrix(graph.adjacency, (n, n))
    assert (graph.adjacency != graph.adjacency.T).nnz == 0 and not graph.adjacency.diagonal().any()
    check_features(graph.x, n)
    check_ids(graph.node_ids, n)
    check_labels(graph.labels, graph.label_names, graph.splits, n)
    if graph.encoding and not graph.encoding.structure:
        assert len(graph.encoding.feature_names()) == graph.num_features


def check_hetero(graph: HeteroGraph) -> None:
    """Check every type and relation of a heterogeneous graph."""
    for nodes in graph.nodes.values():
        check_ids(nodes.node_ids, nodes.num_nodes)
        if nodes.x is not None:
            check_features(nodes.x, nodes.num_nodes)
    for relation in graph.relations:
        ends = graph.nodes[relation.source].num_nodes, graph.nodes[relation.target].num_nodes
        check_matrix(relation.matrix, ends)
    check_labels(graph.labels, graph.label_names, graph.splits, graph.nodes[graph.target].num_nodes)


def check_matrix(matrix: Any, shape: tuple[int, int]) -> None:
    assert matrix.shape == shape
    matrix.check_format(full_check=True)
    assert np.isfinite(matrix.data).all() and (matrix.data > 0).all()


def check_features(x: Any, num_nodes: int) -> None:
    assert x.shape[0] == num_nodes and x.shape[1] >= 1 and x.dtype == np.float32
    assert np.isfinite(x.data if sparse.issparse(x) else x).all()


def check_ids(ids: Any, num_nodes: int) -> None:
    assert ids.shape == (num_nodes,) and len(set(ids.tolist())) == num_nodes


def check_labels(
    labels: Any, names: tuple[str, ...], splits: tuple[Split, ...], num_nodes: int
) -> None:
    if labels is not None:
        assert labels.shape == (num_nodes,) and labels.dtype == np.int64 and (labels >= -1).all()
        assert not names or labels.max(initial=-1) < len(names)
    for split in splits:
        nodes = np.concatenate([split.train, split.validation, split.test])
        assert len(set(nodes.tolist())) == len(nodes)
        assert ((nodes >= 0) & (nodes < num_nodes)).all()


def lay(folder: Path, files: dict[str, bytes]) -> None:
    """Let a folder hold these files and nothing else."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir():
            path.rmdir()
        else:
            path.unlink()
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
