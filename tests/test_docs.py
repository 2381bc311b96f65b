"""Commands and Python blocks of the documentation run, and its numbers are those of results/."""

import inspect
import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

import dgb
from dgb.baselines.methods import METHODS
from dgb.cli import main
from dgb.evaluate import heco
from dgb.recipe import Recipe
from dgb.reproduce.render import BY_DGI
from tests.conftest import QUICK_PROBE

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
PAGES = [
    "README.md",
    *(f"docs/{name}.md" for name in ("own-data", "without-labels", "new-nodes", "large-graphs")),
    *("docs/heterogeneous.md", "docs/api.md", "docs/decisions.md"),
]
TRAINING = ("train", "evaluate", "compare", "tune")
# The commands are those of the page; only the training is cut short.
SHORT = ["train.epochs=2", "encoder.width=8", "heads.hidden=8", "heads.width=8"]
SHORT += QUICK_PROBE
ROWS = {  # of the README, and what results/table2.md calls them
    "DGB, the default recipe": "DGB, default recipe",
    "DGB, the paper's method (`--recipe paper-cora`)": "DGB",
    "CCA-SSG": "CCA-SSG",
    "features diffused, nothing learnt": "diffused features",
    "MVGRL": "MVGRL",
    "DGI": "DGI",
    "GCN, supervised": "GCN",
    "DGB's encoder, untrained": "untrained GCN",
    "raw features": "Raw features",
}


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def shortened(words: list[str]) -> list[str]:
    if words[0] not in TRAINING or "large" in words:
        return words
    return [*words, *(word for setting in SHORT for word in ("--set", setting))]


def rows_of(text: str) -> dict[str, list[str]]:
    """Return the cells of every line of a Markdown table by the first one."""
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in lines}


@pytest.fixture
def _short_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Probe in few steps, which take longer than a training that is cut short."""
    monkeypatch.setattr(heco, "STEPS", 5)


@pytest.mark.usefixtures("_short_probe")
@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    lines = [line for block in blocks(page, "sh") for line in block.splitlines() if line.strip()]
    for line in lines:
        name, *words = shlex.split(line, comments=True)
        assert name == "dgb", f"{page}: {line}"
        assert main(shortened(words)) == 0, f"{line}\n{capsys.readouterr().err}"
    names: dict[str, object] = {}
    for block in blocks(page, "python"):
        exec(block, names)
    assert lines or names


def test_the_readme_is_one_page() -> None:
    lines = README.splitlines()
    assert len(lines) <= 150 and max(map(len, lines)) <= 120


def test_the_table_of_the_readme_is_that_of_the_results() -> None:
    shown = rows_of(README)
    by_our_probe, _ = (ROOT / "results" / "table2.md").read_text("utf-8").split(BY_DGI)
    measured = rows_of(by_our_probe)
    for ours, theirs in ROWS.items():
        assert shown[ours] == [cell.split(" (")[0] for cell in measured[theirs]], ours
    published = [re.search(r"published ([\d.]+)", cell) for cell in measured["DGB"]]
    assert shown["DGB as published"] == [found[1] for found in published if found]


def test_every_decimal_of_the_readme_is_one_of_the_documentation() -> None:
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "results").glob("*.md")]
    known = set(re.findall(r"\d+\.\d+", " ".join(page.read_text("utf-8") for page in pages)))
    prose = re.sub(r"^```.*?^```", "", README, flags=re.DOTALL | re.MULTILINE)
    prose = prose.replace("With Python 3.11 to 3.13", "")
    assert set(re.findall(r"\d+\.\d+", prose)) <= known


def test_speed_and_counts_of_the_readme_are_as_measured() -> None:
    times = {row["name"]: row["ms"] for row in _read("bench-step-cora.json")["rows"]}
    ours = times["ours, PPR to 1e-3"]
    cost = _read("bench-million.json")["cost"]
    assert f"takes {ours / times['floor']:.2f} × the time of its own dense" in README
    assert f"is {times['plain PyG'] / ours:.1f} × faster than plain PyG" in README
    assert f"{cost['minutes']:.1f} minutes and {cost['peak_gb']:.1f} GB" in README
    assert f"DGB next to {len(METHODS) - 1} other systems" in README


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "results" / name).read_text("utf-8"))
    return found


def test_the_page_of_settings_has_the_defaults() -> None:
    recipe, checked = Recipe(), 0
    for keys, cells in rows_of((ROOT / "docs" / "settings.md").read_text("utf-8")).items():
        names = re.findall(r"`(\w+)\.(\w+)`", keys)
        values = [_text(getattr(getattr(recipe, section), key)) for section, key in names]
        shown = [text.strip("` ") for text in re.split(r",(?![^\[]*\])", cells[0])]
        assert not names or shown == values, keys
        checked += len(names)
    assert checked >= 20


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return str(list(value))
    return f"{value:g}" if isinstance(value, float) else str(value)


@pytest.mark.parametrize("name", dgb.__all__)
def test_help_teaches_every_exported_name(name: str) -> None:
    exported = getattr(dgb, name)
    text = f"{exported.__doc__}\n{exported.__init__.__doc__}"
    assert "Args:" in text and ("Example:" in text or ">>> " in text)
    assert inspect.isclass(exported) or "Returns:" in text


def test_the_documentation_links_to_what_is_there() -> None:
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        text = path.read_text("utf-8")
        for name in re.findall(r"\b(?:docs|examples|scripts|benchmarks)/[\w./-]*\w", text):
            assert (ROOT / name).exists(), f"{path.name} names {name}"


def test_every_promise_names_a_test_that_is_there() -> None:
    text = (ROOT / "docs" / "reliability.md").read_text("utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
    assert len(named) > 40
    for file, name in named:
        assert f"def {name}(" in (ROOT / file).read_text("utf-8"), f"{file} has no {name}"
