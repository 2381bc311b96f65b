"""The shop of examples/shop: read with all its faults, and walked through as documented."""

import csv
import re
import runpy
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from dgb.cli import main
from dgb.data.load import load_graph
from dgb.errors import DGBError

SHOP = Path(__file__).parent.parent / "examples" / "shop"
README = (SHOP / "README.md").read_text("utf-8")
make_shop: Callable[..., None] = runpy.run_path(str(SHOP / "make.py"))["make_shop"]


def commands() -> list[list[str]]:
    """Return the words of the commands that the page lists."""
    (block,) = re.findall(r"^```sh\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    lines = block.replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True) for line in lines if line.strip()]


def truth(folder: Path) -> dict[str, dict[str, str]]:
    with (folder / "truth.csv").open(newline="", encoding="utf-8") as file:
        return {row["customer"]: row for row in csv.DictReader(file)}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    make_shop(tmp_path / "shop", 240)
    return tmp_path / "shop"


def test_the_same_seed_makes_the_same_shop(shop: Path, tmp_path: Path) -> None:
    for seed, is_same in ((0, True), (1, False)):
        make_shop(tmp_path / "again", 240, seed)
        for file in shop.iterdir():
            assert (file.read_bytes() == (tmp_path / "again" / file.name).read_bytes()) is is_same


def test_the_shop_is_read_with_all_its_faults(shop: Path) -> None:
    with pytest.raises(DGBError, match=r"edges to nodes without a row.*data.unknown=add"):
        load_graph(shop, label="churned", weight="amount")
    graph = load_graph(shop, label="churned", weight="amount", unknown="add", weights="log")
    assert graph.node_ids.tolist() != list(truth(shop))  # those without a row come last
    assert set(graph.node_ids) == set(truth(shop))
    assert graph.labels is not None and 0 < (graph.labels >= 0).sum() < 30
    assert graph.encoding is not None
    kinds = {column.name: (column.kind, column.unit) for column in graph.encoding.columns}
    numbers = {"age": ("number", ""), "income": ("number", ""), "joined": ("number", "days")}
    categories = dict.fromkeys(("segment", "city", "newsletter"), ("category", ""))
    assert kinds == numbers | categories | {"note": ("words", "")}
    notes = "\n".join(graph.notes)
    for said in (
        r"numbers such as 3,5 read as 3.5: amount",
        r"numbers such as 1,007 read as 1007: income",
        r"rows of missing values added .*: \d",
        r"missing cells filled .*: age \d+, income \d+, joined \d",
        r"listed again, also in the other direction: \d",
        r"weights of edges were scaled",
    ):
        assert re.search(said, notes), said


def test_the_check_shows_the_spellings(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--label", "churned", "--weight", "amount", "--set", "data.unknown=add"]
    assert main(["data", "check", str(shop), *asked]) == 0
    printed = capsys.readouterr().out
    for said in ("= 'Online'", "= 'new york'", "may mean that there is none", "far from 1"):
        assert said in printed


def test_the_page_has_six_commands() -> None:
    verbs = ["train", "predict", "links", "outliers", "cluster", "export"]
    assert [words[:2] for words in commands()] == [["dgb", verb] for verb in verbs]


@pytest.mark.slow
def test_the_six_commands_lead_to_what_is_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    make_shop(Path("shop"))
    printed = []
    for _, *words in commands():
        assert main(words) == 0, capsys.readouterr().err
        printed.append(capsys.readouterr().out)
    known = truth(Path("shop"))
    with Path("predictions.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    right = [row["predicted"] == known[row["node_id"]]["churned"] for row in rows]
    assert len(rows) > 2800 and sum(right) > 0.85 * len(rows)
    with Path("runs/shop/outliers.csv").open(newline="", encoding="utf-8") as file:
        first = [row["node_id"] for row in csv.DictReader(file)][:30]
    assert sum(known[node]["is_odd"] == "1" for node in first) >= 12  # of 19
    assert all(f"segment={name}" in printed[4] for name in ("retail", "wholesale", "online"))
    for name in ("runs/shop/links.csv", "runs/shop/clusters.csv", "vectors.csv"):
        assert Path(name).stat().st_size > 10_000
