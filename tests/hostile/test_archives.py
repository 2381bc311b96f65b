"""Archives whose members climb out, link, repeat themselves, or unpack to more than there is."""

import gzip
import io
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from pyarrow import parquet
from torch_geometric.data import Data as PygData

from dgb import load_graph, load_hetero
from dgb.data.public.datasets import read_imdb, read_ogbn_arxiv, read_wikics
from dgb.data.public.download import read_member
from dgb.data.public.planetoid import read_pickle
from dgb.data.tables.source import read_table
from dgb.errors import DGBError
from dgb.files import limits as room
from dgb.report.page import write_report
from dgb.run.vectors import read_embeddings
from tests.report.conftest import make_run

FREE = 20_000_000  # bytes that a machine of these tests has left
LARGE = 40_000_000  # bytes that a bomb unpacks to
CLIMBING = ("../out.npy", "../../out.npy", "/tmp/out.npy", "C:\\out.npy", "..\\out.npy", "x/../o")
EDGES = np.array([[0, 1], [1, 2]])


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "free_bytes", lambda: FREE)


def npy(values: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, values, allow_pickle=False)
    return file.getvalue()


def write_zip(path: Path, members: dict[str, bytes], *, link: str = "") -> Path:
    """Write an archive whose names nobody has looked at; `link` is the name of a symbolic link."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        if link:
            info = zipfile.ZipInfo(link)
            info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
            archive.writestr(info, "/etc/passwd")
    return path


def files_below(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


def test_members_that_climb_out_of_the_folder_stay_unread(tmp_path: Path) -> None:
    place = tmp_path / "some" / "folder"
    place.mkdir(parents=True)
    members = {"edge_index.npy": npy(EDGES)} | dict.fromkeys(CLIMBING, npy(EDGES))
    path = write_zip(place / "g.npz", members, link="x.npy.link")
    before = files_below(tmp_path)
    assert load_graph(path).num_edges == 2
    assert files_below(tmp_path) == before
    with pytest.raises(DGBError, match="does not hold"):
        read_member(path, "planetoid/ind.cora.x")
    assert files_below(tmp_path) == before


def test_a_link_for_a_member_is_text_and_leads_nowhere(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "g.npz", {"x.npy": npy(np.eye(3))}, link="edge_index.npy")
    with pytest.raises(DGBError, match="not a readable npz file of plain arrays"):
        load_graph(path)
    assert read_member(path, "edge_index.npy") == b"/etc/passwd"


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_two_members_with_one_name_the_last_is_read_everywhere(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "g.npz", {"edge_index.npy": npy(EDGES), "x.npy": npy(np.eye(3))})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("x.npy", npy(np.eye(3)[:, :2]))
    assert load_graph(path).num_features == 2


def test_an_array_is_found_by_its_exact_name(tmp_path: Path) -> None:
    members = {"edge_index": b"raw", "edge_index.npy": npy(EDGES), "x.npy.npy": b"raw"}
    assert load_graph(write_zip(tmp_path / "g.npz", members)).num_edges == 2
    nested = write_zip(tmp_path / "inner.npz", {"edge_index.npy": npy(EDGES)}).read_bytes()
    with pytest.raises(DGBError, match="plain arrays"):
        load_graph(write_zip(tmp_path / "g.npz", {"edge_index.npy": nested}))


def npz_bomb(folder: Path) -> Path:
    return write_zip(folder / "g.npz", {"edge_index.npy": npy(np.zeros(LARGE // 8, np.int64))})


def scipy_bomb(folder: Path) -> Path:
    members = {"format": np.array(b"coo"), "shape": np.array([3, 3]), "row": EDGES[0]}
    members |= {"data": np.zeros(LARGE // 8), "col": EDGES[1]}
    return write_zip(folder / "g.npz", {f"{k}.npy": npy(v) for k, v in members.items()})


def lying_npz(folder: Path) -> Path:
    """Write a member that says it is small, and unpacks to much."""
    content = bytearray(npz_bomb(folder).read_bytes())
    for mark, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = content.index(mark) + place
        content[at : at + 4] = struct.pack("<I", 1000)
    (folder / "g.npz").write_bytes(content)
    return folder / "g.npz"


def packed(name: str, content: bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (folder / name).write_bytes(gzip.compress(content))
        return folder / name

    return make


def sparse_file(name: str) -> Callable[[Path], Path]:
    """Return the maker of a file of zeros that takes no room on the disk."""

    def make(folder: Path) -> Path:
        with (folder / name).open("wb") as file:
            file.truncate(LARGE)
        return folder / name

    return make


def pt_bomb(folder: Path) -> Path:
    path = folder / "g.pt"
    torch.save(PygData(x=torch.zeros(LARGE // 4, 1), edge_index=torch.tensor(EDGES)), path)
    with zipfile.ZipFile(path) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    return write_zip(path, members)  # torch itself writes without packing


def pt_pickle_bomb(folder: Path) -> Path:
    return write_zip(folder / "g.pt", {"g/data.pkl": bytes(LARGE)})


def parquet_bomb(name: str, column: Any) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        parquet.write_table(pa.table({"source": column, "target": column}), folder / name)
        assert (folder / name).stat().st_size < LARGE / 20
        return folder / name

    return make


def graphml_bomb(folder: Path) -> Path:
    """Write many nodes, each of which becomes some hundred bytes of objects."""
    nodes = "".join(f'<node id="{i}"/>' for i in range(40_000))
    graph = f'<graph edgedefault="undirected">{nodes}<edge source="0" target="1"/></graph>'
    path = folder / "g.graphml"
    path.write_text(f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{graph}</graphml>')
    return path


def parquet_parts_bomb(folder: Path) -> Path:
    (folder / "nodes.parquet").mkdir()
    return parquet_bomb("nodes.parquet/part.parquet", SAME)(folder).parent


def ogbn_bomb(folder: Path) -> Path:
    return write_zip(folder / "a.zip", {"arxiv/raw/node-feat.csv.gz": gzip.compress(bytes(LARGE))})


def map_bomb(folder: Path) -> Path:
    parquet_bomb("map.parquet", SAME)(make_run(folder / "run"))
    return folder / "run"


SAME = np.zeros(LARGE // 8, np.int64)
LISTS = pa.array([SAME.astype(np.int32)] * 2)
EMPTY = pa.nulls(10, pa.list_(pa.float32(), LARGE // 40))  # each as long as its type says
Make = Callable[[Path], Path]
BOMBS: dict[str, tuple[Make, Callable[[Path], Any]]] = {
    "npz": (npz_bomb, load_graph),
    "scipy npz": (scipy_bomb, load_graph),
    "csv.gz of zeros": (packed("edges.csv.gz", bytes(LARGE)), load_graph),
    "csv.gz of rows": (packed("edges.csv.gz", b"1,2\n" * (LARGE // 4)), load_graph),
    "mtx.gz": (packed("g.mtx.gz", b"%%MatrixMarket" + b" " * LARGE), load_graph),
    "pt": (pt_bomb, load_graph),
    "pt, pickle": (pt_pickle_bomb, load_hetero),
    "parquet": (parquet_bomb("edges.parquet", SAME), load_graph),
    "parquet of lists": (parquet_bomb("edges.parquet", LISTS), load_graph),
    "folder of parquet": (parquet_parts_bomb, read_table),
    "parquet of empty lists": (parquet_bomb("edges.parquet", EMPTY), load_graph),
    "vectors": (parquet_bomb("e.parquet", LISTS), read_embeddings),
    "map": (map_bomb, write_report),
    "imdb": (
        parquet_bomb("imdb_movies_with_genre.parquet.gzip", SAME),
        lambda path: read_imdb("imdb", path.parent),
    ),
    "graphml": (graphml_bomb, load_graph),
    "ogbn": (ogbn_bomb, lambda path: read_ogbn_arxiv("ogbn", path)),
    "wheel": (npz_bomb, lambda path: read_member(path, "edge_index.npy")),
    "csv larger than memory": (sparse_file("edges.csv"), load_graph),
    "json larger than memory": (sparse_file("data.json"), lambda path: read_wikics("w", path)),
    "pickle larger than memory": (sparse_file("ind.cora.x"), read_pickle),
}


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_before_its_memory_is_taken(name: str, tmp_path: Path) -> None:
    make, read = BOMBS[name]
    path = make(tmp_path)
    with pytest.raises(DGBError) as caught:
        read(path)
    assert "of the 0.0 GB of memory that are free" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_fits_is_read_as_before(tmp_path: Path) -> None:
    assert load_graph(packed("edges.csv.gz", b"1,2\n" * 1_000)(tmp_path)).num_edges == 1
    assert load_graph(graphml_bomb(tmp_path)).num_nodes == 40_000
    make, read = BOMBS["folder of parquet"]
    assert read(make(tmp_path)).content.num_rows == LARGE // 8


def test_a_member_that_lies_about_its_size_is_not_unpacked(tmp_path: Path) -> None:
    with pytest.raises(DGBError, match="not a readable npz"):
        load_graph(lying_npz(tmp_path))


@pytest.mark.usefixtures("little_memory")
def test_unpacking_stops_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = packed("edges.csv.gz", bytes(3 * LARGE))(tmp_path)
    read, real = [0], gzip.GzipFile.read

    def counting(file: gzip.GzipFile, size: int | None = -1) -> bytes:
        content = real(file, size)
        read[0] += len(content)
        return content

    monkeypatch.setattr(gzip.GzipFile, "read", counting)
    with pytest.raises(DGBError, match="unpacks to more than"):
        load_graph(path)
    assert read[0] < FREE


def test_how_much_is_said_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "free_bytes", lambda: 18.2e9)
    with pytest.raises(DGBError, match=r"g\.npz unpacks to 412\.0 GB, more than 50% of the 18\.2"):
        room.refuse_beyond_room("g.npz unpacks to", 412e9)
    monkeypatch.setattr(room, "free_bytes", lambda: None)  # as on a system that does not tell
    room.refuse_beyond_room("g.npz unpacks to", 7e9)
    with pytest.raises(DGBError, match="if you trust it, read it where there is more memory"):
        room.refuse_beyond_room("g.npz unpacks to", 9e9)


@pytest.mark.parametrize("place", ["version", "flags"])
def test_a_pt_file_that_zipfile_cannot_open_is_refused(tmp_path: Path, place: str) -> None:
    """Refuse what torch's own reader may still unpack, without anybody having looked at sizes."""
    path = tmp_path / "g.pt"
    torch.save(PygData(x=torch.ones(3, 2), edge_index=torch.tensor([[0, 1], [1, 2]])), path)
    content = bytearray(path.read_bytes())
    entry = content.index(b"PK\x01\x02")  # the first of the directory
    content[entry + {"version": 6, "flags": 8}[place]] = 99
    path.write_bytes(content)
    with pytest.raises(DGBError, match=r"g\.pt: .*; save one torch_geometric Data"):
        load_graph(path)
