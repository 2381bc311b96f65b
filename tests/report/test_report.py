"""The page of a run: whole, escaped, small, the same twice, and honest on what is missing."""

import base64
import json
import os
import re
import shlex
from argparse import Namespace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dgb.cli import make_parser
from dgb.commands import report
from dgb.cookbook import load_recipe, recipe_hash, to_toml
from dgb.errors import DGBError
from dgb.files.atomic import append_line, read_lines, rewrite_lines, write_json, write_text
from dgb.report.map import SHOWN, pack_map
from dgb.report.page import write_report
from dgb.report.recipe import train_command
from dgb.run.folder import read_recipe
from tests.report.conftest import (
    HOSTILE,
    LABELS,
    make_map,
    make_run,
    metrics,
    scores,
    with_columns,
    write_map,
)


def page_of(folder: Path, comparison: Path | None = None) -> str:
    path = write_report(folder, comparison)
    assert path == folder / "report.html"
    return path.read_text("utf-8")


def data_of(page: str) -> dict[str, Any]:
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    data: dict[str, Any] = json.loads(text)
    return data["map"]  # type: ignore[no-any-return]


def unpacked(packed: dict[str, str]) -> Any:
    return np.frombuffer(base64.b64decode(packed["base64"]), packed["type"])


def test_a_page_has_every_part_and_fetches_nothing(run: Path, comparison: Path) -> None:
    page = page_of(run, comparison)
    for words in (
        "80.8 %",
        "untrained GCN",
        "raw features",
        "75.9",
        "60.5",
        "0.52",
        "not measured",
    ):
        assert words in page
    for title in ("Map", "Numbers", "Training", "confused", "Systems on blocks", "Recipe", "again"):
        assert re.search(rf"<h2[^>]*>[^<]*{title}", page)
    assert "default-src 'none'" in page
    assert "://" not in page and "src=" not in page.split("<script", 1)[0]
    assert not list(run.glob("*.part"))


def test_shares_of_meta_paths_that_are_even_are_said_to_be(run: Path) -> None:
    for shares, is_even in (((0.36, 0.33, 0.31), True), ((0.5, 0.3, 0.2), False)):
        attention = dict(zip(("a-b-a", "a-c-a", "a-d-a"), shares, strict=True))
        write_json(run / "scores.json", scores(LABELS) | {"attention": attention})
        assert ("Nearly 33 % each" in page_of(run)) == is_even


def test_the_head_of_the_confusion_is_as_high_as_its_names(run: Path) -> None:
    assert f'<table class="heat" style="--letters:{max(map(len, LABELS))}">' in page_of(run)


@pytest.mark.parametrize(
    ("recipe", "overrides", "meaning"),
    [
        ("paper", [], "Eq. 10, from 0 (the views agree) to 8"),
        ("paper", ["train.ways=1"], "Eq. 10, from 0 (the views agree) to 4"),
        ("paper", ["train.bootstrap=0.5"], "0.5 × (Eq. 10, from 0 (the views agree) to 8)"),
        (
            "default",
            ["links.weight=1", "train.bootstrap=0"],
            "links, cross-entropy of hidden edges (0.69: chance)",
        ),
        (
            "default",
            ["links.weight=2", "train.bootstrap=0.5", "train.ways=1"],
            "0.5 × (Eq. 10, from 0 (the views agree) to 4) + "
            "2 × (links, cross-entropy of hidden edges (0.69: chance))",
        ),
    ],
)
def test_a_page_says_which_loss_was_trained(
    run: Path, recipe: str, overrides: list[str], meaning: str
) -> None:
    write_text(run / "recipe.toml", to_toml(load_recipe(recipe, overrides)))
    assert f"<figcaption>{meaning}</figcaption>" in page_of(run)


def test_a_page_shows_that_it_is_being_written(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_report(run)
    assert "report:" in capsys.readouterr().err


def test_the_same_folder_gives_the_same_page(run: Path) -> None:
    assert page_of(run) == page_of(run)


def test_what_users_name_is_never_markup(run: Path) -> None:
    named = scores(LABELS) | {"graph": HOSTILE, "machine": HOSTILE}
    write_json(run / "scores.json", named)
    page = page_of(run)
    assert "<img" not in page and "<b>both</b>" not in page
    assert "&lt;b&gt;both&lt;/b&gt;" in page  # in the confusion matrix
    assert data_of(page)["ids"][0] == HOSTILE
    assert page.count("</script>") == 2  # the data's and the script's


def test_the_map_keeps_places_neighbors_and_names(run: Path) -> None:
    table, drawn = make_map(60, LABELS), pack_map(run / "map.parquet")
    assert drawn is not None and drawn["nodes"] == drawn["count"] == 60
    xy = np.stack([table["x"].to_numpy(), table["y"].to_numpy()], axis=1)
    places = unpacked(drawn["places"]).reshape(-1, 2).astype(float)
    assert places.min() == 0 and places.max() == 65535
    size = np.ptp(xy, axis=0).max()
    error = (places - places.mean(0)) / 65535 * size - (xy - xy.mean(0))
    assert np.abs(error).max() < 1e-3 * size  # one scale for both axes
    near = unpacked(drawn["neighbors"]).reshape(60, drawn["width"])
    assert near.tolist() == table["neighbors"].to_pylist()
    similarity = drawn["similarity"]
    values = similarity["low"] + similarity["step"] * unpacked(similarity["values"])
    assert np.allclose(values.reshape(60, -1), table["similarity"].to_pylist(), atol=1e-4)
    codes, names = unpacked(drawn["label"]["codes"]), drawn["label"]["names"]
    assert [names[c - 1] if c else None for c in codes] == table["label"].to_pylist()


def test_whole_numbers_beyond_double_precision_stay_exact(run: Path) -> None:
    table = make_map(2, LABELS).drop_columns("node_id")
    table = table.append_column("node_id", pa.array([2**53, 2**53 + 1]))
    write_map(run, table)
    assert data_of(page_of(run))["ids"] == ["9007199254740992", "9007199254740993"]


def test_classes_are_in_the_order_that_people_count_in(run: Path) -> None:
    write_map(run, make_map(40, ["class 10", "class 2", "b", "007", "7", "²"]))
    names = data_of(page_of(run))["label"]["names"]
    assert names == ["007", "7", "b", "class 2", "class 10", "²"]


def test_short_and_long_lists_of_neighbors(run: Path) -> None:
    table = make_map(3, LABELS).drop_columns(["neighbors", "similarity"])
    lists = [[], [0], [0, 1] * SHOWN]
    table = table.append_column("neighbors", pa.array(lists, pa.list_(pa.int32())))
    near = [[0.5] * len(own) for own in lists]
    write_map(run, table.append_column("similarity", pa.array(near, pa.list_(pa.float32()))))
    drawn = data_of(page_of(run))
    rows = unpacked(drawn["neighbors"]).reshape(3, SHOWN)
    assert rows[0].tolist() == [0] * SHOWN  # the node itself: no neighbor
    assert rows[1].tolist() == [0] + [1] * (SHOWN - 1)
    assert rows[2].tolist() == ([0, 1] * SHOWN)[:SHOWN]


def test_all_nodes_in_one_place_without_labels(run: Path) -> None:
    table = make_map(5, LABELS)
    for name, values in (
        ("x", pa.array([1.0] * 5, pa.float32())),
        ("y", pa.array([2.0] * 5, pa.float32())),
        ("label", pa.nulls(5, pa.string())),
        ("predicted", pa.nulls(5, pa.string())),
    ):
        table = table.set_column(table.column_names.index(name), name, values)
    write_map(run, table)
    assert data_of(page_of(run))["label"]["names"] == []


def test_twenty_thousand_nodes_are_less_than_two_megabytes(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "large", 20_000, [f"class {i}" for i in range(40)])
    assert write_report(folder).stat().st_size < 2_000_000


def test_a_map_of_an_earlier_version_is_drawn(run: Path) -> None:
    table = make_map(60, LABELS)
    old = ["neighbours" if name == "neighbors" else name for name in table.column_names]
    drawn = pack_map(run / "map.parquet")
    write_map(run, table.rename_columns(old))
    assert pack_map(run / "map.parquet") == drawn


@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        ("x", pa.array([np.nan] * 60, pa.float32()), "finite"),
        ("neighbors", pa.array([[60] * 8] * 60, pa.list_(pa.int32())), "not rows of it"),
        ("neighbors", pa.array([[1]] * 60, pa.list_(pa.int32())), "not rows of it"),
    ],
)
def test_a_map_that_cannot_be_drawn_is_refused(
    run: Path, column: str, values: Any, said: str
) -> None:
    table = make_map(60, LABELS)
    write_map(run, table.set_column(table.column_names.index(column), column, values))
    with pytest.raises(DGBError, match=said):
        write_report(run)


def test_damaged_files_are_said_by_name(run: Path) -> None:
    write_map(run, make_map(60, LABELS).drop_columns("degree"))
    with pytest.raises(DGBError, match=r"map.parquet is not a map of a run: it lacks degree"):
        write_report(run)
    write_text(run / "map.parquet", "no Parquet")
    with pytest.raises(DGBError, match=r"cannot read .*map\.parquet"):
        write_report(run)
    write_json(run / "scores.json", {"dgb": {}})
    write_map(run, make_map(60, LABELS))
    with pytest.raises(DGBError, match=r"scores\.json is not as"):
        write_report(run)
    write_text(run / "scores.json", "{")
    with pytest.raises(DGBError, match=r"scores\.json is damaged"):
        write_report(run)


def test_an_unfinished_run_shows_what_there_is(run: Path) -> None:
    (run / "scores.json").unlink()
    (run / "map.parquet").unlink()
    rewrite_lines(run / "metrics.jsonl", metrics(3))
    page = page_of(run)
    assert "3 of 12 epochs" in page and "dgb train --resume" in page
    assert "drawn when the run is finished" in page and "<canvas" not in page
    assert "Loss" in page and ">Numbers<" not in page


def test_a_run_before_maps_and_labels(run: Path) -> None:
    (run / "map.parquet").unlink()
    known = scores(LABELS)
    write_json(run / "scores.json", {k: known[k] for k in ("graph", "seconds", "effective_rank")})
    (run / "metrics.jsonl").unlink()
    page = page_of(run)
    assert "train again with the command below" in page and "Effective rank" in page
    assert "Test accuracy" not in page and "<polyline" not in page


def test_f1_and_area_are_told_where_the_probe_has_them(run: Path) -> None:
    assert "Macro-F1" not in page_of(run)
    known = scores(LABELS)
    known["dgb"]["probe"] |= {"macro_f1": 0.8953, "micro_f1": 0.808, "auc": 0.9712}
    write_json(run / "scores.json", known)
    assert "chosen on validation nodes; Macro-F1 89.5 %, AUC 97.1 %" in page_of(run)


def test_a_sample_is_called_one(run: Path) -> None:
    write_map(run, make_map(60, LABELS), nodes=169_343)
    page = page_of(run)
    assert "169,343 nodes" in page and data_of(page)["count"] == 60


def test_a_loss_that_is_no_number_is_left_out(run: Path) -> None:
    append_line(run / "metrics.jsonl", {"epoch": 13, "loss": float("nan"), "seconds": 0.1})
    page = page_of(run)
    assert "at epoch 12" in page and "nan" not in page.split('<script type="application/json"')[0]


def test_long_trainings_are_thinned_out_but_end_where_they_end(run: Path) -> None:
    rewrite_lines(run / "metrics.jsonl", metrics(5001))
    (first, *_) = re.findall(r'data-values="([^"]*)"', page_of(run))
    points = json.loads(unescape(first))
    assert len(points) <= 401 and points[0][0] == 1 and points[-1][0] == 5001


def test_few_points_are_numbers_and_axes_begin_at_nothing(run: Path) -> None:
    page = page_of(run)
    assert page.count("<polyline") == 1  # rank and spread were measured three times
    assert "<b>0.9</b> at epoch 1, <b>0.9</b> at epoch 6, <b>0.9</b> at epoch 11" in page
    rewrite_lines(run / "metrics.jsonl", metrics(60))
    drawn = page_of(run).split("Rank in training by epoch")[1].split("</figure>")[0]
    assert re.findall(r">([0-9.]+)</text>", drawn)[0] == "0"


def test_a_split_is_not_called_split_twice(run: Path) -> None:
    known = scores(LABELS)
    for name, said in (("random split", "; random split"), ("5%", "; split 5%")):
        known["dgb"]["probe"]["split"] = name
        write_json(run / "scores.json", known)
        page = page_of(run)
        assert said in page and "split random split" not in page


def test_columns_of_twenty_thousand_nodes_keep_the_page_small(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "large", 20_000, LABELS)
    table = make_map(20_000, LABELS)
    numbers = pa.array(np.random.default_rng(0).normal(size=20_000))
    for i in range(40):
        table = table.append_column(f"column: c{i}", numbers)
    write_map(folder, table)
    page = page_of(folder)
    assert len(data_of(page)["columns"]) == 16 and len(page) < 3_000_000


def test_columns_are_whole_exact_or_left_out(run: Path) -> None:
    table = with_columns(make_map(60, LABELS))
    table = table.append_column("column: wide", pa.array([-1e308, 1e308] * 30))
    table = table.append_column("column: lists", pa.array([[1]] * 60))
    write_map(run, table.append_column("column: none", pa.nulls(60, pa.float64())))
    columns = data_of(page_of(run))["columns"]
    assert [column["name"] for column in columns] == ["label", "salary", "since", "none"]
    steps = unpacked(columns[1]["values"])
    assert steps[4] == 65535 and columns[1]["step"] * steps[59] == pytest.approx(88.5)
    assert columns[2]["step"] == 1 and columns[2]["unit"] == "days"


def test_settings_that_differ_from_the_defaults_are_marked(run: Path) -> None:
    page = page_of(run)
    rows = re.findall(r'<tr class="changed"><td><code>(\w+)</code>', page)
    assert rows == ["width", "epochs"]  # not data.graph, which every run sets
    assert page.count("<details open>") == 2


@pytest.mark.parametrize(
    "overrides",
    [
        ["view1.augment=nd+diff", "embed.npy=true", "probe.weight_decays=[0.1, 0.01]"],
        ['data.drop="5"', "data.label=what it is", 'data.nodes="it\'s $HOME.csv"'],
        ['data.id=say "id" \\ so', "data.weight='\"true\"'"],
    ],
)
def test_the_command_makes_the_same_recipe(overrides: list[str]) -> None:
    recipe = load_recipe("default", ["data.graph=my graph.npz", "train.seed=3", *overrides])
    dgb, verb, *words = shlex.split(train_command(recipe, "my graph"))
    options = make_parser().parse_args([verb, *words])
    assert dgb == "dgb" and options.graph == "my graph.npz"
    again = load_recipe(options.recipe, [*options.set, "data.graph=my graph.npz"])
    assert again == recipe and recipe_hash(again) == recipe_hash(recipe)


def test_the_command_starts_from_the_nearest_recipe(run: Path) -> None:
    recipe = load_recipe("paper-cora", ["data.graph=cora"])
    assert train_command(recipe, "cora") == "dgb train cora --recipe paper-cora"
    write_text(run / "recipe.toml", to_toml(recipe))
    assert read_recipe(run) == recipe


def test_a_comparison_is_a_page_of_the_same_style(run: Path, comparison: Path) -> None:
    write_text(comparison / "compare.md", "# Systems\n\n- LP <failed>\n")
    own, both = page_of(comparison), page_of(run, comparison)
    for page in (own, both):
        assert re.findall(r"<td>(DGB|GCN|raw features)</td>", page) == [
            "DGB",
            "GCN",
            "raw features",
        ]
        assert 'class="bar" style="width:100.0%"' in page and "LP &lt;failed&gt;" in page
        assert re.findall(r'<th scope="col">(.*?)</th>', page)[-6:][1:3] == [
            "validation (rows in this order)",
            "test accuracy",
        ]
        widths = re.findall(r'class="with-bar">.*?width:([\d.]+)%', page)
        assert [float(w) for w in widths] == sorted(map(float, widths), reverse=True)
    assert re.findall(r":root \{.*?\}", own, re.S) == re.findall(r":root \{.*?\}", both, re.S)


def test_links_and_outliers_are_listed_or_how_to_get_them(run: Path) -> None:
    assert "dgb links" not in page_of(run)  # without vectors there is nothing to find them by
    (run / "embeddings.parquet").write_bytes(b"")
    page = page_of(run)
    assert f"<code>dgb links {run}</code>" in page and f"<code>dgb outliers {run}</code>" in page
    pairs = "".join(f'"a, {i}",<b>{i}</b>,0.9,3\n' for i in range(30))
    write_text(run / "links.csv", f"node_id,other_id,score,common_neighbors\n{pairs}")
    reasons = "7,5.5,income 3 (neighbors 9),8\n8,1.0,,\n"
    write_text(run / "outliers.csv", f"node_id,score,reason,neighbors\n{reasons}")
    page = page_of(run)
    assert page.count('data-node="a, ') == 10 and 'data-node="&lt;b&gt;0&lt;/b&gt;"' in page
    assert "<b>0</b>" not in page and "income 3 (neighbors 9)" in page
    pairs = "a,b,0.9573,3\na,c,0.947,1\n"
    write_text(run / "links.csv", f"node_id,other_id,score,common_neighbors\n{pairs}")
    assert "0.9573" in page_of(run) and "0.9470" in page_of(run)
    later = (run / "links.csv").stat().st_mtime + 60
    os.utime(run / "embeddings.parquet", (later, later))
    assert page_of(run).count("is older than the vectors of this run") == 2


@pytest.mark.parametrize("text", ["node_id\n1\n", "", "\udcff", '"' + "x" * 200_000])
def test_a_damaged_list_is_told_by_name(run: Path, text: str) -> None:
    (run / "embeddings.parquet").write_bytes(b"")
    (run / "links.csv").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DGBError, match=r"links\.csv"):
        page_of(run)


def test_settings_that_were_left_behind_are_not_mixed_in(comparison: Path) -> None:
    line = read_lines(comparison / "compare.jsonl")[2]
    assert line["method"] == "gcn"
    append_line(comparison / "compare.jsonl", line | {"recipe": "b", "test_accuracy": 0.9})
    page = page_of(comparison)
    assert ">90.0<" in page and "2 older measurements" in page


def test_folders_of_neither_kind_are_refused(tmp_path: Path, run: Path, comparison: Path) -> None:
    with pytest.raises(DGBError, match="is not a folder"):
        write_report(tmp_path / "missing")
    with pytest.raises(DGBError, match="neither a run"):
        write_report(tmp_path)
    with pytest.raises(DGBError, match="holds no comparison"):
        write_report(run, run)
    with pytest.raises(DGBError, match="is a comparison itself"):
        write_report(comparison, comparison)
    scores = json.loads((run / "scores.json").read_text("utf-8")) | {"graph_hash": "another"}
    (run / "scores.json").write_text(json.dumps(scores), "utf-8")
    with pytest.raises(DGBError, match="on another graph"):
        write_report(run, comparison)


def test_the_verb_prints_the_path_and_opens_it(
    run: Path,
    comparison: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    opened: list[str] = []

    def take(address: str) -> bool:
        opened.append(address)
        return True

    monkeypatch.setattr("webbrowser.open", take)
    report.run(Namespace(run=str(run), compare=None, open=False))
    assert opened == []
    report.run(Namespace(run=str(run), compare=str(comparison), open=True))
    assert opened == [(run / "report.html").resolve().as_uri()]
    assert capsys.readouterr().out.splitlines() == [str(run / "report.html")] * 2
