"""Killed anywhere, a run loads, and goes on to the bits of one that nobody has killed."""

import json
import os
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import torch

from dgb.data.formats.npz import write_npz
from dgb.files.atomic import read_lines
from dgb.files.tensors import read_tensors
from dgb.report.page import write_report
from dgb.run.folder import EMBEDDINGS, RECIPE, SCORES, read_recipe
from dgb.run.model import MODEL
from dgb.run.update import DRIFT
from dgb.run.vectors import read_embeddings
from dgb.train import checkpoint
from dgb.train.monitor import read_metrics
from tests.conftest import QUICK_PROBE, make_blocks, take_nodes, with_dense_features
from tests.hetero import make_library, write_library
from tests.kill.attempts import attempt, count_touches, draw_death

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")

SMALL = "encoder.width=8 heads.hidden=8 heads.width=8 train.epochs=60 train.checkpoint_every=3"
VARIANTS = {
    "whole graph": ("blocks.npz", ""),
    "batches of rows on disk": ("dense.npz", "train.batch_size=40 train.keep=disk"),
    "heterogeneous": ("library", ""),
    "update": ("later.npz", ""),
}
BASE = "base"  # the run that an update starts from
EARLIER = "earlier.npz"  # its graph, before nodes came and went
KILLS_IN_A_ROW = 6  # after which an attempt may come to its end
MEASURED = {"seconds", "peak_mb"}  # by a clock, not by the training


@pytest.fixture
def data(tmp_path: Path) -> Path:
    blocks = make_blocks(90)
    write_npz(tmp_path / "blocks.npz", blocks)
    write_npz(tmp_path / "dense.npz", with_dense_features(blocks))
    write_npz(tmp_path / "citeseer.npz", blocks)
    write_npz(tmp_path / EARLIER, take_nodes(blocks, np.arange(80)))
    write_npz(tmp_path / "later.npz", take_nodes(blocks, np.arange(5, 90)[::-1]))
    write_library(tmp_path / "library", make_library())
    return tmp_path


def train_words(data: Path, variant: str, folder: Path) -> list[str]:
    name, more = VARIANTS[variant]
    if variant == "update" and folder.name != BASE:
        length = ["--set", "train.epochs=60"]
        return ["update", str(data / BASE), str(data / name), "--out", str(folder), *length]
    name = EARLIER if folder.name == BASE else name
    pairs = (*f"{SMALL} {more}".split(), *QUICK_PROBE)
    sets = [word for pair in pairs for word in ("--set", pair)]
    return ["train", str(data / name), "--out", str(folder), *sets]


def stage(folder: Path) -> str:
    """Return how far a run has come, and show that all there is of it can be read."""
    if not (folder / RECIPE).exists():
        return "before the recipe"
    read_recipe(folder)
    epochs = [line["epoch"] for line in read_metrics(folder)]
    assert epochs == list(range(1, len(epochs) + 1))
    for name in (checkpoint.FILE, checkpoint.PREVIOUS, MODEL):
        if (folder / name).exists():
            read_tensors(folder / name)
    if (folder / EMBEDDINGS).exists():
        read_embeddings(folder / EMBEDDINGS)
    write_report(folder)
    if (folder / SCORES).exists():
        return "after the scores"
    if (folder / EMBEDDINGS).exists():
        return "after the embeddings"
    return "while training" if epochs else "before the first epoch"


def assert_same_run(folder: Path, whole: Path) -> None:
    assert {f.name for f in folder.iterdir()} == {f.name for f in whole.iterdir()}
    assert (folder / EMBEDDINGS).read_bytes() == (whole / EMBEDDINGS).read_bytes()
    one, other = (read_tensors(run / MODEL)[0] for run in (folder, whole))
    assert one.keys() == other.keys() and all(torch.equal(one[key], other[key]) for key in one)
    assert without_clock(read_metrics(folder)) == without_clock(read_metrics(whole))
    scores = [json.loads((run / SCORES).read_text("utf-8")) for run in (folder, whole)]
    assert len({json.dumps(line) for line in without_clock(scores)}) == 1
    if (whole / DRIFT).exists():
        assert (folder / DRIFT).read_bytes() == (whole / DRIFT).read_bytes()


def without_clock(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{k: v for k, v in line.items() if k not in MEASURED} for line in lines]


def kill_trainings(data: Path, variant: str, kills: int, cold_every: int = 0) -> Counter[str]:
    """Kill trainings until there were that many kills; return where they hit."""
    random, hits, whole = Random(kills), Counter[str](), data / "whole"
    if variant == "update":
        assert attempt(train_words(data, variant, data / BASE), data / BASE) == 0
    before = read_files(data / BASE)
    seconds, touches = count_touches(train_words(data, variant, whole), whole)
    run = 0
    while hits.total() < kills:
        run += 1
        folder, in_a_row = data / f"run{run}", 0
        while True:
            is_begun = (folder / RECIPE).exists()
            words = train_words(data, variant, folder)
            words = ["train", "--resume", str(folder)] if is_begun else words
            is_cold = cold_every > 0 and hits.total() % cold_every == cold_every - 1
            death = draw_death(random, seconds, touches, is_cold=is_cold)
            may_end = in_a_row == KILLS_IN_A_ROW or hits.total() == kills
            if attempt(words, folder, None if may_end else death) == 0:
                break
            in_a_row += 1
            hits[stage(folder)] += 1
        assert_same_run(folder, whole)
    assert read_files(data / BASE) == before
    return hits


def read_files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*")}


def kill_reproductions(data: Path, kills: int, jobs: int = 1) -> int:
    """Kill measurements of a table until there were that many kills; return how often it ended."""
    random, done, tables = Random(kills), 0, 0
    words = ["reproduce", "table2", "--datasets", "citeseer", "--data-folder", str(data)]
    words += ["--methods", "raw,lp,sgc,random", "--runs", "3", "--jobs", str(jobs), "--offline"]
    whole = data / "table"
    seconds, touches = count_touches([*words, "--results", str(whole)], whole)
    while done < kills:
        tables += 1
        folder, in_a_row = data / f"table{tables}", 0
        while True:
            death = draw_death(random, seconds, touches, is_cold=False)
            may_end = in_a_row == KILLS_IN_A_ROW or done == kills
            code = attempt([*words, "--results", str(folder)], folder, None if may_end else death)
            if code == 0:
                break
            done, in_a_row = done + 1, in_a_row + 1
            assert all(set(line) >= {"method", "seed"} for line in table_lines(folder))
        assert table_lines(folder) == table_lines(whole)
    return tables


def table_lines(folder: Path) -> list[dict[str, Any]]:
    """Return what a table's file holds; the order is that of measuring, which may differ."""
    lines = without_clock(read_lines(folder / "table2.jsonl"))
    return sorted(lines, key=lambda line: (line["method"], line["seed"]))


def test_a_killed_training_ends_as_if_it_had_never_been(data: Path) -> None:
    assert kill_trainings(data, "whole graph", 6).total() == 6


def test_a_killed_update_ends_as_if_it_had_never_been(data: Path) -> None:
    assert kill_trainings(data, "update", 4).total() == 4


def test_a_killed_reproduction_measures_every_line_once(data: Path) -> None:
    assert kill_reproductions(data, 4) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_trainings_killed_anywhere(data: Path, variant: str) -> None:
    kills = int(os.environ.get("DGB_KILLS", "200")) // 4
    hits = kill_trainings(data, variant, kills, cold_every=5)
    print(f"\n{hits.total()} kills of trainings, {variant}: {dict(hits)}")
    assert hits.total() == kills and len(hits) > 2


@pytest.mark.slow
@pytest.mark.parametrize(("jobs", "share"), [(1, 5), (2, 20)])
def test_reproductions_killed_anywhere(data: Path, jobs: int, share: int) -> None:
    kills = int(os.environ.get("DGB_KILLS", "200")) // share
    tables = kill_reproductions(data, kills, jobs)
    print(f"\n{kills} kills of reproductions, {jobs} at once, in {tables} tables")


def test_vectors_are_compared_by_their_bits(data: Path) -> None:
    """Show that the comparison above can fail: one bit of one vector is enough."""
    whole, other = data / "whole", data / "other"
    for folder in (whole, other):
        assert attempt(train_words(data, "whole graph", folder), folder) == 0
    assert_same_run(other, whole)
    content = bytearray((other / EMBEDDINGS).read_bytes())
    content[len(content) // 2] ^= 1
    (other / EMBEDDINGS).write_bytes(content)
    with pytest.raises(AssertionError):
        assert_same_run(other, whole)
    assert np.isfinite(read_embeddings(whole / EMBEDDINGS)[1]).all()
