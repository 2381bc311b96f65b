"""`dgb export`: what is written reads back the same, by the tools themselves where they are."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet
from scipy import sparse

from dgb.arrays import Array
from dgb.cli import main
from dgb.cookbook import load_recipe
from dgb.errors import DGBError
from dgb.run.export import FORMATS, Exported, write_word2vec
from dgb.run.folder import make_folder
from dgb.run.vectors import read_embeddings, write_embeddings

IDS = np.array(["a b", 'say "x", y', "ü\u00adñ", "line\nbreak", "=1+1", "last"], object)
NUMBERS = (np.random.default_rng(0).normal(size=(6, 4)) * 10.0 ** np.arange(-3, 1)).astype("f4")


@pytest.fixture
def vectors() -> Exported:
    edges = sparse.csr_array(np.triu(np.ones((6, 6), np.float32), 4))
    more: dict[str, list[Any]] = {
        "label": ["x", None, "y", "y\ty", "x", "x"],
        "degree": [1, 2, 3, 4, 5, 6],
    }
    return Exported(IDS, NUMBERS, more, edges + edges.T)


def write(form: str, folder: Path, vectors: Exported) -> Path:
    name, write_form = FORMATS[form]
    write_form(folder / name, vectors)
    assert not list(folder.rglob("*.part"))
    return folder / name


def rows_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_csv_holds_ids_and_numbers_exactly(tmp_path: Path, vectors: Exported) -> None:
    head, *rows = rows_of(write("csv", tmp_path, vectors))
    assert head == ["node_id", "z0", "z1", "z2", "z3"] and [row[0] for row in rows] == list(IDS)
    np.testing.assert_array_equal(np.array([row[1:] for row in rows], np.float32), NUMBERS)


def test_npy_comes_with_its_ids(tmp_path: Path, vectors: Exported) -> None:
    path = write("npy", tmp_path, vectors)
    np.testing.assert_array_equal(np.load(path, allow_pickle=False), NUMBERS)
    assert [row[0] for row in rows_of(path.with_suffix(".ids.csv"))[1:]] == list(IDS)


def test_parquet_has_lists_of_one_length(tmp_path: Path, vectors: Exported) -> None:
    path = write("parquet", tmp_path, vectors)
    assert parquet.read_schema(path).field("embedding").type.list_size == 4
    ids, z = read_embeddings(path)
    assert ids.tolist() == list(IDS)
    np.testing.assert_array_equal(z, NUMBERS)


def test_word2vec_parts_by_spaces(tmp_path: Path, vectors: Exported) -> None:
    path = write("word2vec", tmp_path, vectors)
    head, *lines = path.read_text("utf-8").split("\n")[:-1]
    assert head == "6 4"
    rows = [line.split(" ") for line in lines]
    assert [row[0] for row in rows][:4] == ["a_b", 'say_"x",_y', "ü\u00adñ", "line_break"]
    np.testing.assert_array_equal(np.array([row[1:] for row in rows], np.float32), NUMBERS)
    gensim = pytest.importorskip("gensim.models")
    found = gensim.KeyedVectors.load_word2vec_format(path)
    np.testing.assert_array_equal(found["line_break"], NUMBERS[3])


@pytest.mark.parametrize("ids", [["a b", "a_b"], ["", "x"]])
def test_ids_that_word2vec_cannot_hold_are_refused(tmp_path: Path, ids: list[str]) -> None:
    with pytest.raises(DGBError, match="take csv"):
        write_word2vec(tmp_path / "v.txt", Exported(np.array(ids, object), NUMBERS[:2]))


def test_tensorboards_projector_gets_its_files(tmp_path: Path, vectors: Exported) -> None:
    folder = write("tensorboard", tmp_path, vectors)
    np.testing.assert_array_equal(np.loadtxt(folder / "vectors.tsv", np.float32), NUMBERS)
    rows = [line.split("\t") for line in (folder / "metadata.tsv").read_text().splitlines()]
    assert rows[0] == ["node_id", "label", "degree"] and len(rows) == 7
    assert rows[4] == ["line break", "y y", "4"] and rows[2][1] == ""
    told = (folder / "projector_config.pbtxt").read_text()
    assert 'tensor_path: "vectors.tsv"' in told and 'metadata_path: "metadata.tsv"' in told
    write("tensorboard", tmp_path, Exported(IDS, NUMBERS))
    alone = (folder / "metadata.tsv").read_text().splitlines()
    assert len(alone) == 6 and alone[0] == "a b"  # one column has no name


def test_neo4j_gets_nodes_and_relationships(tmp_path: Path, vectors: Exported) -> None:
    folder = write("neo4j-csv", tmp_path, vectors)
    head, *nodes = rows_of(folder / "nodes.csv")
    assert head == ["nodeId:ID", "label", "degree", "embedding:float[]", ":LABEL"]
    assert [row[0] for row in nodes] == list(IDS) and nodes[0][1] == "x"
    found = np.array([row[3].split(";") for row in nodes], np.float32)
    np.testing.assert_array_equal(found, NUMBERS)
    head, *edges = rows_of(folder / "relationships.csv")
    assert head == [":START_ID", ":END_ID", "weight:float", ":TYPE"]
    pairs = {(row[0], row[1]) for row in edges}
    assert pairs == {(IDS[0], IDS[4]), (IDS[0], IDS[5]), (IDS[1], IDS[5])}


def test_duckdb_compares_vectors_as_they_are(tmp_path: Path, vectors: Exported) -> None:
    duckdb = pytest.importorskip("duckdb")
    path = write("duckdb", tmp_path, vectors)
    write("duckdb", tmp_path, vectors)  # in place of the first
    with duckdb.connect(str(path), read_only=True) as database:
        found = database.execute(
            "SELECT a.node_id, array_cosine_similarity(a.embedding, b.embedding) "
            "FROM embeddings a, embeddings b WHERE b.node_id = 'last'"
        ).fetchall()
    unit = NUMBERS / np.linalg.norm(NUMBERS, axis=1, keepdims=True)
    assert dict(found) == pytest.approx(dict(zip(IDS, unit @ unit[-1], strict=True)), abs=1e-5)


def test_duckdb_reads_a_runs_parquet_without_a_cast(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run the query of the page, which needs neither an export nor the vectors' length."""
    duckdb = pytest.importorskip("duckdb")
    page = Path(__file__).parents[2] / "docs" / "decisions.md"
    query = page.read_text("utf-8").split("```sql\n")[1].split("```")[0]
    ids = np.array([f"n{i}" for i in range(39)] + ["lena.eriksen"], object)
    z = np.random.default_rng(1).normal(size=(40, 6)).astype(np.float32)
    folder = tmp_path / "runs" / "company"
    folder.mkdir(parents=True)
    write_embeddings(folder / "embeddings.parquet", ids, z)
    monkeypatch.chdir(tmp_path)
    with duckdb.connect() as database:
        found = database.execute(query).fetchall()
    unit = z / np.linalg.norm(z, axis=1, keepdims=True)
    similarities = (unit @ unit[-1])[:-1]
    assert [row[0] for row in found] == [f"n{i}" for i in np.argsort(-similarities)[:5]]
    assert [row[1] for row in found] == pytest.approx(np.sort(similarities)[:-6:-1], abs=1e-5)


def test_lancedb_finds_the_nearest(tmp_path: Path, vectors: Exported) -> None:
    lancedb = pytest.importorskip("lancedb")
    path = write("lancedb", tmp_path, vectors)
    table = lancedb.connect(path).open_table("embeddings")
    assert table.search(NUMBERS[2]).limit(1).to_list()[0]["node_id"] == IDS[2]


def make_run(folder: Path, ids: Array, z: Array, *settings: str) -> Path:
    make_folder(folder, load_recipe("paper", settings))
    write_embeddings(folder / "embeddings.parquet", ids, z)
    return folder


def test_the_verb_writes_into_the_run_or_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "edges.csv").write_text("source,target\nx,y\ny,z\n")
    ids = np.array(["x", "y", "z"], object)
    run = make_run(tmp_path / "run", ids, NUMBERS[:3], f"data.graph={tmp_path / 'edges.csv'}")
    for form in ("csv", "npy", "word2vec", "tensorboard", "neo4j-csv"):
        assert main(["export", str(run), "--to", form]) == 0
        assert (run / FORMATS[form][0]).exists()
    assert len(rows_of(run / "neo4j" / "relationships.csv")) == 3
    assert main(["export", str(run), "--to", "csv", "--out", str(tmp_path / "v.csv")]) == 0
    assert "3 vectors of 4 numbers" in capsys.readouterr().out

    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr("dgb.run.export.import_module", missing)
    wrong: list[tuple[list[str], str]] = [
        (["csv", "--out", str(tmp_path / "v.txt")], "ends in .csv"),
        (["csv", "--out", str(tmp_path / "no" / "v.csv")], "make it first"),
        (["tensorboard", "--out", str(tmp_path / "v.csv")], "is a folder"),
        (["lancedb"], "pip install lancedb"),
        (["neo4j-csv", "--vectors", str(run / "embeddings.parquet")], "leave out --vectors"),
    ]
    for arguments, told in wrong:
        assert main(["export", str(run), "--to", *arguments]) == 2
        assert told in capsys.readouterr().err
