"""Effective rank and spread on matrices whose answer is known, and the warning on collapse."""

import pytest
import torch

from dgb.cookbook import load_recipe
from dgb.data.graph import Graph
from dgb.run.train import train
from dgb.train.monitor import effective_rank, is_collapsed, spread


def test_effective_rank_counts_directions() -> None:
    corners = torch.cat([torch.eye(4), -torch.eye(4)]).repeat(10, 1)
    assert effective_rank(corners) == pytest.approx(4)
    assert effective_rank(corners[:, :1] * torch.randn(1, 6)) == pytest.approx(1, abs=1e-3)


def test_effective_rank_of_a_constant_is_zero() -> None:
    assert effective_rank(torch.ones(50, 6)) == 0


def test_effective_rank_of_more_columns_than_rows() -> None:
    assert 5 < effective_rank(torch.randn(10, 300)) <= 9.01


def test_spread_is_one_for_opposite_rows_and_zero_for_equal_ones() -> None:
    rows = torch.randn(30, 5)
    assert spread(torch.cat([rows, -rows])) == pytest.approx(1)
    assert spread(rows[:1].expand(30, 5) * torch.rand(30, 1)) == pytest.approx(0, abs=1e-5)


def test_collapse_is_told_from_health() -> None:
    assert is_collapsed({"spread": 1e-4, "effective_rank": 50})
    assert is_collapsed({"spread": 0.5, "effective_rank": 1.2})
    assert not is_collapsed({"spread": 0.5, "effective_rank": 50})
    assert not is_collapsed({"loss": 1.0})


def test_a_collapsing_run_warns_once(blocks: Graph, capsys: pytest.CaptureFixture[str]) -> None:
    sets = ["heads.batch_norm=false", "heads.activation=none", "train.decay=0", "encoder.width=16"]
    sets += ["heads.hidden=16", "heads.width=16", "train.learning_rate=0.05", "train.epochs=150"]
    train(blocks, load_recipe("paper", [*sets, "encoder.activation=relu"]))
    assert capsys.readouterr().err.count("collapsed") == 1
