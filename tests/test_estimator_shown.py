"""What an estimator shows: the map as a figure, and the page."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dgb import DGB, DGBError
from dgb.data.graph import Graph
from tests.hetero import make_library

SMALL = ("heads.hidden=8", "heads.width=8")


def fitted(source: Any, **options: Any) -> DGB:
    recipe = "hetero" if hasattr(source, "relations") else "paper-cora"
    model = DGB(recipe, SMALL, width=8, epochs=1, random_state=0, verbose=False, **options)
    return model.fit(source if not options else source.node_ids)


def data_of(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])["map"]


def test_the_map_is_drawn_by_category_number_or_neither(blocks: Graph, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    model = fitted(blocks)
    names = np.array(["a", "b", None], dtype=object)[blocks.labels]
    axes = model.plot(names)
    assert sum(len(points.get_offsets()) for points in axes.collections) == 90
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["unknown", "a", "b"]
    axes.figure.savefig(tmp_path / "map.png")
    assert (tmp_path / "map.png").stat().st_size > 5000
    own = axes.figure.add_subplot()
    assert model.plot(np.linspace(0, 1, 90), ax=own) is own and len(own.figure.axes) == 3
    plain = model.plot(range(90))  # too many to be classes
    assert plain.get_legend() is None and "90 nodes" in plain.get_title()
    letters = [chr(97 + i % 12) for i in range(90)]
    assert model.plot(letters).get_legend().get_texts()[0].get_text() == "other"
    assert len(model.plot().collections) == 1
    for wrong in (names[:5], np.zeros((90, 2))):
        with pytest.raises(DGBError, match="one value for each of 90 nodes"):
            model.plot(wrong)


def test_a_missing_matplotlib_is_told(blocks: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted(blocks)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(DGBError, match=r"pip install 'deep-graph-bootstrapping\[plot\]'"):
        model.plot()


def test_the_page_has_map_scores_and_recipe(blocks: Graph, tmp_path: Path) -> None:
    model = fitted(blocks)
    path = model.report(blocks, tmp_path / "blocks.html")
    page = path.read_text("utf-8")
    assert path == tmp_path / "blocks.html" and "DGB on blocks" in page
    for there in ("Test accuracy", "Which classes are confused", "Effective rank"):
        assert there in page
    for absent in ("not finished", "Training time", "0 epochs"):
        assert absent not in page
    drawn = data_of(page)
    assert drawn["count"] == 90 and drawn["label"]["names"] == ["a", "b", "c"]
    assert drawn["predicted"]["names"]


def test_the_page_of_a_given_graph_and_of_several_types(blocks: Graph, tmp_path: Path) -> None:
    path = fitted(blocks, graph=blocks).report(path=tmp_path / "ids.html")
    assert data_of(path.read_text("utf-8"))["count"] == 90
    library = make_library()
    model = fitted(library)
    assert "Meta-paths" not in model.report(library, tmp_path / "library.html").read_text("utf-8")


def test_what_the_page_lacks_is_told(blocks: Graph, tmp_path: Path) -> None:
    model = fitted(blocks)
    with pytest.raises(DGBError, match=r"report\(GRAPH\)"):
        model.report()
    with pytest.raises(DGBError, match="cannot"):
        model.report(blocks, tmp_path / "nowhere" / "page.html")
