"""`dgb predict`: from a run and the labels of a table to a file of predictions."""

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dgb.arrays import Array
from dgb.cli import main
from dgb.cookbook import load_recipe
from dgb.data.graph import Graph, Split, are_numbers
from dgb.data.load import load_hetero, read_graph
from dgb.evaluate.labels import describe_labels
from dgb.run.folder import make_folder, save_encoding
from dgb.run.setup import embedded_ids, target_rows
from dgb.run.vectors import read_embeddings, write_embeddings
from tests.conftest import make_blocks

QUICK = ["probe.weight_decays=[0.1, 0.01]", "probe.normalise=l2"]


def write_graph(folder: Path, graph: Graph, **columns: Array) -> Path:
    """Write edges and nodes as CSV, the nodes with these columns."""
    folder.mkdir()
    ends = np.stack(graph.adjacency.nonzero(), axis=1)
    names = graph.node_ids[ends[ends[:, 0] < ends[:, 1]]]
    (folder / "edges.csv").write_text("from,to\n" + "\n".join(map(",".join, names)))
    rows = zip(graph.node_ids, *columns.values(), strict=True)
    lines = [",".join(map(str, row)) for row in rows]
    (folder / "nodes.csv").write_text("\n".join([",".join(["id", *columns]), *lines]))
    return folder


def make_run(folder: Path, data: Path, z: Array, *settings: str) -> Path:
    """Make a run folder as training leaves it, with these vectors."""
    recipe = load_recipe("paper", [f"data.graph={data}", *QUICK, *settings])
    make_folder(folder, recipe)
    graph = read_graph(recipe.data)
    write_embeddings(folder / "embeddings.parquet", embedded_ids(graph, recipe), z)
    save_encoding(graph.target_graph().encoding, folder)
    return folder


def pointing_at(labels: Array) -> Array:
    rng = np.random.default_rng(0)
    return np.asarray(np.eye(3, 8)[labels % 3] + 0.2 * rng.normal(size=(len(labels), 8)))


def read_rows(path: Path) -> dict[str, dict[str, str]]:
    with path.open(newline="") as file:
        return {row["node_id"]: row for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run on blocks of which a third has labels, with vectors that point at these."""
    folder, graph = tmp_path_factory.mktemp("predict"), make_blocks(90)
    assert graph.labels is not None
    team = np.where(np.arange(90) % 3 == 0, np.array(["a", "b", "c"])[graph.labels], "")
    rng = np.random.default_rng(0)
    age = [f"{20 + 10 * label + rng.normal():.3f}" for label in graph.labels]
    size = rng.random(90).round(3)
    data = write_graph(folder / "data", graph, team=team, age=np.array(age), size=size)
    return make_run(folder / "run", data, pointing_at(graph.labels), "data.label=team")


def test_nodes_without_labels_get_classes_with_probabilities(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["predict", str(run)]) == 0
    printed = capsys.readouterr().out
    assert "labels: 30 of 90 nodes; learned from all" in printed and "accuracy" in printed
    assert "calibration error" in printed and "predictions of 60 nodes" in printed
    rows, graph = read_rows(run / "predictions.csv"), make_blocks(90)
    assert graph.labels is not None
    truth = {f"paper-{i}": "abc"[label] for i, label in enumerate(graph.labels)}
    assert list(rows) == [f"paper-{i}" for i in range(90) if i % 3]
    assert sum(rows[node]["predicted"] == truth[node] for node in rows) >= 57
    assert all(1 / 3 <= float(row["probability"]) <= 1 for row in rows.values())


def test_all_nodes_and_all_probabilities_are_options(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "all.csv"
    assert main(["predict", str(run), "--all", "--probabilities", "--out", str(out)]) == 0
    rows = read_rows(out)
    assert len(rows) == 90
    assert {node for node, row in rows.items() if row["label"]} == {
        f"paper-{i}" for i in range(0, 90, 3)
    }
    for row in rows.values():
        each = {name: float(row[f"p_{name}"]) for name in "abc"}
        assert sum(each.values()) == pytest.approx(1, abs=1e-3)
        assert row["predicted"] == max(each, key=lambda name: each[name])


def test_a_label_that_was_learned_from_does_not_speak_for_itself(run: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "labels.csv"
    graph = make_blocks(90)
    assert graph.labels is not None
    names = ["abc"[label] for label in graph.labels]
    names[0] = "abc"[(graph.labels[0] + 1) % 3]
    wrong.write_text("id,team\n" + "\n".join(f"paper-{i},{n}" for i, n in enumerate(names)))
    out = tmp_path / "all.csv"
    assert main(["predict", str(run), "--labels", str(wrong), "--all", "--out", str(out)]) == 0
    row = read_rows(out)["paper-0"]
    assert row["label"] == names[0] and row["predicted"] == "abc"[graph.labels[0]]


def test_numbers_get_limits(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "age.csv"
    assert main(["predict", str(run), "--label", "age", "--all", "--out", str(out)]) == 0
    said = capsys.readouterr()
    assert "R² 0.9" in said.out and "90 of 90 nodes; learned from all" in said.out
    assert "'age' was a feature" in said.err and "train again with --label age" in said.err
    rows = read_rows(out)
    held = [float(r["low"]) <= float(r["label"]) <= float(r["high"]) for r in rows.values()]
    assert np.mean(held) == pytest.approx(0.9, abs=0.03)
    assert main(["predict", str(run), "--label", "age"]) == 2
    assert "--all writes these too" in capsys.readouterr().err
    assert main(["predict", str(run), "--task", "numbers"]) == 2
    assert "not all numbers" in capsys.readouterr().err


def test_vectors_of_other_nodes_are_predicted(run: Path, tmp_path: Path) -> None:
    _, z = read_embeddings(run / "embeddings.parquet")
    other, out = tmp_path / "later.parquet", tmp_path / "later.csv"
    write_embeddings(other, np.array(["paper-0", "new", "paper-1"]), z[[0, 0, 1]])
    assert main(["predict", str(run), "--vectors", str(other), "--out", str(out)]) == 0
    assert list(read_rows(out)) == ["new", "paper-1"]


def test_test_labels_of_a_split_are_not_learned_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = make_blocks(90)
    assert graph.labels is not None
    part = np.array(["train", "validation", "test"])[np.arange(90) % 3]
    written = []
    for name, labels in (("one", graph.labels), ("two", np.where(part == "test", 0, graph.labels))):
        rng = np.random.default_rng(0)
        data = write_graph(
            tmp_path / name, graph, label=labels, split=part, size=rng.random(90).round(3)
        )
        folder = make_run(tmp_path / f"run-{name}", data, pointing_at(graph.labels))
        assert main(["predict", str(folder)]) == 0
        written.append((folder / "predictions.csv").read_text())
    assert written[0] == written[1] and written[0].count("\n") == 31
    assert (
        "30 train, 30 validation, 30 test (its own split); learned from 60 "
        in capsys.readouterr().out
    )


def test_a_graph_that_has_changed_is_refused(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = run.parent / "data" / "nodes.csv"
    text = data.read_text()
    try:
        data.write_text(text + "\nnew,,30.5,0.5")
        assert main(["predict", str(run)]) == 2
    finally:
        data.write_text(text)
    told = capsys.readouterr().err
    assert "1 new nodes, 0 gone" in told and "dgb embed" in told


@pytest.mark.parametrize("target", ["", "all"])
def test_several_types_of_nodes(
    tmp_path: Path, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = Path(__file__).parent.parent / "examples" / "library"
    library = load_hetero(data, label="field")
    assert library.labels is not None
    count = library.num_nodes if target else len(library.labels)
    rows = target_rows(library, load_recipe("paper", [f"data.target={target}"]))
    z = np.zeros((count, 8))
    z[rows] = pointing_at(library.labels)
    run = make_run(tmp_path / "run", data, z, "data.label=field", f"data.target={target}")
    assert main(["predict", str(run), "--all"]) == 0
    assert "learned from" in capsys.readouterr().out
    found = read_rows(run / "predictions.csv")
    assert list(found) == [f"paper:{i}" if target else i for i in library.nodes["paper"].node_ids]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda g: g, "90 of 90 nodes: 30 train, 30 validation, 30 test (its own split)"),
        (lambda g: replace(g, labels=None, splits=()), "0 of 90 nodes"),
        (lambda g: replace(g, splits=()), "90 of 90 nodes: 9 train, 9 validation, 72 test"),
        (lambda g: replace(g, splits=g.splits * 4), "(split 3 of 4)"),
        (lambda g: replace(g, labels=_first(g, 9), splits=()), "9 of 90 nodes, too few"),
        (lambda g: replace(g, splits=(_without_test(g),)), "0 test, 30 unused"),
    ],
)
def test_it_is_said_what_labels_are_used_for(
    change: Callable[[Graph], Graph], line: str, blocks: Graph
) -> None:
    assert line in describe_labels(change(blocks), 2)


def _first(graph: Graph, count: int) -> Array:
    assert graph.labels is not None
    return np.where(np.arange(graph.num_nodes) < count, graph.labels, -1)


def _without_test(graph: Graph) -> Split:
    split = graph.splits[0]
    return replace(split, test=split.test[:0])


@pytest.mark.parametrize(
    ("names", "is_so"),
    [
        ([f"{i}.5" for i in range(30)], True),
        ([str(i) for i in range(30)], False),  # of 90 nodes: may be codes
        ([str(i) for i in range(80)], True),
        ([f"{i}.5" for i in range(10)], False),
        ([f"class {i}" for i in range(80)], False),
        (["nan", *(f"{i}.5" for i in range(30))], False),
    ],
)
def test_numbers_are_known_from_names_of_classes(
    names: list[str], is_so: bool, blocks: Graph
) -> None:
    labels = np.arange(90) % len(names)
    assert are_numbers(replace(blocks, labels=labels, label_names=tuple(names))) is is_so
