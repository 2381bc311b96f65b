"""`dgb update`: a run goes on with a new version of its graph, and everything works on it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dgb.cli import main
from dgb.data.formats.npz import write_npz
from dgb.evaluate.drift import cosines
from dgb.files.tensors import read_tensors
from dgb.recipe import Recipe
from dgb.run import folder as files
from dgb.run.vectors import read_embeddings
from dgb.train.monitor import read_metrics
from tests.conftest import make_blocks, take_nodes
from tests.hetero import make_library, write_library

SMALL = "encoder.width=8 heads.hidden=8 heads.width=8 train.epochs=30 train.learning_rate=0.01"
HOPS = (
    "encoder.hops=[1,2] encoder.norm=batch view1.augment=ed+nfd+adj view2.augment=in+adj "
    "links.weight=1 links.decoder=4 embed.blocks=learnt,diffused embed.normalise=rows "
    "embed.learnt_columns=10 embed.diffused_columns=12 embed.centre=true"
)


def sets(text: str) -> list[str]:
    return [word for pair in text.split() for word in ("--set", pair)]


def update(*words: str | Path) -> int:
    return main(["update", *map(str, words), "--no-report"])


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a graph, its later version (five gone, ten new), and a run on it."""
    folder, whole = tmp_path_factory.mktemp("update"), make_blocks(90)
    write_npz(folder / "graph.npz", take_nodes(whole, np.arange(80)))
    write_npz(folder / "later.npz", take_nodes(whole, np.arange(5, 90)[::-1]))
    write_npz(folder / "labelled.npz", whole)
    words = ["--recipe", "paper", *sets(f"{SMALL} {HOPS}"), "--no-report"]
    assert main(["train", str(folder / "graph.npz"), "--out", str(folder / "run"), *words]) == 0
    return folder


@pytest.fixture(scope="module")
def updated(data: Path) -> Path:
    assert update(data / "run", data / "later.npz", "--out", data / "updated") == 0
    return data / "updated"


def read_scores(folder: Path) -> dict[str, Any]:
    scores: dict[str, Any] = json.loads((folder / files.SCORES).read_text())
    return scores


def test_nodes_come_and_go_and_the_others_keep_their_axes(data: Path, updated: Path) -> None:
    ids, z = read_embeddings(updated / files.EMBEDDINGS)
    known, before = read_embeddings(data / "run" / files.EMBEDDINGS)
    assert ids.tolist() == [f"paper-{i}" for i in range(89, 4, -1)]
    assert len(read_metrics(updated)) == 5  # a sixth of 30
    kept = z[10:][::-1]
    assert known[5:].tolist() == ids[10:][::-1].tolist()
    assert np.median(cosines(kept, before[5:])) > 0.97
    one, other = (
        read_tensors(folder / "model.safetensors")[0] for folder in (data / "run", updated)
    )
    assert (one["directions"] == other["directions"]).all()
    assert (one["mean_diffused"] == other["mean_diffused"]).all()
    # What is taken away from H is the same, in axes that are turned.
    before_it, after_it = (of["axes"] @ of["mean_learnt"] for of in (one, other))
    np.testing.assert_allclose(before_it, after_it, atol=1e-5)
    assert np.abs(before_it.numpy()).max() > 0.01
    assert not (one["weights.0"] == other["weights.0"]).all()


def test_the_drift_lists_every_node(updated: Path, data: Path) -> None:
    drift = read_scores(updated)["drift"]
    assert (drift["kept"], drift["new"], drift["gone"]) == (75, 10, 5)
    assert drift["run"] == str(data / "run") and drift["noise"] > 0
    frame = pd.read_csv(updated / "drift.csv").set_index("node_id")
    assert frame.state.value_counts().to_dict() == {"kept": 75, "new": 10, "gone": 5}
    assert frame.loc["paper-2", "state"] == "gone" and frame.loc["paper-85", "state"] == "new"
    kept = frame[frame.state == "kept"]
    assert kept.angle.is_monotonic_decreasing and (kept.times_noise > 1).sum() == drift["moved"]
    assert frame[frame.state == "new"].cluster.notna().all()
    assert sum(of["before"] for of in drift["clusters"]) == 80
    assert sum(of["after"] for of in drift["clusters"]) == 85


def test_other_verbs_take_the_new_run_for_any_run(
    updated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, again = str(updated), tmp_path / "again.parquet"
    assert main(["neighbors", run, "paper-89", "-k", "3", "--why"]) == 0
    assert (
        main(["links", run, "--node", "paper-89", "-k", "2", "--out", str(tmp_path / "l.csv")]) == 0
    )
    assert "held out" in capsys.readouterr().out
    assert main(["export", run, "--to", "csv", "--out", str(tmp_path / "z.csv")]) == 0
    assert main(["report", run]) == 0
    assert main(["embed", run, "--out", str(again)]) == 0
    np.testing.assert_array_equal(
        read_embeddings(again)[1], read_embeddings(updated / files.EMBEDDINGS)[1]
    )


def test_without_training_it_embeds_and_labels_are_scored_next_to_the_model_before(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, graph, out = data / "run", data / "labelled.npz", tmp_path / "out"
    assert update(run, graph, "--out", out, "--set", "train.epochs=0") == 0
    text = capsys.readouterr().out
    assert "DGB before" in text and "untrained" not in text
    assert "drift from" in text and "moved beyond the noise" in text
    embedded = tmp_path / "embedded.parquet"
    assert main(["embed", str(run), str(graph), "--out", str(embedded)]) == 0
    z = read_embeddings(out / files.EMBEDDINGS)[1]
    # But for the statistics of BatchNorm, which are those of the new graph.
    assert np.median(cosines(z, read_embeddings(embedded)[1])) > 0.99
    scores = read_scores(out)
    assert set(scores["start"]) == set(scores["dgb"])
    assert main(["predict", str(out), "--all", "--out", str(tmp_path / "p.csv")]) == 0
    assert main(["report", str(out)]) == 0
    assert "the model before this update" in (out / "report.html").read_text("utf-8")


def test_an_update_of_an_update_is_as_long_as_the_first(
    updated: Path, data: Path, tmp_path: Path
) -> None:
    assert update(updated, data / "graph.npz", "--out", tmp_path / "next") == 0
    recipes: list[Recipe] = [files.read_recipe(folder) for folder in (updated, tmp_path / "next")]
    assert recipes[0].train == recipes[1].train
    origin = files.read_origin(tmp_path / "next")
    assert origin is not None and (origin.run, origin.epochs) == (str(updated), 30)


def test_stopped_it_resumes_to_the_same_bits(
    data: Path, updated: Path, tmp_path: Path, ctrl_c_in_epoch_3: list[int]
) -> None:
    out = tmp_path / "stopped"
    assert update(data / "run", data / "later.npz", "--out", out) == 130
    assert main(["train", "--resume", str(out), "--no-report"]) == 0
    assert len(ctrl_c_in_epoch_3) == 5
    for name in (files.EMBEDDINGS, "drift.csv", "model.safetensors"):
        assert (out / name).read_bytes() == (updated / name).read_bytes()


@pytest.mark.usefixtures("ctrl_c_in_epoch_3")
def test_resumed_without_the_run_before_it_is_refused(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "stopped"
    assert update(data / "run", data / "later.npz", "--out", out) == 130
    text = (out / "update.toml").read_text()
    (out / "update.toml").write_text(text.replace("model = ", 'model = "another"\n# '))
    assert main(["train", "--resume", str(out)]) == 2
    assert "is gone or another; bring it back" in capsys.readouterr().err
    (out / "update.toml").write_text("run = [")
    assert main(["train", "--resume", str(out)]) == 2
    assert "update.toml: cannot be read" in capsys.readouterr().err


def test_what_cannot_be_updated_is_refused_before_a_folder_is_made(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, whole, out = data / "run", make_blocks(90), tmp_path / "out"
    others = np.array([f"other-{i}" for i in range(90)], object)
    write_npz(tmp_path / "others.npz", replace(whole, node_ids=others))
    write_npz(tmp_path / "columns.npz", replace(whole, x=whole.x[:, :50]))
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun" / "recipe.toml").write_text((run / "recipe.toml").read_text())
    write_library(tmp_path / "library", make_library())
    cases: dict[str, list[Any]] = {
        "it is no new version of its graph": [run, tmp_path / "others.npz"],
        "50 feature columns, but the model was trained on 60": [run, tmp_path / "columns.npz"],
        "has no embeddings.parquet; an update starts from a run that": [tmp_path / "begun"],
        "holds no model of such a graph": [run, tmp_path / "library"],
        "an update keeps the model": [run, "--set", "encoder.width=9"],
    }
    for message, words in cases.items():
        assert update(*words, "--out", out) == 2
        assert message in capsys.readouterr().err
        assert not out.exists()


def test_a_training_into_a_folder_that_an_update_left_begins_from_the_beginning(
    tmp_path: Path,
) -> None:
    (tmp_path / "update.toml").write_text('run = "x"')  # killed before it wrote its recipe
    files.make_folder(tmp_path, Recipe())
    assert files.read_origin(tmp_path) is None


def test_several_types_of_nodes(tmp_path: Path) -> None:
    for name, papers in (("library", 60), ("more", 66)):
        write_library(tmp_path / name, make_library(papers), has_labels=False)
    words = [*sets(f"{SMALL} data.target=paper"), "--no-report", "--out", str(tmp_path / "run")]
    assert main(["train", str(tmp_path / "library"), *words]) == 0
    assert update(tmp_path / "run", tmp_path / "more", "--out", tmp_path / "updated") == 0
    drift = read_scores(tmp_path / "updated")["drift"]
    assert (drift["kept"], drift["new"], drift["gone"]) == (60, 6, 0)
