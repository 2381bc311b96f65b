"""Blocks that suit a graph: told without labels, kept in the recipe, never over a setting."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dgb.cookbook import load_recipe
from dgb.data.blocks import KINDS, Blocks, make_blocks
from dgb.data.graph import Graph
from dgb.data.load import load_graph
from dgb.recipe import Embed
from dgb.run.resolve import resolve_recipe
from dgb.settings import make_section

KINDS_AND_WEIGHTS: dict[str, dict[str, Any]] = {
    "noise-features": {"structure_weight": 2.0},
    "heterophily": {"diffused_alpha": 1.0},
    "chance-edges": {"diffused_alpha": 1.0, "diffused_weight": 2.0, "structure_weight": 0.1},
}


def invented(folder: Path, kind: str) -> Graph:
    """Return a graph of a kind, without its labels."""
    make_blocks(folder, make_section(Blocks, "blocks", KINDS[kind] | {"nodes": 1000}))
    return replace(load_graph(folder), labels=None, splits=())


@pytest.mark.parametrize("kind", KINDS_AND_WEIGHTS)
def test_a_graph_has_the_weights_of_its_kind(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = KINDS_AND_WEIGHTS[kind]
    graph = invented(tmp_path / kind, kind)
    found = resolve_recipe(graph, load_recipe())
    assert found.embed == replace(Embed(), by_graph=False, **changed)
    told = capsys.readouterr().err
    assert all(f"embed.{key}={value}" in told for key, value in changed.items())
    assert resolve_recipe(graph, found) == found and not capsys.readouterr().err
    mine = load_recipe("default", ["embed.structure_weight=0.7", "embed.diffused_alpha=0.2"])
    kept = resolve_recipe(graph, mine).embed
    assert (kept.structure_weight, kept.diffused_alpha) == (0.7, 0.2)


def test_neighbors_that_are_alike_have_the_default(blocks: Graph) -> None:
    found = resolve_recipe(blocks, load_recipe())
    assert found.embed == replace(Embed(), by_graph=False)
    assert resolve_recipe(blocks, load_recipe("paper")) == load_recipe("paper")
