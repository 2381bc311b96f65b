"""A small whole example of everything that is read, with what reads it."""

import gzip
import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy import io, sparse

from dgb.cli import main
from dgb.data.formats.npz import write_npz
from dgb.data.formats.pyg import to_hetero_data, to_pyg
from dgb.data.graph import Graph
from dgb.data.load import load_graph, load_hetero
from dgb.data.public.datasets import read_gnn_benchmark, read_imdb, read_ogbn_arxiv, read_wikics
from dgb.data.public.download import read_member
from dgb.data.public.planetoid import read_planetoid
from dgb.estimator import DGB
from dgb.report.page import write_report
from dgb.run.vectors import read_embeddings
from dgb.train import checkpoint
from dgb.train.monitor import read_metrics
from tests.conftest import QUICK_PROBE, make_blocks
from tests.data.test_public import WIKICS, write_gnn_benchmark
from tests.data.typed.test_imdb import write_imdb
from tests.hetero import make_library, write_library
from tests.train.test_loop import recipe_with
from tests.train.test_loop import train as fit

SMALL = "encoder.width=4 heads.hidden=4 heads.width=4 train.epochs=2"
SETS = [word for pair in (*SMALL.split(), *QUICK_PROBE) for word in ("--set", pair)]


@dataclass(frozen=True, repr=False)
class Sample:
    """The files of an example, those that are damaged, and the function that reads the folder."""

    files: dict[str, bytes]
    damaged: tuple[str, ...]
    read: Callable[[Path], Any]

    def __repr__(self) -> str:
        return f"<{len(self.files)} files>"

    def _repr_pretty_(self, printer: Any, _is_cycle: bool) -> None:
        printer.text(repr(self))  # Hypothesis would print megabytes


def make_samples(folder: Path) -> dict[str, Sample]:
    """Write every example into a folder of its own, and take its files."""
    blocks = make_blocks(12)
    found: dict[str, Sample] = {}
    for make in (_tables, _other_tables, _arrays, _whole, _hetero, _public, _run):
        for name, (write, read, *damaged) in make(blocks).items():
            (folder / name).mkdir()
            write(folder / name)
            paths = [path for path in (folder / name).rglob("*") if path.is_file()]
            files = {str(path.relative_to(folder / name)): path.read_bytes() for path in paths}
            found[name] = Sample(files, tuple(damaged or sorted(files)), read)
    return found


def _tables(blocks: Graph) -> dict[str, Any]:
    edges, nodes, labels = _frames(blocks)

    def delimited(folder: Path, suffix: str = "csv", **options: Any) -> None:
        for name, frame in (("edges", edges), ("nodes", nodes), ("labels", labels)):
            frame.to_csv(folder / f"{name}.{suffix}", index=False, **options)

    def parquet(folder: Path) -> None:
        for name, frame in (("edges", edges), ("nodes", nodes), ("labels", labels)):
            frame.to_parquet(folder / f"{name}.parquet")

    def spaced(folder: Path) -> None:
        lines = "".join(f"{u}  {v}\n" for u, v in zip(edges.source, edges.target, strict=True))
        (folder / "g.edgelist").write_text(f"# made by hand\n{lines}")

    return {
        "csv": (delimited, load_graph),
        "tsv": (partial(delimited, suffix="tsv", sep="\t"), load_graph),
        "csv.gz": (partial(delimited, suffix="csv.gz"), load_graph),
        "parquet": (parquet, load_graph),
        "edge list": (spaced, _file("g.edgelist")),
    }


def _other_tables(blocks: Graph) -> dict[str, Any]:
    edges, nodes, _labels = _frames(blocks)

    def parts(folder: Path) -> None:
        for name, frame in (("edges", edges), ("nodes", nodes)):
            (folder / f"{name}.parquet").mkdir()
            frame.to_parquet(folder / f"{name}.parquet" / f"{name}.parquet")

    def lines(folder: Path) -> None:
        for name, frame in (("edges", edges), ("nodes", nodes)):
            frame.to_json(folder / f"{name}.jsonl", orient="records", lines=True)

    def workbooks(folder: Path) -> None:
        for name, frame in (("edges", edges), ("nodes", nodes)):
            frame.to_excel(folder / f"{name}.xlsx", index=False)

    def misnamed(folder: Path) -> None:
        edges.to_parquet(folder / "edges.npz")
        nodes.to_csv(folder / "written.gz", index=False)
        (folder / "written.gz").rename(folder / "nodes.tsv")

    return {
        "parts": (parts, load_graph),
        "jsonl": (lines, load_graph),
        "xlsx": (workbooks, load_graph),
        "misnamed": (misnamed, load_graph),
    }


def _frames(blocks: Graph) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    source, target = (blocks.node_ids[end] for end in sparse.triu(blocks.adjacency).nonzero())
    weight = np.round(np.linspace(0.5, 2, len(source)), 3)
    edges = pd.DataFrame({"source": source, "target": target, "weight": weight})
    n = blocks.num_nodes
    days = pd.date_range("2020-01-01", periods=n).strftime("%Y-%m-%d")
    columns = {"id": blocks.node_ids, "size": np.linspace(-9, 90, n), "day": days}
    columns |= {
        "kind": ["red", 'a "blue", one', "lime"] * (n // 3),
        "is_new": [True, False] * (n // 2),
    }
    split = ["train", "validation", "test"] * (n // 3)
    labels = {
        "id": blocks.node_ids,
        "label": np.array(["x", "y", "z"])[blocks.labels],
        "split": split,
    }
    return edges, pd.DataFrame(columns), pd.DataFrame(labels)


def _arrays(blocks: Graph) -> dict[str, Any]:
    once = sparse.triu(blocks.adjacency, format="coo")

    def pairs(folder: Path) -> None:
        np.save(folder / "edges.npy", np.stack(once.coords))
        np.save(folder / "nodes.npy", blocks.x.toarray())
        np.save(folder / "labels.npy", np.asarray(blocks.labels))

    def scipy_files(folder: Path) -> None:
        sparse.save_npz(folder / "edges.npz", blocks.adjacency)
        sparse.save_npz(folder / "nodes.npz", blocks.x)

    def market(folder: Path, is_packed: bool = False) -> None:
        io.mmwrite(folder / "g.mtx", blocks.adjacency)
        if is_packed:
            (folder / "g.mtx.gz").write_bytes(gzip.compress((folder / "g.mtx").read_bytes()))
            (folder / "g.mtx").unlink()

    return {
        "npy": (pairs, load_graph),
        "scipy npz": (scipy_files, load_graph),
        "mtx": (market, _file("g.mtx")),
        "mtx.gz": (partial(market, is_packed=True), _file("g.mtx.gz")),
        "npz": (lambda folder: write_npz(folder / "g.npz", blocks), _file("g.npz")),
    }


def _whole(blocks: Graph) -> dict[str, Any]:
    import networkx

    def graphml(folder: Path) -> None:
        network = networkx.from_scipy_sparse_array(blocks.adjacency)
        for node in network:
            network.nodes[node].update(size=node / 7, kind="ab"[node % 2])
        networkx.write_graphml(network, folder / "g.graphml")

    def data(folder: Path) -> None:
        torch.save(to_pyg(blocks), folder / "g.pt")

    return {"graphml": (graphml, _file("g.graphml")), "pt": (data, _file("g.pt"))}


def _hetero(_blocks: Graph) -> dict[str, Any]:
    library = make_library(12)

    def heco(folder: Path) -> None:
        for kind, width in (("p", 5), ("a", 3)):
            x = np.random.default_rng(width).integers(0, 3, (6, width)) * 1.0
            sparse.save_npz(folder / f"{kind}_feat.npz", sparse.coo_matrix(x))
        with (folder / "a_feat.npz").open("wb") as file:  # as one of HeCo's own is written
            np.save(file, np.eye(6, 3))
        (folder / "pa.txt").write_text("".join(f"{i}\t{(3 * i) % 5}\n" for i in range(6)))
        np.save(folder / "labels.npy", np.array([2.0, 0, 1, 1, 0, 2]))
        for part, nodes in (("train", [4, 0]), ("val", [1, 5]), ("test", [2, 3])):
            np.save(folder / f"{part}_20.npy", np.array(nodes))

    def data(folder: Path) -> None:
        torch.save(to_hetero_data(library), folder / "g.pt")

    return {
        "hetero csv": (partial(_write_library, graph=library), load_hetero),
        "heco": (heco, partial(load_hetero, target="p")),
        "hetero pt": (data, lambda folder: load_hetero(folder / "g.pt")),
    }


def _write_library(folder: Path, graph: Any) -> None:
    write_library(folder, graph)


def _public(_blocks: Graph) -> dict[str, Any]:
    def planetoid(folder: Path) -> None:
        words, classes = np.eye(4)[np.arange(530) % 4], np.eye(3)[np.arange(530) % 3]
        x, y = sparse.csr_matrix(words), classes.astype(np.int32)
        content = {"x": x[:6], "allx": x[:520], "tx": x[520:], "y": y[:6], "ally": y[:520]}
        content |= {"ty": y[520:], "graph": {0: [1, 1, 2], 529: [520]}}
        for part, value in content.items():
            (folder / f"ind.toy.{part}").write_bytes(pickle.dumps(value, protocol=2))
        (folder / "ind.toy.test.index").write_text("".join(f"{i}\n" for i in range(520, 530)))

    return {
        "planetoid": (planetoid, partial(read_planetoid, "toy")),
        "gnn-benchmark": (
            lambda folder: write_gnn_benchmark(folder / "g.npz"),
            lambda folder: read_gnn_benchmark("toy", folder / "g.npz"),
        ),
        "wikics": (
            lambda folder: (folder / "data.json").write_text(json.dumps(WIKICS)),
            lambda folder: read_wikics("toy", folder / "data.json"),
        ),
        "ogbn": (_write_ogbn, lambda folder: read_ogbn_arxiv("toy", folder / "arxiv.zip")),
        "wheel": (_write_ogbn, lambda folder: read_member(folder / "arxiv.zip", "arxiv/x")),
        "imdb": (write_imdb, partial(read_imdb, "imdb")),
    }


def _write_ogbn(folder: Path) -> None:
    import zipfile

    tables = {
        "raw/node-feat": "0.5,1\n0,-1\n2,2\n3,1\n",
        "raw/edge": "0,1\n1,2\n2,3\n",
        "raw/node-label": "0\n1\n2\n0\n",
        "split/time/train": "0\n",
        "split/time/valid": "1\n",
        "split/time/test": "2\n3\n",
    }
    with zipfile.ZipFile(folder / "arxiv.zip", "w") as archive:
        archive.writestr("arxiv/x", b"some bytes")
        for name, text in tables.items():
            archive.writestr(f"arxiv/{name}.csv.gz", gzip.compress(text.encode()))


def _run(blocks: Graph) -> dict[str, Any]:
    def train(folder: Path) -> None:
        write_npz(folder / "g.npz", blocks)
        assert main(["train", str(folder / "g.npz"), "--out", str(folder / "run"), *SETS]) == 0
        (folder / "g.npz").unlink()

    def typed(folder: Path) -> None:
        graph = write_library(folder / "library", make_library(12))
        assert main(["train", graph, "--out", str(folder / "run"), *SETS]) == 0

    def tables(folder: Path) -> None:
        _tables(blocks)["csv"][0](folder)
        assert main(["train", str(folder), "--out", str(folder / "run"), *SETS]) == 0

    def stop(folder: Path) -> None:
        fit(blocks, replace(recipe, train=replace(recipe.train, epochs=4)), folder)

    def resume(folder: Path) -> None:
        fit(blocks, recipe, folder)
        assert [line["epoch"] for line in read_metrics(folder)][-2:] == [5, 6]

    recipe = recipe_with("train.epochs=6", "train.checkpoint_every=2")
    vectors = "run/embeddings.parquet"
    stopped = (checkpoint.FILE, checkpoint.PREVIOUS, "metrics.jsonl")
    loaded = ("run/recipe.toml", "run/model.safetensors", "run/features.toml")
    shown = ("run/recipe.toml", "run/metrics.jsonl", "run/scores.json", "run/map.parquet")
    return {
        "run": (tables, lambda folder: DGB.load(folder / "run"), *loaded),
        "typed run": (typed, lambda folder: DGB.load(folder / "run"), "run/schema.toml"),
        "report": (train, lambda folder: write_report(folder / "run"), *shown),
        "typed report": (typed, lambda folder: write_report(folder / "run"), "run/scores.json"),
        "vectors": (
            train,
            lambda folder: read_embeddings(folder / vectors),
            vectors,
        ),
        "checkpoint": (stop, resume, *stopped),
    }


def _file(name: str) -> Callable[[Path], Graph]:
    return lambda folder: load_graph(folder / name)
