"""Ids and names that are paths, HTML or orders to a terminal: kept in files, harmless elsewhere."""

import csv
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from pyarrow import parquet
from torch_geometric.data import HeteroData

from dgb.cli import main
from dgb.errors import printable
from dgb.run.vectors import read_embeddings
from dgb.terminal import log, output, progress_bar
from tests.conftest import QUICK_PROBE

OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
ESCAPES = [
    *("\x1b[2J\x1b[1;1Hroot@host:~#", "\x1b]0;a title\x07", "\x9b31mred", "carriage\rreturn"),
    *("two\nlines", "nul\x00byte", "tab\tbed", "\u202etxt.exe", "\u2066isolated\u2069", "\x7f\x85"),
]
PATHS = ["../../etc/passwd", "/etc/passwd", "C:\\windows\\x", "..", "NUL", "~root", "x" * 5000]
MARKUP = ["<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "--></script>"]
PLAIN = ["Zoë", "上海", "نود", "a b,c", 'quo"ted', "مى\u200cخواهم"]  # the last needs its joiner
IDS = [*ESCAPES, *PATHS, *MARKUP, *PLAIN]
LABELS = ["\x1b[31mred", "<b>bold</b>\n", "\u202eback"]
SMALL = "encoder.width=8 heads.hidden=8 heads.width=8 train.epochs=2"
SETS = [word for pair in (*SMALL.split(), *QUICK_PROBE) for word in ("--set", pair)]
NAME = "<img src=x onerror=alert(1)>\x1b[2J\u202e" if sys.platform != "win32" else "g"


def write_graph(folder: Path, ids: list[str]) -> Path:
    """Write a ring with labels, a split and a column of numbers, all called something hostile."""
    folder.mkdir()
    ring = {"source": ids, "target": ids[1:] + ids[:1]}
    label = [LABELS[i % len(LABELS)] for i in range(len(ids))]
    split = [("train", "validation", "test")[i // 3 % 3] for i in range(len(ids))]
    columns: dict[str, Any] = {"id": ids, "label": label, "split": split}
    columns |= {"size\x1b[2J": list(range(len(ids))), "\u202ecolour": [c[::-1] for c in label]}
    parquet.write_table(pa.table(ring), folder / "edges.parquet")
    parquet.write_table(pa.table(columns), folder / "nodes.parquet")
    return folder


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    return write_graph(tmp_path / NAME, IDS)


def test_what_a_terminal_would_obey_is_shown_and_all_else_stays() -> None:
    assert printable("\x1b[2J\r\n\x00\x9b\u202e") == r"\x1b[2J\x0d\x0a\x00\x9b\u202e"
    assert printable("\udc80") == r"\udc80"  # half a character cannot even be written
    for text in (*PLAIN, "→ … ± 5 %", "👩\u200d🔬"):
        assert printable(text) == text
    assert printable("x" * 8_000_000).endswith("x… (8,000,000 characters)")


def test_bars_remarks_and_results_pass_through_it(capsys: pytest.CaptureFixture[str]) -> None:
    log("note: \x1b[2J")
    output("one\x07", "two\ntwo")
    with progress_bar(range(1), "\x1b[2J", unit="x") as bar:
        bar.refresh()
    shown = capsys.readouterr()
    assert shown.out == "one\\x07\ntwo\\x0atwo\n"
    assert shown.err.startswith("note: \\x1b[2J\n")
    assert "\\x1b[2J:" in shown.err and "\x1b[2J" not in shown.err


def run(*words: str, code: int = 0) -> None:
    assert main(list(words)) == code


def test_no_verb_prints_what_a_terminal_would_obey(
    graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run\x1b[5m" if sys.platform != "win32" else tmp_path / "run"
    run("data", "check", str(graph))
    run("train", str(graph), "--out", str(out), *SETS)
    run("train", "--resume", str(out))
    run("neighbors", str(out), "--", *IDS)
    run("cluster", str(out), "--clusters", "3")
    run("report", str(out))
    run("evaluate", str(graph), "--runs", "1", "--out", str(tmp_path / "e"), *SETS)
    run("embed", str(out), str(graph), "--out", str(tmp_path / "z.parquet"))
    assert "<img" not in (out / "report.html").read_text("utf-8")
    shown = capsys.readouterr()
    assert not OBEYED.search(shown.out + _without_bars(shown.err))
    for text in ("\\x1b[2J", "\\u202etxt.exe", "two\\x0alines", *MARKUP, *PLAIN):
        assert text in shown.out
    run("neighbors", str(out), "two\nlines", "--json")
    assert json.loads(capsys.readouterr().out)[0]["id"] == "two\nlines"


def test_no_refusal_prints_what_a_terminal_would_obey(
    graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    strange = tmp_path / "no\x1b[2Jsuch\nfile.csv"
    run("data", "check", str(strange), code=2)
    run("data", "check", str(graph), "--label", "\x1b[2J", code=2)
    run("train", str(graph), "--recipe", "\x1b[2J", code=2)
    table = pa.table({"source": ["\x1b[2J", "a"], "target": ["\u202eb", "\r"]})
    parquet.write_table(table, graph / "edges.parquet")
    run("data", "check", str(graph), code=2)
    with pytest.raises(SystemExit):
        main(["data", "check", str(graph), "--\x1b[2J"])
    shown = capsys.readouterr()
    assert not shown.out
    assert len(shown.err.splitlines()) == 5  # a line each
    assert not OBEYED.search(shown.err) and shown.err.count("\\x1b[2J") >= 5


def test_types_of_nodes_are_shown_harmlessly_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = HeteroData()
    data["paper\x1b[2J"].x = torch.eye(3)
    data["\u202e<script>"].x = torch.eye(3)
    edges = torch.tensor([[0, 1], [1, 2]])
    data["paper\x1b[2J", "\rto", "\u202e<script>"].edge_index = edges
    torch.save(data, tmp_path / "g.pt")
    main(["data", "check", str(tmp_path / "g.pt"), "--set", "data.target=paper\x1b[2J"])
    shown = capsys.readouterr()
    assert "paper\\x1b[2J" in shown.out + shown.err
    assert not OBEYED.search(shown.out + shown.err)


def test_files_keep_every_id_as_it_is(graph: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    run("train", str(graph), "--out", str(out), *SETS)
    assert read_embeddings(out / "embeddings.parquet")[0].tolist() == IDS
    run("cluster", str(out), "--clusters", "3")
    with (out / "clusters.csv").open(encoding="utf-8", newline="") as file:
        assert [row[0] for row in csv.reader(file)] == ["node_id", *IDS]
    run("cluster", str(out), "--clusters", "3", "--out", str(tmp_path / "c.parquet"))
    assert parquet.read_table(tmp_path / "c.parquet")["node_id"].to_pylist() == IDS
    run("neighbors", str(out), "--all")
    found = parquet.read_table(out / "neighbors.parquet")
    assert found["node_id"].to_pylist() == IDS
    assert set(np.concatenate(found["neighbors"].to_pylist())) <= set(IDS)


def test_no_id_becomes_the_name_of_a_file(tmp_path: Path) -> None:
    made = []
    for name, ids in (("hostile", IDS), ("plain", [f"n{i}" for i in range(len(IDS))])):
        place = tmp_path / name
        place.mkdir()
        graph = write_graph(place / "graph", ids)
        run("train", str(graph), "--out", str(place / "run"), *SETS)
        run("cluster", str(place / "run"), "--clusters", "3")
        run("neighbors", str(place / "run"), "--all")
        made.append({path.relative_to(place) for path in place.rglob("*")})
    assert made[0] == made[1]


def _without_bars(text: str) -> str:
    """Return what was said; tqdm itself moves the cursor, to draw its bar over the last."""
    return re.sub(r"\r[^\n]*?(?=\r|\n|$)|\x1b\[A", "", text)
