"""The notebook of examples/ runs from its first cell to its last."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
CELLS: list[dict[str, Any]] = json.loads((EXAMPLES / "tour.ipynb").read_text("utf-8"))["cells"]
CODE = ["".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code"]


def test_the_notebook_is_kept_without_outputs() -> None:
    assert len(CODE) >= 8
    assert all(not cell.get("outputs") and not cell.get("execution_count") for cell in CELLS)
    for number, cell in enumerate(CODE):
        compile(cell, f"cell {number}", "exec")


@pytest.mark.slow
def test_the_notebook_leads_to_a_decision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(EXAMPLES / "shop", tmp_path / "shop")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for number, cell in enumerate(CODE):
        exec(compile(cell, f"cell {number}", "exec"), names)
    assert names["found"].score > 0.7
    assert len(names["to_call"]) == 20 and names["to_call"].leaves.min() > 0.5
    page = (names["folder"] / "report.html").read_text("utf-8")
    assert re.search("DGB on ", page) and "Test accuracy" in page
