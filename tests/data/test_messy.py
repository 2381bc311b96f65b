"""Tables as people have them: each test is named for what once misled a new user."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from dgb.cli import main
from dgb.data.graph import Graph
from dgb.data.load import load_graph, load_hetero
from dgb.data.look.trouble import trouble
from dgb.data.objects import to_graph
from dgb.data.spelling import group_values
from dgb.errors import DGBError
from dgb.estimator import DGB
from tests.data.test_edge_table import pairs

RING = "source,target\n" + "".join(f"{i},{(i + 1) % 12}\n" for i in range(12))


def folder(tmp_path: Path, nodes: str, edges: str = RING) -> Path:
    (tmp_path / "nodes.csv").write_text(nodes, "utf-8")
    (tmp_path / "edges.csv").write_text(edges, "utf-8")
    return tmp_path


def column(tmp_path: Path, cells: list[str], **reading: Any) -> Graph:
    rows = "".join(f'{i};"{cell}";{i % 2}\n' for i, cell in enumerate(cells))
    edges = "source,target\n" + "".join(f"{i},0\n" for i in range(1, len(cells)))
    return load_graph(folder(tmp_path, f"id;v;f\n{rows}", edges), **reading)


def values(graph: Graph, name: str = "v") -> Any:
    """Return a column of numbers as they stood in the table."""
    assert graph.encoding is not None
    names, (shift, scale) = graph.encoding.feature_names(), graph.encoding.scales()
    x = graph.x.toarray() if sparse.issparse(graph.x) else graph.x
    place = names.index(name)
    return x[:, place] * scale[place] + shift[place]


def form(graph: Graph) -> str:
    assert graph.encoding is not None
    return graph.encoding.columns[0].form


GAPS = "id,age,income,seen\n0,20,,2020-01-01\n1,,5,\n2,40,7,2020-01-03\n3,90,n/a,2020-01-09\n"
SQUARE = "source,target\n0,1\n1,2\n2,3\n"


def test_b11_empty_cells_are_filled_with_the_median_and_flagged(tmp_path: Path) -> None:
    graph = load_graph(folder(tmp_path, GAPS, SQUARE))
    assert values(graph, "age").tolist() == pytest.approx([20, 40, 40, 90])
    assert values(graph, "age=missing").tolist() == [0, 1, 0, 0]
    assert values(graph, "income=missing").tolist() == [1, 0, 0, 1]
    assert np.diff(values(graph, "seen"))[0] == pytest.approx(2, abs=1e-3)
    note = "nodes.csv: missing cells filled with the median and flagged in columns of their own: "
    assert f"{note}age 1, income 2, seen 1" in graph.notes


@pytest.mark.parametrize(("missing", "wanted"), [("mean", 50), ("median", 40)])
def test_b11_other_fillings(tmp_path: Path, missing: str, wanted: float) -> None:
    graph = load_graph(folder(tmp_path, GAPS, SQUARE), missing=missing)
    assert values(graph, "age")[1] == pytest.approx(wanted)
    assert graph.encoding is not None
    assert graph.encoding.feature_names() == ["age", "income", "seen"]
    assert (
        f"nodes.csv: missing cells filled with the {missing}: age 1, income 2, seen 1"
        in graph.notes
    )


def test_b11_missing_cells_of_frames_networks_and_lists() -> None:
    import networkx

    frame = {"a": [1.0, np.nan, 3], "d": pd.to_datetime(["2020-01-01", None, "2020-01-03"])}
    nodes = pd.DataFrame({"id": [0, 1, 2], **frame, "b": [True, None, False]})
    edges = pd.DataFrame({"source": [0, 1], "target": [1, 2]})
    assert values(to_graph(nodes, edges=edges), "a").tolist() == pytest.approx([1, 2, 3])
    network = networkx.path_graph(3)
    network.nodes[0]["a"], network.nodes[2]["a"] = 5, 9
    assert values(to_graph(network), "a").tolist() == pytest.approx([5, 7, 9])
    lists = {"id": [0, 1, 2, 3], "v": [[1.0, 8], None, [3.0, 4], [5.0, 0]]}
    filled = to_graph(lists, edges=edges)
    assert values(filled, "v#0").tolist() == pytest.approx([1, 3, 3, 5])
    assert values(filled, "v#1").tolist() == pytest.approx([8, 4, 4, 0], abs=1e-6)
    assert values(filled, "v=missing").tolist() == [0, 1, 0, 0]


def test_b11_a_run_fills_other_tables_with_its_own_median(tmp_path: Path) -> None:
    run = load_graph(folder(tmp_path, GAPS, SQUARE)).encoding
    rows = "id,age,income,seen\n5,,6,\n6,200,,2021-01-01\n"
    again = load_graph(folder(tmp_path, rows, "5,6\n"), encoding=run)
    assert again.encoding == run
    assert values(again, "age").tolist() == pytest.approx([40, 200])
    assert values(again, "income").tolist() == pytest.approx([6, 6])
    assert values(again, "income=missing").tolist() == [0, 1]


def test_b11_a_column_that_was_whole_in_training_is_filled_too(tmp_path: Path) -> None:
    whole = load_graph(folder(tmp_path, "id,age\n0,20\n1,30\n2,70\n", "0,1\n1,2\n")).encoding
    assert whole is not None and whole.feature_names() == ["age"]
    again = load_graph(folder(tmp_path, "id,age\n0,\n1,\n", "0,1\n"), encoding=whole)
    assert values(again, "age").tolist() == pytest.approx([30, 30])
    assert "nodes.csv: missing cells filled as in training: age 2" in again.notes


def test_b11_a_run_that_refused_gaps_refuses_them_again(tmp_path: Path) -> None:
    whole = "id,age\n0,20\n1,30\n2,70\n"
    run = load_graph(folder(tmp_path, whole, "0,1\n1,2\n"), missing="refuse").encoding
    with pytest.raises(
        DGBError, match=r"1 of 2: nodes\.csv:2: .*run was trained without such cells"
    ):
        load_graph(folder(tmp_path, "id,age\n0,\n1,5\n", "0,1\n"), encoding=run)


def test_b11_a_column_of_nothing_but_marks_is_not_used(tmp_path: Path) -> None:
    graph = load_graph(folder(tmp_path, "id,a,b\n0,nan,1\n1,NaN,0\n2,n/a,0\n", "0,1\n1,2\n"))
    assert graph.encoding is not None and graph.encoding.feature_names() == ["b"]
    assert "nodes.csv: columns without any value are not used: a" in graph.notes


def test_b11_all_faults_of_a_folder_are_told_at_once(tmp_path: Path) -> None:
    rows = "id,age,size\n0,1,inf\n1,x,2\n2,3,3\n3,4,4\n"
    edges = "source,target,weight\n0,1,1\n1,9,1\n2,8,1\n"
    (tmp_path / "labels.csv").write_text("id,label\n0,a\n7,b\n")
    with pytest.raises(DGBError) as caught:
        load_graph(folder(tmp_path, rows, edges))
    age, size, unknown, labels = str(caught.value).splitlines()
    assert "'age' that are not finite numbers, 1 of 4: nodes.csv:3: age is 'x'" in age
    assert "'size'" in size and "nodes.csv:2: size is 'inf'" in size
    assert "2 in all: edges.csv:3: node '9'; edges.csv:4: node '8'" in unknown
    assert "labels.csv:3: node '7'" in labels
    assert "--" not in str(caught.value)  # which are words of a command line


def test_b11_faults_of_ids_and_of_columns_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(DGBError) as caught:
        load_graph(folder(tmp_path, "id,age\n0,1\n0,2\n1,inf\n", "0,1\n"))
    again, age = str(caught.value).splitlines()
    assert "nodes.csv:3: id '0' again" in again and "'age'" in age


def test_b11_cells_of_rows_that_were_added_have_no_line(tmp_path: Path) -> None:
    rows, edges = "id,age\n0,20\n1,\n", "source,target\n0,1\n1,ann\n"
    with pytest.raises(DGBError, match=r"csv:3: age is empty; a row added to nodes\.csv: age"):
        load_graph(folder(tmp_path, rows, edges), unknown="add", missing="refuse")


def test_b11_nodes_that_only_edges_name_get_a_row(tmp_path: Path) -> None:
    rows = "id,age,kind,label\n0,20,a,x\n1,40,b,y\n2,60,a,x\n"
    edges = "source,target\n0,1\n1,2\n2,ann\nbob,ann\n"
    graph = load_graph(folder(tmp_path, rows, edges), unknown="add")
    assert graph.node_ids.tolist() == ["0", "1", "2", "ann", "bob"]
    assert values(graph, "age").tolist() == pytest.approx([20, 40, 60, 40, 40])
    assert values(graph, "age=missing").tolist() == [0, 0, 0, 1, 1]
    assert graph.labels is not None and graph.labels.tolist() == [0, 1, 0, -1, -1]
    note = "nodes.csv: rows of missing values added for nodes that edges name: 2"
    assert note in graph.notes and graph.num_edges == 4


def test_b11_rows_are_added_to_types_as_well(tmp_path: Path) -> None:
    for name, text in {
        "nodes/paper.csv": "id,year\n1,2000\n2,2010\n",
        "edges/paper-paper.csv": "1,2\n2,3\n",
        "edges/author-paper.csv": "ann,4\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    graph = load_hetero(tmp_path, unknown="add")
    assert graph.nodes["paper"].node_ids.tolist() == [1, 2, 4, 3]
    with pytest.raises(DGBError, match=r"(?s)node '4'.*\n.*node '3'"):
        load_hetero(tmp_path)


def test_a6_edges_that_count_from_one_are_not_shifted(tmp_path: Path) -> None:
    rows = "id,f\n" + "".join(f"{i},{i % 3}\n" for i in range(12))
    shifted = "source,target\n" + "".join(f"{i},{i + 1}\n" for i in range(1, 12))
    with pytest.raises(DGBError) as caught:
        load_graph(folder(tmp_path, rows, shifted))
    message = str(caught.value)
    assert "count nodes from 1 where rows count them from 0" in message
    assert "known but 12, and 0 has no edge; number both alike" in message
    assert "drop" not in message
    dropped = load_graph(folder(tmp_path, rows, shifted), unknown="drop")
    assert any("count nodes from 1" in note for note in dropped.notes)
    back = "source,target\n" + "".join(f"{i},{i + 1}\n" for i in range(11))
    later = "id,f\n" + "".join(f"{i + 1},{i % 3}\n" for i in range(12))
    with pytest.raises(DGBError, match=r"from 0 where rows count them from 1: .*12 has no edge"):
        load_graph(folder(tmp_path, later, back))


def test_a6_pairs_in_an_array_that_count_from_one_are_told(tmp_path: Path) -> None:
    np.save(tmp_path / "edges.npy", np.stack([np.arange(1, 5), np.arange(2, 6)]))
    np.save(tmp_path / "nodes.npy", np.eye(5))
    with pytest.raises(DGBError, match="seem to count from 1; subtract 1"):
        load_graph(tmp_path)


@pytest.mark.parametrize(
    ("spelt", "message"),
    [
        ("ANN,BOB\nANN,cy\n", "2 of 2 unknown ids differ from ids of rows only in case, as 'ANN'"),
        ("ann,bob\nann,7\n", "only in leading zeros, as '7' and '007' do"),
        ("ann,bob\nann,5.0\n", "only in a .0 behind them, as '5.0' and '5' do"),
    ],
)
def test_b14_ids_that_are_spelt_differently(tmp_path: Path, spelt: str, message: str) -> None:
    rows = "id,f\nann,1\nbob,0\ncy,0\n007,1\n5,1\n"
    edges = f"source,target\nbob,cy\n{spelt}"
    with pytest.raises(DGBError, match=message):
        load_graph(folder(tmp_path, rows, edges))
    dropped = load_graph(folder(tmp_path, rows, edges), unknown="drop")
    assert message in "".join(dropped.notes)


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        (["1,007", "12,500", "1,234,567", "3"], [1007, 12500, 1234567, 3]),
        (["1,007.50", "12", "3.25"], [1007.5, 12, 3.25]),
        (["950", "1,007", "800", "12,000", "1,100", "7"], [950, 1007, 800, 12000, 1100, 7]),
        (["3,5", "2,25", "4"], [3.5, 2.25, 4]),
        (["1.234,5", "2.000", "-3,125"], [1234.5, 2000, -3.125]),
        (["0,125", "12,500", "1,250"], [0.125, 12.5, 1.25]),
    ],
)
def test_a9_commas_are_read_where_they_can_mean_one_thing(
    tmp_path: Path, cells: list[str], wanted: list[float]
) -> None:
    graph = column(tmp_path, cells)
    assert values(graph).tolist() == pytest.approx(wanted, rel=1e-4, abs=0.01)
    assert any(f"such as {'1,007' if form(graph) == 'point' else '3,5'}" in n for n in graph.notes)


def test_a9_commas_that_can_mean_two_things_are_told_and_left(tmp_path: Path) -> None:
    cells = ["45,200", "38,150", "101,500"]
    graph = column(tmp_path, cells)
    assert graph.encoding is not None and graph.encoding.columns[0].kind == "category"
    note = "nodes.csv: numbers with a comma read as text; say by data.decimal=comma or point"
    assert any(told.startswith(note) and told.endswith(": v") for told in graph.notes)
    assert values(column(tmp_path, cells, decimal="point")).tolist() == pytest.approx(
        [45200, 38150, 101500]
    )
    assert values(column(tmp_path, cells, decimal="comma")).tolist() == pytest.approx(
        [45.2, 38.15, 101.5]
    )


def test_a9_another_column_of_the_file_tells_what_a_comma_is(tmp_path: Path) -> None:
    rows = 'id,pay,size\n0,"45,200",1.5\n1,"38,150",2.25\n2,"101,500",3\n'
    graph = load_graph(folder(tmp_path, rows, "0,1\n1,2\n"))
    assert values(graph, "pay").tolist() == pytest.approx([45200, 38150, 101500])


def test_a9_a_run_reads_commas_as_it_did(tmp_path: Path) -> None:
    run = column(tmp_path, ["3,5", "2,25", "4"]).encoding
    again = column(tmp_path, ["1,125", "2,250", "3,375"], encoding=run)
    assert values(again).tolist() == pytest.approx([1.125, 2.25, 3.375])


@pytest.mark.parametrize(
    ("cells", "days"),
    [
        (["31.12.2020", "1.1.2021", "03.01.2021"], [0, 1, 3]),
        (["12/31/2020", "01/01/2021", "1/3/2021"], [0, 1, 3]),
        (["31/12/2020", "01/01/2021", "03/01/2021 12:00"], [0, 1, 3.5]),
        (["2020/12/31", "2021.1.1"], [0, 1]),
        (["2020-12-31", "01.01.2021", "01/13/2021"], [0, 1, 13]),
    ],
)
def test_b12_dates_as_people_write_them(
    tmp_path: Path, cells: list[str], days: list[float]
) -> None:
    graph = column(tmp_path, cells)
    found = values(graph)
    assert (found - found[0]).tolist() == pytest.approx(days, abs=1e-2)
    assert graph.encoding is not None and graph.encoding.columns[0].unit == "days"


def test_b12_dates_that_can_mean_two_things_are_told_and_left(tmp_path: Path) -> None:
    cells = ["01/02/2021", "03/04/2021", "05/06/2021"]
    graph = column(tmp_path, cells)
    assert graph.encoding is not None and graph.encoding.columns[0].kind == "category"
    assert any("dates read as text; say by data.dates=day-first" in n for n in graph.notes)
    first = values(column(tmp_path, cells, dates="month-first"))
    assert (first - first[0]).tolist() == pytest.approx([0, 61, 124], abs=1e-2)


def test_b12_a_day_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DGBError, match=r"nodes\.csv:3: v is '31\.02\.2021'"):
        column(tmp_path, ["31.12.2020", "31.02.2021", "03.01.2021"])


def test_a5_mixed_white_space_is_one_separator(tmp_path: Path) -> None:
    (tmp_path / "ws.txt").write_text("12  45\t1.0\n45 7\t2.0\n7\t\t12   0.5\n")
    assert pairs(load_graph(tmp_path / "ws.txt")) == {(12, 45), (7, 45), (7, 12)}
    (tmp_path / "even.txt").write_text("12  45\t1.0\n45  7\t2.0\n7  12\t0.5\n")
    assert pairs(load_graph(tmp_path / "even.txt")) == {(12, 45), (7, 45), (7, 12)}
    (tmp_path / "text.txt").write_text("ann  bob\t1.0\nbob  cy\t2.0\n")
    assert pairs(load_graph(tmp_path / "text.txt")) == {("ann", "bob"), ("bob", "cy")}
    (tmp_path / "names.txt").write_text("Ann Lee\tBob Ray\nBob Ray\tCy Orr\n")
    assert pairs(load_graph(tmp_path / "names.txt")) == {
        ("Ann Lee", "Bob Ray"),
        ("Bob Ray", "Cy Orr"),
    }


@pytest.mark.parametrize("mark", ["|", "\x01", "~", "^"])
def test_b14_other_separators(tmp_path: Path, mark: str) -> None:
    rows = f"id{mark}name{mark}f\n0{mark}Shop, Ltd; #1{mark}1\n1{mark}Other{mark}0\n"
    graph = load_graph(folder(tmp_path, rows, f"source{mark}target\n0{mark}1\n"))
    assert graph.encoding is not None
    assert [c.name for c in graph.encoding.columns] == ["name", "f"]
    assert graph.num_edges == 1


def test_a8_columns_to_drop_may_be_named_one_by_one(tmp_path: Path, capsys: Any) -> None:
    path = folder(tmp_path, "id,a,b,c\n0,x1,1,inf\n1,x2,0,inf\n", "0,1\n")
    assert main(["data", "check", str(path), "--drop", "a", "--drop", "c"]) == 0
    assert "features                1\n" in capsys.readouterr().out
    assert main(["data", "check", str(path), "--drop", "a"]) == 2
    assert "leave the column out with --set data.drop=c" in capsys.readouterr().err


def test_a8_faults_are_lines_of_their_own_in_a_shell(tmp_path: Path, capsys: Any) -> None:
    path = folder(tmp_path, "id,a,b\n0,inf,1\n1,2,inf\n", "0,7\n")
    assert main(["data", "check", str(path)]) == 2
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 3 and all(line.startswith("dgb: ") for line in told)
    assert "--set data.unknown=drop" in told[2]


@pytest.mark.parametrize("column", ["is_churned\n1\n0\n1\n0\n0", "segment\nA\n\n\nB\n"])
def test_a10_a_column_that_looks_like_labels_is_told(tmp_path: Path, column: str) -> None:
    name, *cells = column.split("\n")
    rows = "".join(f"{i},{cell},{i % 3}\n" for i, cell in enumerate(cells))
    edges = "0,1\n1,2\n2,3\n3,4\n"
    graph = load_graph(folder(tmp_path, f"id,{name},f\n{rows}", edges))
    note = f"nodes.csv: column '{name}' looks like labels and is used as a feature"
    assert sum(told.startswith(note) for told in graph.notes) == 1
    named = load_graph(folder(tmp_path, f"id,{name},f\n{rows}", edges), label=name)
    assert not any("looks like labels" in told for told in named.notes)


def test_b12_spelling_variants_are_shown_and_not_changed(tmp_path: Path) -> None:
    segments = ["Retail"] * 20 + ["retail"] * 3 + ["retial"] + ["corporate"] * 12 + ["N/A"] * 2
    news = (["yes", "no", "Y", "true", "0"] * 8)[: len(segments)]
    rows = "".join(f"{i},{s},{n}\n" for i, (s, n) in enumerate(zip(segments, news, strict=True)))
    graph = load_graph(folder(tmp_path, f"id,segment,news\n{rows}"))
    told = "\n".join(trouble(graph))
    assert "'Retail' (20) = 'retail' (3) = 'retial' (1)" in told
    assert (
        "Values of 'segment' that may mean that there is none, and are categories: 'N/A' (2)"
        in told
    )
    assert "'no' (8) = '0' (7)" in told and "'yes' (8)" in told
    assert graph.encoding is not None
    assert "segment=retial" in graph.encoding.feature_names()
    rooms = {"room 1024": 40.0, "room 1025": 1.0, "bergen": 30.0, "berlin": 2.0}
    assert group_values(rooms) == []


def test_b11_a_model_fills_what_it_embeds(tmp_path: Path) -> None:
    nodes = {"id": list(range(6)), "age": [20.0, None, 40, 60, 80, 30], "size": [1, 2, 3, 4, 5, 6]}
    edges = {"source": [0, 1, 2, 3, 4, 5], "target": [1, 2, 3, 4, 5, 0]}
    small = ["encoder.width=4", "heads.hidden=4", "heads.width=4", "train.epochs=1"]
    with pytest.warns(UserWarning, match="missing cells filled with the median"):
        model = DGB("paper", overrides=small).fit(pd.DataFrame(nodes), edges=pd.DataFrame(edges))
    model.save(tmp_path / "model")
    gap = nodes | {"age": [20.0, None, 40, 60, 80, None]}
    with pytest.warns(UserWarning, match="missing cells filled as in training and flagged"):
        z = DGB.load(tmp_path / "model").transform(pd.DataFrame(gap), edges=pd.DataFrame(edges))
    assert z.shape == (6, 4) and np.isfinite(z).all()
    assert model.encoding_ is not None
    assert model.encoding_.columns[0].fill == (40.0,)
    assert model.encoding_.feature_names() == ["age", "age=missing", "size"]
