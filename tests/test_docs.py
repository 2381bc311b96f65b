"""Every command and every Python block of the documentation runs, on the example as it stands."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from dgb.cli import main

ROOT = Path(__file__).parent.parent
PAGES = ["own-data", "without-labels", "new-nodes", "large-graphs", "heterogeneous", "api"]
TRAINING = ("train", "evaluate", "compare", "tune")
# The commands are those of the page; only the training is cut short.
SHORT = ["train.epochs=2", "encoder.width=8", "heads.hidden=8", "heads.width=8"]


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / "docs" / f"{page}.md").read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def shortened(words: list[str]) -> list[str]:
    if words[0] not in TRAINING or "large" in words:
        return words
    return [*words, *(word for setting in SHORT for word in ("--set", setting))]


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
