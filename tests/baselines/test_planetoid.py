"""Planetoid: what a context is and what is none, and the loss of a pair."""

import math
from dataclasses import replace

import numpy as np
import torch

from dgb.baselines.inputs import seeded
from dgb.baselines.learn import labelled_nodes
from dgb.baselines.planetoid import Planetoid, Settings, label_pairs, learn_labels_first
from dgb.data.graph import Graph
from dgb.evaluate.labels import without_test_labels
from tests.baselines.conftest import accuracy_of, dense_features


def minus_log_sigmoid(score: float) -> float:
    return -math.log(1 / (1 + math.exp(-score)))


def make_model(graph: Graph, settings: Settings) -> Planetoid:
    """Return a model whose embeddings and contexts are far from zero."""
    torch.manual_seed(0)
    model = Planetoid(graph, 2, settings).eval()
    torch.nn.init.normal_(model.skip_gram.centre)
    torch.nn.init.normal_(model.skip_gram.context)
    return model


def test_learns(two_blocks: Graph) -> None:
    assert accuracy_of("planetoid", two_blocks, batch_size=20, epochs=40) > 0.85


def test_label_loss_is_that_of_every_pair(two_blocks: Graph) -> None:
    model = make_model(two_blocks, Settings(dim=4))
    e, w = model.skip_gram.centre.detach(), model.skip_gram.context.detach()
    node, context, sign = [0, 1, 5, 5], [2, 1, 0, 4], [1, -1, -1, 1]
    terms = [
        minus_log_sigmoid(g * float(w[c] @ e[i]))
        for i, c, g in zip(node, context, sign, strict=True)
    ]
    loss = model.label_loss(torch.tensor(node), torch.tensor(context), torch.tensor(sign))
    assert math.isclose(loss.item(), sum(terms), rel_tol=1e-5)


def test_graph_loss_is_that_of_all_pairs_within_the_window(two_blocks: Graph) -> None:
    model = make_model(two_blocks, Settings(dim=4, window=2, length=5, negatives=3))
    e, w = model.skip_gram.centre.detach(), model.skip_gram.context.detach()
    walks, others = torch.tensor([[0, 1, 2, 1, 4], [5, 6, 5, 8, 9]]), torch.tensor([7, 7, 3])
    terms = []
    for walk in walks.tolist():
        for i in range(5):
            for j in {i - 2, i - 1, i + 1, i + 2} & set(range(5)):
                near = minus_log_sigmoid(float(e[walk[i]] @ w[walk[j]]))
                far = [minus_log_sigmoid(-float(e[walk[i]] @ w[c])) for c in others.tolist()]
                terms.append(near + 3 * np.mean(far))
    loss = model.graph_loss(walks, others)
    assert math.isclose(loss.item(), sum(terms), rel_tol=1e-5)


def test_label_contexts_share_the_class_where_the_sign_says_so() -> None:
    train, y = np.array([7, 3, 9, 1, 4, 6]), np.array([2, 0, 1, 2, 2, 0])
    label = dict(zip(train.tolist(), y.tolist(), strict=True))
    node, context, sign = label_pairs(train, y, 2000, np.random.default_rng(0))
    same = [label[i] == label[c] for i, c in zip(node.tolist(), context.tolist(), strict=True)]
    np.testing.assert_array_equal(np.where(same, 1, -1), sign)
    seen = set(zip(node.tolist(), context.tolist(), strict=True))
    assert seen == {(i, c) for i in train.tolist() for c in train.tolist()}


def test_supervised_steps_leave_the_embeddings(two_blocks: Graph) -> None:
    model = make_model(two_blocks, Settings())
    logits = model(dense_features(two_blocks))
    logits.sum().backward()
    assert model.skip_gram.centre.grad is None
    assert model.h_e.weight.grad is not None


def test_validation_labels_are_no_contexts(two_blocks: Graph) -> None:
    assert two_blocks.labels is not None
    shown = without_test_labels(two_blocks, 0)
    assert shown.labels is not None
    swapped = shown.labels.copy()
    validation = shown.splits[0].validation
    swapped[validation] = 1 - swapped[validation]
    vectors = []
    for labels in (shown.labels, swapped):
        graph = replace(shown, labels=labels)
        with seeded(0) as rng:
            model = Planetoid(graph, 2, Settings(label_steps=5, walks=1))
            learn_labels_first(model, graph, labelled_nodes(graph, torch.device("cpu")), rng)
        vectors.append(model.skip_gram.centre.detach())
    torch.testing.assert_close(vectors[0], vectors[1], rtol=0, atol=0)


def test_logits_read_features_and_embeddings(two_blocks: Graph) -> None:
    x, model = dense_features(two_blocks), make_model(two_blocks, Settings())
    assert model.h_x.bias is not None
    h_x = (x @ model.h_x.weight + model.h_x.bias).softmax(1)
    h_e = (model.skip_gram.centre @ model.h_e.weight.T + model.h_e.bias).softmax(1)
    expected = torch.hstack([h_x, h_e]) @ model.w_y.weight.T + model.w_y.bias
    torch.testing.assert_close(model(x), expected)
