"""The command line on heterogeneous graphs: embed again and elsewhere, resume, look at a run."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet

from dgb.arrays import Array
from dgb.cli import main
from dgb.data.formats.npz import write_npz
from dgb.data.graph import Graph
from dgb.data.typed.graph import HeteroGraph
from tests.conftest import QUICK_PROBE
from tests.hetero import make_library, shuffle_nodes, write_library

SMALL = ["encoder.width=8", "heads.hidden=8", "heads.width=8", "train.epochs=4"]
SHORT = ["hetero.max_length=2", "probe.kind=linear", *QUICK_PROBE]
SETS = [word for setting in (*SMALL, *SHORT) for word in ("--set", setting)]


@pytest.fixture(scope="module")
def library() -> HeteroGraph:
    return make_library()


@pytest.fixture(scope="module")
def folder(library: HeteroGraph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(write_library(tmp_path_factory.mktemp("tables") / "library", library))


def train(graph: Path | str, run: Path, *words: str) -> Path:
    assert main(["train", str(graph), "--out", str(run), *SETS, *words]) == 0
    return run


@pytest.fixture(scope="module")
def runs(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a finished run of each kind of encoder."""
    place = tmp_path_factory.mktemp("runs")
    return {name: train(folder, place / name, "--recipe", name) for name in ("hetero", "relations")}


def vectors(path: Path) -> tuple[list[object], Array]:
    table = parquet.read_table(path)
    return table["node_id"].to_pylist(), np.array(table["embedding"].to_pylist(), np.float32)


def embedded(run: Path, graph: Path | str, out: Path, *words: str) -> tuple[list[object], Array]:
    assert main(["embed", str(run), str(graph), "--out", str(out), *words]) == 0
    return vectors(out)


def copied(folder: Path, to: Path) -> Path:
    return Path(shutil.copytree(folder, to))


def change(path: Path, **columns: object) -> None:
    frame = pd.read_csv(path)
    frame.assign(**columns).to_csv(path, index=False)


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ("hetero", []),
        ("hetero", ["--set", "hetero.encoder=union", "--set", "embed.operator=adj+diff"]),
        ("hetero", ["--set", "hetero.materialise=true"]),
        ("hetero", ["--set", "data.target=venue", "--set", "data.structure=learnt"]),
        ("relations", []),
        ("relations", ["--set", "data.target=all", "--set", "data.structure=learnt"]),
    ],
)
def test_a_run_embeds_its_own_graph_as_it_did(
    recipe: str, words: list[str], folder: Path, tmp_path: Path
) -> None:
    run = train(folder, tmp_path / "run", "--recipe", recipe, *words)
    ids, z = vectors(run / "embeddings.parquet")
    assert main(["embed", str(run), "--out", str(tmp_path / "z.parquet")]) == 0
    again_ids, again = vectors(tmp_path / "z.parquet")
    assert again_ids == ids and len(ids) == len(z) > 5
    np.testing.assert_array_equal(again, z)


@pytest.mark.parametrize("operator", ["adj", "diff"])
def test_another_operator_is_taken_by_meta_paths(
    operator: str, runs: dict[str, Path], folder: Path, tmp_path: Path
) -> None:
    words = ["--operator", operator]
    _, z = embedded(runs["hetero"], folder, tmp_path / "z.parquet", *words)
    other = "diff" if operator == "adj" else "adj"
    _, rest = embedded(runs["hetero"], folder, tmp_path / "o.parquet", "--operator", other)
    _, own = vectors(runs["hetero"] / "embeddings.parquet")  # the recipe's: the sum of both
    np.testing.assert_allclose(z + rest, own, atol=1e-5)
    assert not np.allclose(z, rest)
    relations = ["embed", str(runs["relations"]), "--out", str(tmp_path / "r.parquet"), *words]
    assert main(relations) == (0 if operator == "adj" else 2)


@pytest.mark.parametrize("recipe", ["hetero", "relations"])
def test_order_of_nodes_columns_and_files_does_not_matter(
    recipe: str, runs: dict[str, Path], library: HeteroGraph, tmp_path: Path
) -> None:
    order = np.random.default_rng(3).permutation(90)
    other = Path(write_library(tmp_path / "other", shuffle_nodes(library, "author", order)))
    for name in ("paper", "author"):
        frame = pd.read_csv(other / "nodes" / f"{name}.csv")
        frame[frame.columns[::-1]].to_csv(other / "nodes" / f"{name}.csv", index=False)
    # From the other end, and so at another place among the relations.
    edges = other / "edges" / "paper-written-author.csv"
    frame = pd.read_csv(edges).rename(columns={"source": "target", "target": "source"})
    frame[["source", "target"]].to_csv(other / "edges" / "author-written-paper.csv", index=False)
    edges.unlink()
    ids, z = embedded(runs[recipe], other, tmp_path / "z.parquet")
    own_ids, own = vectors(runs[recipe] / "embeddings.parquet")
    assert ids == own_ids
    np.testing.assert_allclose(z, own, atol=1e-5)


@pytest.mark.parametrize("recipe", ["hetero", "relations"])
def test_new_papers_without_labels_are_read_by_the_scales_of_the_run(
    recipe: str, runs: dict[str, Path], tmp_path: Path
) -> None:
    new = Path(write_library(tmp_path / "new", make_library(60, seed=5), has_labels=False))
    ids, z = embedded(runs[recipe], new, tmp_path / "z.parquet")
    assert len(ids) == 60 and z.shape == (60, 8) and np.isfinite(z).all()
    # Scaled by their own values, years that are all later would become the same columns again.
    change(new / "nodes" / "paper.csv", year=pd.read_csv(new / "nodes" / "paper.csv")["year"] + 50)
    _, later = embedded(runs[recipe], new, tmp_path / "later.parquet")
    assert not np.allclose(later, z, atol=1e-3)
    change(new / "nodes" / "paper.csv", kind="sculpture")  # of which the run has no column
    embedded(runs[recipe], new, tmp_path / "unseen.parquet")


def test_a_column_of_labels_that_the_run_was_told_of_may_be_missing(
    library: HeteroGraph, folder: Path, tmp_path: Path
) -> None:
    run = train(folder, tmp_path / "run", "--label", "label")
    bare = write_library(tmp_path / "bare", library, has_labels=False)
    _, z = embedded(run, bare, tmp_path / "z.parquet")
    np.testing.assert_allclose(z, vectors(run / "embeddings.parquet")[1], atol=1e-5)


def test_what_another_graph_lacks_is_told(
    runs: dict[str, Path], folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"

    def told(run: Path) -> str:
        capsys.readouterr()
        assert main(["embed", str(run), str(other), "--out", str(tmp_path / "z.parquet")]) == 2
        shutil.rmtree(other)
        return capsys.readouterr().err

    copied(folder, other)
    (other / "nodes" / "venue.csv").unlink()
    (other / "edges" / "venue-prints-paper.csv").unlink()
    assert "no nodes of type venue" in told(runs["hetero"])
    copied(folder, other)
    (other / "edges" / "venue-prints-paper.csv").unlink()
    assert "no relation venue-prints-paper" in told(runs["relations"])
    copied(folder, other)
    frame = pd.read_csv(other / "nodes" / "author.csv")
    frame.drop(columns="word3").to_csv(other / "nodes" / "author.csv", index=False)
    assert "word3" in told(runs["relations"])
    copied(folder, other)
    (other / "nodes" / "author.csv").unlink()
    assert "type author have no features" in told(runs["relations"])


def test_meta_paths_need_no_columns_of_other_types(
    runs: dict[str, Path], folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = copied(folder, tmp_path / "other")
    (other / "nodes" / "author.csv").write_text("id\n" + "\n".join(f"a{i}" for i in range(90)))
    (other / "edges" / "paper-funder.csv").write_text("source,target\n1000,f1\n1001,f1\n")
    capsys.readouterr()
    _, z = embedded(runs["hetero"], other, tmp_path / "z.parquet")
    assert "does not know were left out: funder" in capsys.readouterr().err
    np.testing.assert_allclose(z, vectors(runs["hetero"] / "embeddings.parquet")[1], atol=1e-5)


def test_vectors_that_were_learnt_are_of_the_run_s_own_graph(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--recipe", "relations", "--set", "data.structure=learnt"]
    run = train(folder, tmp_path / "run", *words)
    other = copied(folder, tmp_path / "other")
    prints = other / "edges" / "venue-prints-paper.csv"
    pd.read_csv(prints).iloc[1:].to_csv(prints, index=False)
    assert main(["embed", str(run), str(other), "--out", str(tmp_path / "z.parquet")]) == 2
    assert "vectors of the nodes of its own graph" in capsys.readouterr().err


def test_runs_of_one_type_and_of_several_are_told_apart(
    runs: dict[str, Path],
    blocks: Graph,
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    graph, out = tmp_path / "blocks.npz", ["--out", str(tmp_path / "z.parquet")]
    write_npz(graph, blocks)
    run = train(graph, tmp_path / "run")
    capsys.readouterr()
    assert main(["embed", str(run), str(folder), *out]) == 2
    assert "holds no model of such a graph" in capsys.readouterr().err
    assert main(["embed", str(runs["hetero"]), str(graph), *out]) == 2
    assert "not a heterogeneous graph" in capsys.readouterr().err
    wish = ["--set", "data.target=author"]
    assert main(["embed", str(runs["hetero"]), str(folder), *wish, *out]) == 2
    assert "trained already" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["types = ", 'target = "paper"', 'target = "x"\nrelations = []'])
def test_a_broken_schema_is_named(
    text: str, runs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = copied(runs["hetero"], tmp_path / "run")
    (run / "schema.toml").write_text(text)
    assert main(["embed", str(run)]) == 2
    assert "schema.toml" in capsys.readouterr().err


def test_weights_of_another_recipe_are_refused(
    runs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = copied(runs["hetero"], tmp_path / "run")
    shutil.copy(runs["relations"] / "model.safetensors", run)
    assert main(["embed", str(run)]) == 2
    assert "does not fit" in capsys.readouterr().err


@pytest.mark.parametrize("recipe", ["hetero", "relations"])
def test_ctrl_c_leaves_a_run_that_resumes_to_the_same_vectors(
    recipe: str,
    folder: Path,
    tmp_path: Path,
    ctrl_c_in_epoch_3: list[int],
    capsys: pytest.CaptureFixture[str],
) -> None:
    cut, whole = tmp_path / "cut", tmp_path / "whole"
    words = ["--recipe", recipe]
    words += ["--set", "view1.way_drop_rate=0.3"] if recipe == "hetero" else []
    assert main(["train", str(folder), "--out", str(cut), *SETS, *words]) == 130
    assert f"dgb train --resume {cut}" in capsys.readouterr().err
    assert main(["embed", str(cut)]) == 2
    assert "not finished" in capsys.readouterr().err
    assert main(["train", "--resume", str(cut)]) == 0
    assert len(ctrl_c_in_epoch_3) == 4  # three epochs before and one after
    train(folder, whole, *words)
    first, second = (vectors(run / "embeddings.parquet")[1] for run in (whole, cut))
    np.testing.assert_array_equal(first, second)
    for name in ("recipe.toml", "schema.toml"):
        assert (cut / name).read_text() == (whole / name).read_text()


def test_runs_are_looked_at_also_where_all_types_are_embedded(
    library: HeteroGraph, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--recipe", "relations", "--set", "data.target=all"]
    run = train(folder, tmp_path / "run", *words)
    ids, z = vectors(run / "embeddings.parquet")
    expected = {f"{kind}:{i}" for kind, nodes in library.nodes.items() for i in nodes.node_ids}
    assert set(ids) == expected and len(ids) == len(expected) == len(z)
    assert json.loads((run / "scores.json").read_text())["dgb"]["probe"]["test"] > 0
    capsys.readouterr()
    assert main(["neighbors", str(run), "venue:v1", "paper:1003", "-k", "2", "--json"]) == 0
    venue, paper = json.loads(capsys.readouterr().out)
    assert (venue["label"], paper["label"]) == ("venue", "paper")
    unit = z / np.linalg.norm(z, axis=1, keepdims=True)
    row = ids.index("venue:v1")
    nearest = [ids[i] for i in np.argsort(-(unit @ unit[row])) if i != row]
    assert [near["id"] for near in venue["neighbors"]] == nearest[:2]
    assert main(["cluster", str(run), "--clusters", "3"]) == 0
    assert set(pd.read_csv(run / "clusters.csv")["node_id"]) == expected
    (run / "report.html").unlink()
    assert main(["report", str(run)]) == 0 and (run / "report.html").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["compare", "--methods", "gcn"], "it needs a graph of one node type"),
        (["train", "--engine", "ray"], "--engine ray is for graphs of one node type"),
        (["train", "--set", "hetero.encoder=relations"], "goes over adj alone"),
        (["train", "--set", "view1.types=venu.nfd=0.3"], "did you mean 'venue'"),
        (["train", "--set", "hetero.metapaths=paper-venue"], "must lead from paper to paper"),
    ],
)
def test_what_is_refused_is_told_and_leaves_nothing(
    words: list[str],
    message: str,
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dgb.ray.cluster.import_ray", lambda: None)
    verb, *options = words
    assert main([verb, str(folder), *options, "--out", str(tmp_path / "out")]) == 2
    assert message in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_all_types_are_embedded_without_labels_to_choose_one_by(
    library: HeteroGraph, tmp_path: Path
) -> None:
    bare = replace(library, labels=None, splits=())
    graph = write_library(tmp_path / "bare", bare, has_labels=False)
    assert main(["train", graph, "--recipe", "relations", "--out", str(tmp_path / "no")]) == 2
    words = ["--recipe", "relations", "--set", "data.target=all"]
    run = train(graph, tmp_path / "run", *words)
    assert len(vectors(run / "embeddings.parquet")[0]) == 186
