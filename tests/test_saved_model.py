"""What is saved of a model: read again by Python and by the command, never trusted blindly."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet
from safetensors import safe_open
from safetensors.numpy import save_file

from dgb import DGB, DGBError
from dgb.cli import main
from dgb.data.encoding import Column, Encoding
from dgb.data.formats.npz import write_npz
from dgb.data.graph import Graph
from dgb.run.folder import read_encoding, save_encoding
from tests.conftest import make_blocks

SMALL = ("encoder.width=16", "heads.hidden=16", "heads.width=16", "train.epochs=3")
NAMED = Encoding(tuple(Column(f"word{i}") for i in range(60)))


@pytest.fixture
def saved(blocks: Graph, tmp_path: Path) -> Path:
    DGB(overrides=SMALL).fit(blocks).save(tmp_path / "model")
    return tmp_path / "model"


def test_a_loaded_model_embeds_as_the_saved_one(blocks: Graph, tmp_path: Path) -> None:
    model = DGB("paper", overrides=SMALL)
    z = model.fit_transform(blocks)
    np.testing.assert_array_equal(model.transform(blocks), z)
    model.save(tmp_path / "model")
    loaded = DGB.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.transform(blocks), z)
    assert loaded.transform(make_blocks(40, seed=3)).shape == (40, 16)
    assert loaded.n_features_in_ == 60 and len(loaded.get_feature_names_out()) == 16
    assert {f.name for f in (tmp_path / "model").iterdir()} == {"recipe.toml", "model.safetensors"}
    by_id = DGB.load(tmp_path / "model", graph=blocks)
    np.testing.assert_array_equal(by_id.transform(["paper-4"]), z[[4]])


def test_names_of_columns_are_saved_and_matched(blocks: Graph, tmp_path: Path) -> None:
    named = replace(blocks, encoding=NAMED)
    model = DGB(overrides=SMALL)
    z = model.fit_transform(named)
    model.save(tmp_path)
    loaded = DGB.load(tmp_path)
    assert loaded.encoding_ == NAMED and list(loaded.feature_names_in_)[:2] == ["word0", "word1"]
    turned = replace(named, x=named.x[:, ::-1], encoding=Encoding(NAMED.columns[::-1]))
    np.testing.assert_allclose(loaded.transform(turned), z, atol=1e-6)
    model.fit(blocks).save(tmp_path)  # over the old one, and without names
    assert read_encoding(tmp_path) is None


def test_the_command_embeds_with_a_model_saved_from_python(
    blocks: Graph, saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph, out = tmp_path / "blocks.npz", tmp_path / "z.parquet"
    write_npz(graph, blocks)
    assert main(["embed", str(saved), str(graph), "--out", str(out)]) == 0
    z = np.array(parquet.read_table(out)["embedding"].to_pylist(), np.float32)
    np.testing.assert_array_equal(z, DGB.load(saved).transform(blocks))
    assert main(["embed", str(saved)]) == 2
    assert "does not say which graph" in capsys.readouterr().err


def test_python_loads_a_run_of_the_command_with_its_names(blocks: Graph, tmp_path: Path) -> None:
    graph, run = tmp_path / "named.npz", tmp_path / "run"
    write_npz(graph, replace(blocks, encoding=NAMED))
    sets = [word for setting in SMALL for word in ("--set", setting)]
    assert main(["train", str(graph), "--out", str(run), *sets]) == 0
    model = DGB.load(run)
    assert model.encoding_ == NAMED
    z = np.array(parquet.read_table(run / "embeddings.parquet")["embedding"].to_pylist())
    np.testing.assert_allclose(model.transform(blocks), z, atol=1e-6)
    for unfinished in (False, True):
        if unfinished:
            (run / "scores.json").unlink()
        with pytest.raises(DGBError, match="holds a run of `dgb train`"):
            model.save(run)


def test_the_model_says_its_format_and_version(saved: Path) -> None:
    with safe_open(saved / "model.safetensors", "np") as file:
        metadata = file.metadata()
    assert metadata["format"] == "3" and metadata["dgb_version"][0].isdigit()


def rewrite(folder: Path, metadata: dict[str, str] | None, **changes: Any) -> None:
    path = folder / "model.safetensors"
    with safe_open(path, "np") as file:
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    tensors = {key: value for key, value in (tensors | changes).items() if value is not None}
    save_file(tensors, path, metadata)


def test_an_older_format_is_read(blocks: Graph, saved: Path) -> None:
    z = DGB.load(saved).transform(blocks)
    rewrite(saved, {"format": "1"})
    np.testing.assert_array_equal(DGB.load(saved).transform(blocks), z)


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"format": "4"}, r"newer dgb \(format 4, this one reads up to 3\); upgrade dgb"),
        ({"format": "3"}, "is damaged: its digest is missing; train again"),
        ({"format": "two"}, "not a model of dgb"),
        ({"format": "-1"}, "not a model of dgb"),
        ({"format": "٣"}, "not a model of dgb"),
        ({"format": "9" * 5000}, "not a model of dgb"),
        ({"other": "1"}, "not a model of dgb"),
        (None, "not a model of dgb"),
    ],
)
def test_metadata_tampered_with_is_one_sentence(
    saved: Path, metadata: dict[str, str] | None, message: str
) -> None:
    rewrite(saved, metadata)
    with pytest.raises(DGBError, match=message):
        DGB.load(saved)


@pytest.mark.parametrize(
    "change",
    [
        {"weights.0": np.ones((60, 7), np.float32)},
        {"weights.0": np.ones((), np.float32)},
        {"weights.0": None},
        {"weights.1": np.ones((16, 16), np.float32)},
    ],
)
def test_tensors_that_do_not_fit_the_recipe_are_refused(saved: Path, change: Any) -> None:
    rewrite(saved, {"format": "2"}, **change)
    with pytest.raises(DGBError, match=r"does not fit .*recipe\.toml; train again"):
        DGB.load(saved)


def test_a_file_cut_short_swapped_or_missing_is_one_sentence(saved: Path) -> None:
    path = saved / "model.safetensors"
    whole = path.read_bytes()
    header = json.dumps({"weights.0": {"dtype": "F32", "shape": [9], "data_offsets": [0, 4]}})
    lying = len(header).to_bytes(8, "little") + header.encode() + b"0000"
    for broken in (b"", whole[:5], whole[:200], whole[:-1], b"\xff" * 64, lying):
        path.write_bytes(broken)
        with pytest.raises(DGBError, match=r"cannot read .*; train again"):
            DGB.load(saved)
    path.unlink()
    with pytest.raises(DGBError, match="not finished"):
        DGB.load(saved)
    with pytest.raises(DGBError, match="not a run folder"):
        DGB.load(saved / "nowhere")


@pytest.mark.parametrize("line", ["[train]\nwarp = 9", "[holodeck]\non = true", "[train"])
def test_a_recipe_this_version_does_not_know_says_to_upgrade(saved: Path, line: str) -> None:
    (saved / "recipe.toml").write_text(line)
    with pytest.raises(DGBError, match=r"if a newer one wrote it, upgrade dgb \("):
        DGB.load(saved)


@pytest.mark.parametrize(
    "text",
    ["structure = ", 'structure = ""', 'structure = ""\ncolumns = [{name = "a", kind = "smell"}]'],
)
def test_a_broken_description_of_columns_is_named(saved: Path, text: str) -> None:
    (saved / "features.toml").write_text(text)
    with pytest.raises(DGBError, match=r"features\.toml: "):
        DGB.load(saved)


def test_every_kind_of_column_comes_back(tmp_path: Path) -> None:
    columns = (
        Column("age", shift=41.5, scale=1 / 3),
        Column('kind "of" ü', "category", levels=("a=b", "", "c\n")),
        Column("title", "words", width=256),
    )
    for encoding in (Encoding(columns), Encoding((), "walk")):
        save_encoding(encoding, tmp_path)
        assert read_encoding(tmp_path) == encoding


def test_a_place_that_cannot_be_written_is_named(blocks: Graph, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DGBError, match="cannot write to"):
        DGB(overrides=SMALL).fit(blocks).save(tmp_path / "file")


def test_new_rows_of_a_table_are_embedded_alike_by_python_and_the_command(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    examples, run, out = Path(__file__).parent.parent / "examples", tmp_path / "run", tmp_path
    sets = [word for setting in SMALL for word in ("--set", setting)]
    assert main(["train", str(examples / "company"), "--out", str(run), *sets]) == 0
    later = examples / "company-later"
    assert main(["embed", str(run), str(later), "--out", str(out / "z.parquet")]) == 0
    z = np.array(parquet.read_table(out / "z.parquet")["embedding"].to_pylist(), np.float32)
    nodes, edges = (pandas.read_csv(later / name) for name in ("nodes.csv", "edges.csv"))
    model = DGB.load(run)
    np.testing.assert_allclose(model.transform(nodes, edges=edges), z, atol=1e-6)
    shuffled = nodes[[nodes.columns[0], *nodes.columns[:0:-1]]]
    np.testing.assert_allclose(model.transform(shuffled, edges=edges), z, atol=1e-6)
