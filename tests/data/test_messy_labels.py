"""Labels as people have them: marks of nothing, spellings, and columns that give them away."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dgb.data.graph import Graph, are_numbers, label_numbers
from dgb.data.load import load_graph
from dgb.data.look.trouble import trouble
from dgb.errors import DGBError
from tests.data.test_messy import folder

COUNT = 60
RING = "source,target\n" + "".join(f"{i},{(i + 1) % COUNT}\n" for i in range(COUNT))


def labelled(tmp_path: Path, cell: Callable[[int], str], name: str = "label", **k: Any) -> Graph:
    rows = "".join(f"{i},{i % 7},{cell(i)}\n" for i in range(COUNT))
    return load_graph(folder(tmp_path, f"id,f,{name}\n{rows}", RING), **k)


@pytest.mark.parametrize("mark", ["?", "NaN", "n/a", "NULL", "\\N", "#N/A", "<NA>"])
def test_what_can_only_mean_no_label_is_none(tmp_path: Path, mark: str) -> None:
    graph = labelled(tmp_path, lambda i: ("a", "b", mark)[i % 3])
    assert graph.labels is not None and graph.label_names == ("a", "b")
    assert (graph.labels < 0).sum() == 20
    assert f"nodes.csv: label is {mark}, read as no label: 20" in graph.notes


@pytest.mark.parametrize("mark", ["unknown", "NA", "None"])
def test_what_may_mean_no_label_is_told_and_can_be_said(tmp_path: Path, mark: str) -> None:
    graph = labelled(tmp_path, lambda i: ("a", "b", mark)[i % 3])
    assert graph.num_classes == 3
    assert any(f"no label: {mark}; say data.empty={mark} if" in note for note in graph.notes)
    empty = labelled(tmp_path, lambda i: ("a", "b", mark)[i % 3], empty=mark)
    assert empty.label_names == ("a", "b")
    assert not any("data.empty" in note for note in empty.notes)


def test_what_means_nothing_can_be_said_of_numbers_and_categories_too(tmp_path: Path) -> None:
    slips = "".join(f"{i},{'<5' if i % 3 == 0 else i},{'ab-'[i % 3]}\n" for i in range(COUNT))
    path = folder(tmp_path, f"id,size,kind\n{slips}", RING)
    with pytest.raises(DGBError, match=r"size is '<5'.*say by data\.empty=<5 that such cells are"):
        load_graph(path)
    graph = load_graph(path, empty="<5,-")
    assert graph.encoding is not None
    assert graph.encoding.feature_names() == ["size", "size=missing", "kind=a", "kind=b"]


def test_a_column_that_is_asked_for_and_empty_is_told(tmp_path: Path) -> None:
    graph = labelled(tmp_path, lambda _: "", label="label")
    assert graph.labels is None
    assert "nodes.csv: column 'label' holds no label: all its cells are empty" in graph.notes


def test_measured_labels_are_no_feature(tmp_path: Path) -> None:
    graph = labelled(tmp_path, lambda i: str(i + 0.25), "target")
    assert graph.num_features == 1 and graph.num_classes == COUNT


def test_names_that_are_called_labels_are_told(tmp_path: Path) -> None:
    graph = labelled(tmp_path, lambda i: f"Person {i}")
    assert graph.labels is None
    assert any("'label' has another value in every row" in note for note in graph.notes)


def test_labels_that_are_spelt_in_two_ways_are_shown(tmp_path: Path) -> None:
    graph = labelled(tmp_path, lambda i: ("Yes", "yes", "no")[i % 3])
    assert any("different classes: 'Yes' = 'yes'" in told for told in trouble(graph))
    signed = labelled(tmp_path, lambda i: ("-1", "1")[i % 2])
    assert not any("different classes" in told for told in trouble(signed))


@pytest.mark.parametrize("copies", [("A", "B"), ("0", "7")])
def test_a_column_that_gives_the_label_away_is_told(
    tmp_path: Path, copies: tuple[str, str]
) -> None:
    rows = [f"{i},{i * i % 7},{copies[i % 2]},{'no' if i % 2 else 'yes'}\n" for i in range(COUNT)]
    path = folder(tmp_path, f"id,f,copy,label\n{''.join(rows)}", RING)
    graph = load_graph(path)
    assert any("every node: copy;" in note and "data.drop=copy" in note for note in graph.notes)
    assert not any("every node" in note for note in load_graph(path, drop="copy").notes)
    rows[:10] = [f"{i},1,{copies[i % 2]},{'yes' if i % 2 else 'no'}\n" for i in range(10)]
    path = folder(tmp_path, f"id,f,copy,label\n{''.join(rows)}", RING)
    assert not any("every node" in note for note in load_graph(path).notes)


@pytest.mark.parametrize(("form", "told"), [("{},5", "3,5 read as 3.5"), ("€{}.5", "without €")])
def test_many_labels_with_commas_or_marks_are_numbers(tmp_path: Path, form: str, told: str) -> None:
    graph = labelled(tmp_path, lambda i: f'"{form.format(i)}"' if i else "")
    assert are_numbers(graph) and told in "\n".join(graph.notes)
    numbers = label_numbers(graph)
    assert numbers is not None and np.isnan(numbers[0]) and numbers[29] == 29.5
    assert not any("classes" in sentence for sentence in trouble(graph))
    few = labelled(tmp_path, lambda i: f'"{form.format(i % 4)}"')
    assert few.label_names == tuple(form.format(i) for i in range(4))
