"""Links, outliers and reasons by the verbs, on a table with planted columns."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from dgb import neighbors
from dgb.cli import main
from dgb.evaluate import recommend
from dgb.run import vectors
from dgb.run.vectors import write_embeddings
from tests.conftest import make_blocks
from tests.test_predict import make_run, pointing_at, write_graph


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run on blocks with a city and an income each; two nodes have another block's."""
    folder, graph = tmp_path_factory.mktemp("decisions"), make_blocks(90)
    assert graph.labels is not None
    rng = np.random.default_rng(0)
    told = graph.labels.copy()
    degrees = np.diff(graph.adjacency.indptr)
    odd = np.argsort(-degrees)[:2]
    told[odd] = (told[odd] + 1) % 3
    income = (1000 * (3 + 5 * told) + 300 * rng.normal(size=90)).round(2)
    city = np.array(["Oslo", "Rome", "Lima"])[told]
    team = np.array(["red", "green", "blue"])[graph.labels]
    note = [f"{('ships', 'bread', 'music')[t]} and word{i}" for i, t in enumerate(told)]
    columns = {"city": city, "income": income, "note": np.array(note), "team": team}
    data = write_graph(folder / "data", graph, **columns)
    run = make_run(folder / "run", data, pointing_at(graph.labels), "data.label=team")
    (folder / "odd.json").write_text(json.dumps([f"paper-{i}" for i in odd]))
    return run


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_outliers_are_named_with_columns_and_neighbors(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["outliers", str(run), "-k", "2"]) == 0
    said = capsys.readouterr()
    planted = json.loads((run.parent / "odd.json").read_text())
    rows = read_rows(run / "outliers.csv")
    assert {row["node_id"] for row in rows[:2]} == set(planted)
    scores = [float(row["score"]) for row in rows]
    assert scores == sorted(scores, reverse=True) and scores[1] > 3 > scores[len(rows) // 10]
    assert np.median(scores) == pytest.approx(0, abs=0.01)
    assert "city=" in rows[0]["reason"] and "income" in rows[0]["reason"]
    assert rows[0]["reason"] in said.out and rows[0]["neighbors"] in said.out
    assert rows[2]["reason"] == "" and "note:" not in said.err
    alone = make_blocks(90)
    without = int((np.diff(alone.adjacency.indptr) == 0).sum())
    assert len(rows) == 90 - without


def test_links_are_new_pairs(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = make_blocks(90)
    assert graph.labels is not None
    assert main(["links", str(run), "-k", "2"]) == 0
    said = capsys.readouterr()
    assert "not measured" in said.err  # this run has no model
    place = {f"paper-{i}": i for i in range(90)}
    pairs = [(place[r["node_id"]], place[r["other_id"]]) for r in read_rows(run / "links.csv")]
    assert pairs and not any(graph.adjacency[a, b] for a, b in pairs)
    assert np.mean([graph.labels[a] == graph.labels[b] for a, b in pairs]) > 0.9
    assert main(["links", str(run), "--node", "paper-3", "--node", "paper-4", "-k", "1"]) == 0
    assert {row["node_id"] for row in read_rows(run / "links.csv")} <= {"paper-3", "paper-4"}
    assert main(["links", str(run), "--node", "papre-3"]) == 2
    assert "ids like it: paper-3" in capsys.readouterr().err
    assert main(["links", str(run), "-k", "0"]) == 2


def test_links_of_a_large_graph_say_that_not_all_pairs_were_compared(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["links", str(run), "-k", "2", "--no-check"]) == 0
    assert "approximate" not in capsys.readouterr().out
    for module in (neighbors, recommend):
        monkeypatch.setattr(module, "EXACT_NODES", 50)
    assert main(["links", str(run), "-k", "2", "--no-check"]) == 0
    # All rows lie around a cell here, so nothing is missed.
    assert "of some nodes' 2 best 100% are among the pairs" in capsys.readouterr().out
    assert main(["links", str(run), "--node", "paper-3"]) == 0
    said = capsys.readouterr()
    assert "ask without --node" in said.err and "approximate" not in said.out


def test_outliers_do_without_vectors(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "_read_vectors", lambda _: pytest.fail("vectors were read"))
    assert main(["outliers", str(run), "-k", "1"]) == 0
    assert "score" in capsys.readouterr().out


def test_links_are_checked_by_edges_held_out(
    tmp_path: Path, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = ["train.epochs=2", "encoder.width=8", "heads.hidden=8", "heads.width=8"]
    small += ["links.weight=1", "view1.augment=ed+nfd+adj", "embed.blocks=learnt,diffused"]
    sets = [word for key in small for word in ("--set", key)]
    folder = str(tmp_path / "run")
    data = str(run.parent / "data")
    words = ["train", data, "--label", "team", "--recipe", "paper", "--out", folder]
    assert main([*words, *sets]) == 0
    assert "labels: 90 of 90 nodes: 9 train" in capsys.readouterr().out
    assert main(["links", folder, "-k", "5", "--by", "decoder"]) == 0
    printed = capsys.readouterr().out
    assert "held out 20 edges: AUC 0." in printed and "by chance 5.62%" in printed
    assert "ranked by the decoder" in printed and "hits@5" in printed
    by_decoder = read_rows(Path(folder) / "links.csv")
    assert main(["links", folder, "-k", "5", "--no-check"]) == 0
    printed = capsys.readouterr().out
    assert "ranked by the vectors" in printed and "held out" not in printed
    assert read_rows(Path(folder) / "links.csv") != by_decoder
    decoder = Path(folder) / "decoder.safetensors"
    decoder.write_bytes(decoder.read_bytes()[:-4] + b"abcd")
    assert main(["links", folder, "--no-check", "--by", "decoder"]) == 2
    assert "damaged" in capsys.readouterr().err
    decoder.unlink()
    assert main(["links", folder, "--no-check", "--by", "decoder"]) == 2
    assert "train with links.weight above 0" in capsys.readouterr().err


def test_neighbors_say_what_they_share(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["neighbors", str(run), "paper-5", "-k", "4", "--why", "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    reasons = [reason for near in entry["neighbors"] for reason in near["why"]]
    assert any(reason.startswith("both city=") for reason in reasons)
    graph = make_blocks(90)
    dense = graph.adjacency.toarray() > 0
    for near in entry["neighbors"]:
        other = int(near["id"].removeprefix("paper-"))
        shared = int((dense[5] & dense[other]).sum())
        assert bool(shared) == any(r.startswith("common neighbors: ") for r in near["why"])
        assert bool(dense[5, other]) == ("joined by an edge" in near["why"])
    assert main(["neighbors", str(run), "paper-5", "-k", "1", "--why"]) == 0
    assert "    both city=" in capsys.readouterr().out
    assert main(["neighbors", str(run), "--all", "--why"]) == 2


def test_clusters_are_described_by_columns_and_labels(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cluster", str(run), "--clusters", "3", "--describe"]) == 0
    printed = capsys.readouterr().out
    for city, team in (("Oslo", "red"), ("Rome", "green"), ("Lima", "blue")):
        (line,) = [line for line in printed.splitlines() if f"label {team}" in line]
        assert f"city={city} " in line and "(all " in line
    assert "'music' in note" in printed  # though its column is one of 256 that are hashed to


def test_a_graph_without_features_has_neighbors_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\nc,d\n")
    run = make_run(tmp_path / "run", tmp_path / "edges.csv", np.eye(4, 3))
    write_embeddings(run / "embeddings.parquet", np.array(list("abcd")), np.eye(4, 3) + 0.1)
    assert main(["outliers", str(run)]) == 2
    assert "no features" in capsys.readouterr().err
    assert main(["neighbors", str(run), "a", "--why"]) == 0
    assert "common neighbors: b" in capsys.readouterr().out
    assert main(["cluster", str(run), "--clusters", "2", "--describe"]) == 0
    assert "no column that differs" in capsys.readouterr().out
