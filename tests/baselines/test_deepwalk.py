"""DeepWalk: walks along edges, the loss pair by pair, and graphs without features."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from scipy import sparse

from dgb.baselines.deepwalk import Settings, SkipGram, draw_walks, pair_weights, represent
from dgb.data.graph import Graph
from tests.baselines.conftest import accuracy_of


def test_learns(two_blocks: Graph) -> None:
    small: dict[str, Any] = {"dim": 16, "window": 5, "batch_size": 16, "learning_rate": 0.05}
    assert accuracy_of("deepwalk-alone", two_blocks, **small) > 0.85
    assert accuracy_of("deepwalk", two_blocks, **small) > 0.85


def test_loss_is_that_of_every_pair() -> None:
    torch.manual_seed(0)
    model = SkipGram(5, 4, pair_weights(6, 3), 2)
    torch.nn.init.normal_(model.centre)
    torch.nn.init.normal_(model.context)
    walks, negatives = torch.randint(5, (3, 6)), torch.tensor([1, 4, 4])

    def minus_log_sigmoid(score: float) -> float:
        return -math.log(1 / (1 + math.exp(-score)))

    loss = pairs = 0.0
    for walk in walks.tolist():
        for i in range(6):
            for j in range(6):
                if i == j or abs(i - j) > 3:
                    continue
                # word2vec draws the window from 1, 2, 3: how many of these hold the pair
                weight = sum(abs(i - j) <= drawn for drawn in (1, 2, 3)) / 3
                e = model.centre[walk[i]]
                pair = minus_log_sigmoid((e @ model.context[walk[j]]).item())
                for k in negatives.tolist():
                    pair += 2 / 3 * minus_log_sigmoid(-(e @ model.context[k]).item())
                loss, pairs = loss + weight * pair, pairs + weight
    assert math.isclose(model(walks, negatives).item(), loss / pairs, rel_tol=1e-5)


def test_walks_follow_edges_by_weight_and_stay_where_there_are_none() -> None:
    edges = np.array([[0, 3, 1, 0], [3, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]], dtype=np.float32)
    starts = np.tile(np.arange(4), 1000)
    walks = draw_walks(sparse.csr_array(edges), starts, 5, np.random.default_rng(0))
    np.testing.assert_array_equal(walks[:, 0], starts)
    np.testing.assert_array_equal(walks[starts == 3], 3)
    moving = walks[starts != 3]
    assert (edges[moving[:, :-1], moving[:, 1:]] > 0).all()
    assert abs((walks[starts == 0, 1] == 1).mean() - 0.75) < 0.05


def test_a_graph_without_features_has_embeddings(two_blocks: Graph) -> None:
    bare = replace(two_blocks, x=two_blocks.x[:, :0], labels=None, splits=())
    small = Settings(features=False, dim=8, walks=1)
    z = represent(bare, small, 0)
    assert z.shape == (120, 8)
    np.testing.assert_array_equal(z, represent(two_blocks, small, 0))


def test_embedding_and_features_have_length_one_each(two_blocks: Graph) -> None:
    z = represent(two_blocks, Settings(dim=8, walks=1), 0)
    assert z.shape == (120, 8 + 40)
    np.testing.assert_allclose(np.linalg.norm(z[:, :8], axis=1), 1, rtol=1e-5)
    has_features = two_blocks.x.sum(axis=1) > 0
    np.testing.assert_allclose(np.linalg.norm(z[:, 8:], axis=1), has_features, rtol=1e-5)
