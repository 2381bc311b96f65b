"""Columns as people have them: numbers with marks, vectors in text, codes, names of rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dgb.data.load import load_graph
from dgb.data.objects import to_graph
from dgb.errors import DGBError
from tests.data.test_messy import column, folder, values


@pytest.mark.parametrize(
    ("cells", "wanted", "mark"),
    [
        (["€1.200,50", "€3,25", "n/a", "-€7,00"], [1200.5, 3.25, 3.25, -7], "€"),
        (["1.200,50 €", "3,25 €", "4,00 €"], [1200.5, 3.25, 4], "€"),
        (["$1,200.50", "($3.25)", "$4.00"], [1200.5, -3.25, 4], "$"),
        (["12 %", "7.5%", "100%"], [12, 7.5, 100], "%"),
        (["180 cm", "165 cm", ""], [180, 165, 172.5], "cm"),
        (["USD 10", "USD 12", "USD 14"], [10, 12, 14], "USD"),
        (["1 000", "12\u00a0500", "3"], [1000, 12500, 3], ""),
        (["1'000.50", "2’000", "3"], [1000.5, 2000, 3], ""),
        (["\u22125", "3", "(4)"], [-5, 3, -4], ""),
        (["5.25-", "3", "4"], [-5.25, 3, 4], ""),
        (["'5", "'3.5", "4"], [5, 3.5, 4], ""),
        (["5\u200b", "\ufeff3", "4"], [5, 3, 4], ""),
        (["50 %", "7.5 %", "0"], [50, 7.5, 0], "%"),
        (["1,50E+03", "3", "2,5"], [1500, 3, 2.5], ""),
        (["1", "\u2014", "3", "..", "2", "#NV", "2"], [1, 2, 3, 2, 2, 2, 2], ""),
    ],
)
def test_marks_at_numbers_are_read_past(
    tmp_path: Path, cells: list[str], wanted: list[float], mark: str
) -> None:
    graph = column(tmp_path, cells)
    assert values(graph).tolist() == pytest.approx(wanted, rel=1e-4, abs=0.01)
    told = f"nodes.csv: numbers read without what stands at them: v ({mark})"
    assert (told in graph.notes) == bool(mark)


@pytest.mark.parametrize(
    "cells",
    [["180 cm", "1.7 m"], ["12a", "14"], ["A12", "A13"], ["Q1", "Q2"], ["50%", "0.5", "7%"]],
)
def test_several_marks_and_codes_stay_text(tmp_path: Path, cells: list[str]) -> None:
    graph = column(tmp_path, cells)
    assert graph.encoding is not None and graph.encoding.columns[0].kind == "category"


def test_a_run_reads_the_marks_that_it_knows_and_no_others(tmp_path: Path) -> None:
    run = column(tmp_path, ["€5", "€7", "€12"]).encoding
    again = column(tmp_path, ["€6", "€8", "€90"], encoding=run)
    assert values(again).tolist() == pytest.approx([6, 8, 90], rel=1e-4)
    with pytest.raises(DGBError, match="held numbers with € when the run was trained"):
        column(tmp_path, ["$6", "$8", "$90"], encoding=run)


def test_weights_with_a_mark_are_read(tmp_path: Path) -> None:
    edges = "source;target;weight\n0;1;1,50 €\n1;2;2,50 €\n"
    graph = load_graph(folder(tmp_path, "id,f\n0,1\n1,2\n2,4\n", edges))
    assert set(graph.adjacency.data) == {1.5, 2.5}
    assert "edges.csv: weights read without what stands at them: €" in graph.notes


@pytest.mark.parametrize("form", ["[{}, {}, 0.5]", "[ {}  {} 5e-1]"])
def test_vectors_in_text_are_vectors(tmp_path: Path, form: str) -> None:
    cells = [form.format(i / 10, i % 3) for i in range(6)]
    graph = column(tmp_path, cells)
    assert values(graph, "v#0").tolist() == pytest.approx([i / 10 for i in range(6)], abs=1e-6)
    again = column(tmp_path, cells[::-1], encoding=graph.encoding)
    assert values(again, "v#1").tolist() == pytest.approx([2, 1, 0, 2, 1, 0], abs=1e-6)


def test_codes_are_categories(tmp_path: Path) -> None:
    graph = column(tmp_path, ["01067", "10115", "01067", "80331"])
    assert graph.encoding is not None
    assert graph.encoding.columns[0].levels == ("01067", "10115", "80331")
    plain = column(tmp_path, ["1067", "10115", "1067", "80331"])
    assert plain.encoding is not None and plain.encoding.columns[0].kind == "number"
    said = column(tmp_path, ["1067", "10115", "1067", "80331"], categories="v")
    assert said.encoding is not None
    assert said.encoding.columns[0].levels == ("10115", "1067", "80331")


def test_categories_of_a_frame_are_categories() -> None:
    rows = {"id": pd.Categorical([0, 1, 2]), "region": pd.Categorical([1, 2, 1]), "f": [1, 2, 3]}
    edges = pd.DataFrame({"source": [0, 1], "target": [1, 2]})
    graph = to_graph(pd.DataFrame(rows), edges=edges)
    assert graph.node_ids.tolist() == [0, 1, 2]
    assert graph.encoding is not None
    assert graph.encoding.feature_names() == ["region=1", "region=2", "f"]


def words(tmp_path: Path, cells: list[str], **reading: Any) -> str:
    return "\n".join(column(tmp_path, cells, **reading).notes)


def test_words_that_only_name_rows_are_told(tmp_path: Path) -> None:
    told = words(tmp_path, [f"cust-{i:05d}" for i in range(40)])
    assert "words that hardly occur twice tell nothing of nodes; say data.drop=v" in told
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["red", "blue", "green", "old", "new"], 3)) for _ in range(40)]
    assert "hardly occur twice" not in words(tmp_path, texts, text="words")


@pytest.mark.parametrize(
    "form",
    [
        *("{}-Jan-20", "{}. Januar 2020", "{:02d}.01.20", "2020-01-{:02d} 10:00 UTC", "10:{:02d}"),
        *("20{:02d}-05", "May 20{:02d}", "Wed, {} Jan 2020 10:00:00 +0000", "202001{:02d}T1000"),
    ],
)
def test_dates_that_are_not_read_are_told(tmp_path: Path, form: str) -> None:
    told = words(tmp_path, [form.format(i + 1) for i in range(25)])
    assert "text that looks like dates, read as words; write such as 2020-12-31" in told


MAY = ["3 May 2020", "May 13, 2020", "2020-Jun-02"]


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        (MAY, [0, 10, 30]),
        (["3-may-2020", "13. MAY 2020", "2 Jun. 2020"], [0, 10, 30]),
        (["Sun, 3 May 2020 12:00", "Wed May 13th, 2020", "2nd of June 2020"], [0.5, 10, 30]),
        (["2020-05-03", "13.05.2020", "June 2, 2020"], [0, 10, 30]),
        (["05/13/2020 12:30 AM", "05/13/2020 12:30 pm", "05/13/2020 1:00 p.m."], [0, 0.5, 0.52]),
    ],
)
def test_dates_with_names_of_months_and_halves_of_the_day_are_read(
    tmp_path: Path, cells: list[str], wanted: list[float]
) -> None:
    days = values(column(tmp_path, cells))
    assert (days - days[0] + wanted[0]).tolist() == pytest.approx(wanted, abs=0.01)


def test_a_run_reads_names_of_months_again(tmp_path: Path) -> None:
    run = column(tmp_path, MAY).encoding
    again = values(column(tmp_path, ["2020-05-03", "4 May 2020", "n/a"], encoding=run))
    assert again[1] - again[0] == pytest.approx(1, abs=0.01)
    with pytest.raises(DGBError, match=r"nodes\.csv:2: v is '31 June 2020'"):
        column(tmp_path, ["31 June 2020", *MAY])


@pytest.mark.parametrize("text", ["May 2020 was fine", "3 Mayor 2020", "mar 3", "Maybe 3, 2020"])
def test_words_that_are_like_months_stay_words(tmp_path: Path, text: str) -> None:
    graph = column(tmp_path, [text, "June came late", "old"], text="words")
    assert graph.encoding is not None and graph.encoding.columns[0].kind == "words"


def test_whole_numbers_that_all_are_dates_are_read_as_such(tmp_path: Path) -> None:
    cells = [f"2020{month:02d}28" for month in range(1, 13)]
    graph = column(tmp_path, [*cells, ""])
    assert np.diff(values(graph))[:3].tolist() == pytest.approx([31, 29, 31], abs=0.01)
    assert "nodes.csv: whole numbers such as 20201231 read as dates: v" in graph.notes
    one = values(column(tmp_path, ["20200128", "20200129"], encoding=graph.encoding))
    assert one[1] - one[0] == pytest.approx(1, abs=0.01)
    frame = pd.DataFrame({"id": range(13), "v": [*map(float, cells), np.nan]})
    edges = pd.DataFrame({"source": range(12), "target": range(1, 13)})
    assert values(to_graph(frame, edges=edges)) == pytest.approx(values(graph), abs=0.01)
    for numbers in ([*cells, "20201301"], cells[:3]):  # one is no date, or they are few
        plain = column(tmp_path, numbers)
        assert plain.encoding is not None and not plain.encoding.columns[0].unit


@pytest.mark.parametrize("form", ["{}.2k", "3-{}", "{} ± 2", "+49 30 {:07}"])
def test_digits_that_are_no_numbers_are_told(tmp_path: Path, form: str) -> None:
    cells = [form.format(i + 1) + ("M" if "k" in form and i % 2 else "") for i in range(30)]
    told = words(tmp_path, cells)
    assert "text of digits that are no plain numbers, read as words; write plain numbers" in told


@pytest.mark.parametrize("name", ["store_id", "StoreId", "phone", "shop key", "ZIP", "counter"])
def test_numbers_that_name_something_are_told(tmp_path: Path, name: str) -> None:
    numbers = range(30) if name == "counter" else np.random.default_rng(0).integers(5, 99, 30)
    rows = "".join(f"{i},{number},{i % 7}\n" for i, number in enumerate(numbers, 100))
    edges = "source,target\n" + "".join(f"{i},{i + 1}\n" for i in range(100, 129))
    told = load_graph(folder(tmp_path, f"id,{name},paid\n{rows}", edges)).notes
    assert f"say data.drop={name}, or data.categories=" in "\n".join(told)
    again = rows.replace("100,", "100,1", 1)
    notes = load_graph(folder(tmp_path, f"id,number of rooms,paid\n{again}", edges)).notes
    assert "to count the rows" not in "\n".join(notes)


def test_a_copy_of_the_ids_is_told() -> None:
    ids = np.random.default_rng(0).permutation(40)
    frame = pd.DataFrame({"id": ids, "account": ids, "f": ids % 5})
    notes = to_graph(frame, edges=pd.DataFrame({"source": [0, 1], "target": [1, 2]})).notes
    assert "say data.drop=account, or" in "\n".join(notes)


@pytest.mark.parametrize("drawn", ["r,g,b,x,y,size", "viz_color,viz.x"])
def test_how_a_graph_was_drawn_is_told(tmp_path: Path, drawn: str) -> None:
    count = drawn.count(",") + 1
    rows = "".join(f"{i},{i % 3}" + f",{i % 4}.5" * count + "\n" for i in range(6))
    edges = "source,target\n0,1\n2,3\n4,5\n"
    notes = "\n".join(load_graph(folder(tmp_path, f"id,age,{drawn}\n{rows}", edges)).notes)
    assert "may be how the graph was drawn" in notes and "leave them out with data.drop=" in notes
    for name in drawn.split(","):
        assert name in notes
    plain = load_graph(folder(tmp_path, "id,x,y\n0,1,2\n1,2,5\n", "source,target\n0,1\n"))
    assert "drawn" not in "\n".join(plain.notes)
