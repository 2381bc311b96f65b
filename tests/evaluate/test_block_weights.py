"""Weights of blocks: chosen on validation alone, apart from the main figure, off by default."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dgb.arrays import Array
from dgb.cli import main
from dgb.cookbook import load_recipe
from dgb.data.formats.npz import write_npz
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.evaluate.probe import linear_probe
from dgb.evaluate.scores import Blocks, weigh_blocks
from dgb.measure.repeat import blocks_lines
from dgb.recipe import Probe
from dgb.run.resolve import check_recipe
from tests.conftest import QUICK_PROBE, make_blocks

BLOCKS = Blocks(
    {"learnt": 8, "diffused": 8, "structure": 4}, {"learnt": 1.0, "diffused": 1.0, "structure": 0.3}
)
QUICK = Probe(weight_decays=(1e-2, 1e-3), normalise="none")
SMALL = ["encoder.width=4", "heads.hidden=4", "heads.width=4", "train.epochs=2", *QUICK_PROBE]
SMALL += ["embed.learnt_columns=8", "embed.diffused_columns=8", "embed.structure_columns=4"]


def vectors(labels: Array, noise: tuple[float, float, float]) -> Array:
    """Return blocks that point at classes, and as much noise of length one as they are given."""
    rng = np.random.default_rng(0)
    parts = []
    for width, share in zip(BLOCKS.widths.values(), noise, strict=True):
        centres, drawn = rng.normal(size=(3, width)), rng.normal(size=(len(labels), width))
        parts.append((1 - share) * centres[labels] + share * drawn)
    weighed = [part * own for part, own in zip(parts, BLOCKS.weights.values(), strict=True)]
    return np.concatenate(weighed, axis=1).astype(np.float32)


@pytest.fixture
def graph() -> Graph:
    return make_blocks(300)


def weights_of(z: Array, graph: Graph, blocks: Blocks = BLOCKS) -> dict[str, float]:
    assert graph.labels is not None
    found = weigh_blocks(z, graph.labels, graph.splits[0], QUICK, blocks)
    weights: dict[str, float] = found.settings["weights"]
    return weights


def test_a_block_of_noise_gets_no_weight_and_one_that_helps_keeps_some(graph: Graph) -> None:
    assert graph.labels is not None
    drowned = vectors(graph.labels, (0.75, 1.0, 0.75))
    drowned[:, 8:16] *= 5
    found = weights_of(drowned, graph)
    assert found["diffused"] == 0 and found["structure"] > 0 and found["learnt"] == 1


def test_test_labels_cannot_change_what_is_chosen(graph: Graph) -> None:
    assert graph.labels is not None
    split, z = graph.splits[0], vectors(graph.labels, (0.8, 0.8, 0.9))
    shuffled = graph.labels.copy()
    shuffled[split.test] = np.random.default_rng(5).permutation(shuffled[split.test])
    one, other = (weigh_blocks(z, y, split, QUICK, BLOCKS) for y in (graph.labels, shuffled))
    assert (one.settings, one.validation) == (other.settings, other.validation)
    assert one.test != other.test


def test_own_weights_are_among_those_tried(graph: Graph) -> None:
    assert graph.labels is not None
    blocks = Blocks(BLOCKS.widths, {"learnt": 1.0, "diffused": 2.0, "structure": 0.3})
    tried = list(blocks.choices())
    assert tried[0] == blocks.weights and len(tried) == 4 * 3
    assert all(weights["learnt"] == 1 for weights in tried)
    np.testing.assert_array_equal(blocks.factors(tried[0]), np.ones(20, np.float32))
    halved = blocks.factors(tried[0] | {"diffused": 1.0})
    np.testing.assert_array_equal(halved, np.repeat(np.array([1, 0.5, 1], np.float32), [8, 8, 4]))
    z, split = vectors(graph.labels, (0.8, 0.8, 0.9)), graph.splits[0]
    weighed = weigh_blocks(z, graph.labels, split, QUICK, blocks)
    assert weighed.validation >= linear_probe(z, graph.labels, split, QUICK).validation


def test_a_block_that_came_with_no_weight_has_none(graph: Graph) -> None:
    assert graph.labels is not None
    blocks = Blocks(BLOCKS.widths, BLOCKS.weights | {"diffused": 0.0})
    z = vectors(graph.labels, (0.8, 0.8, 0.9))
    z[:, 8:16] = 0
    assert len(list(blocks.choices())) == 3 and weights_of(z, graph, blocks)["diffused"] == 0


def test_a_run_tells_them_apart_from_the_figures_that_it_has_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_npz(tmp_path / "graph.npz", make_blocks(90))
    runs, printed = {}, {}
    for name in ("off", "true"):
        settings = [*SMALL, *([f"probe.blocks={name}"] if name == "true" else [])]
        words = [word for setting in settings for word in ("--set", setting)]
        out = tmp_path / name
        assert main(["train", str(tmp_path / "graph.npz"), "--out", str(out), *words]) == 0
        printed[name] = capsys.readouterr().out
        runs[name] = json.loads((out / "scores.json").read_text("utf-8"))
    vectors = [(tmp_path / name / "embeddings.parquet").read_bytes() for name in runs]
    assert vectors[0] == vectors[1]
    for system in ("dgb", "random", "raw"):
        weighed = runs["true"][system].pop("blocks", None)
        assert (weighed is None) == (system == "raw")
        assert runs["true"][system] == runs["off"][system]
    assert runs["true"]["recipe"] != runs["off"]["recipe"]
    assert "× structure" in printed["true"] and "×" not in printed["off"]
    before, page = ((tmp_path / name / "report.html").read_text("utf-8") for name in runs)
    assert "blocks weighed" in page and "blocks weighed" not in before


def test_the_table_has_a_row_for_each_system_with_blocks() -> None:
    def line(test: float, weight: float) -> dict[str, Any]:
        weights = {"learnt": 1.0, "structure": weight}
        scores = {"validation": 0.5, "test": test, "settings": {"weights": weights}}
        return {"dgb": {"blocks": scores}, "raw": {}}

    table = blocks_lines([line(0.8, 0.0), line(0.9, 0.3)])
    assert len(table) == 4 and "probe.blocks" in table[1] and "× learnt" in table[2]
    assert table[3].split("  ")[-1].strip() == "0.15 ± 0.21" and "85.0 ± 7.1" in table[3]
    assert blocks_lines([{"dgb": {}, "raw": {}}]) == []


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (["embed.blocks=learnt"], "this recipe has one; set embed.blocks="),
        (["probe.kind=dgi"], "set probe.kind=linear"),
    ],
)
def test_what_has_no_blocks_to_weigh_is_refused(settings: list[str], reason: str) -> None:
    with pytest.raises(DGBError, match=reason):
        check_recipe(load_recipe("default", ["probe.blocks=true", *settings]))


def test_rows_of_others_are_refused(
    graph: Graph, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert graph.labels is not None
    with pytest.raises(DGBError, match="rows of other systems and of files do not have"):
        linear_probe(np.ones((300, 2)), graph.labels, graph.splits[0], Probe(blocks=True))
    write_npz(tmp_path / "graph.npz", graph)
    words = ["compare", str(tmp_path / "graph.npz"), "--set", "probe.blocks=true"]
    assert main([*words, "--out", str(tmp_path / "out")]) == 2
    assert "leave it out here" in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_a_run_with_weights_embeds_fewer_blocks(tmp_path: Path) -> None:
    write_npz(tmp_path / "graph.npz", make_blocks(60))
    words = [word for setting in (*SMALL, "probe.blocks=true") for word in ("--set", setting)]
    run, out = tmp_path / "run", tmp_path / "few.parquet"
    begin = ["train", str(tmp_path / "graph.npz"), "--no-report", "--out", str(run)]
    assert main([*begin, *words]) == 0
    assert main(["embed", str(run), "--set", "embed.blocks=learnt", "--out", str(out)]) == 0
