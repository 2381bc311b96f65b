"""Hidden edges as a second thing to predict: what is asked, what is never asked, and learning."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.metrics import roc_auc_score

from dgb.arrays import Array
from dgb.cookbook import load_recipe, recipe_hash
from dgb.data.graph import Graph, make_graph
from dgb.data.structure import structural_features, with_structure
from dgb.errors import DGBError
from dgb.evaluate.link_split import hold_out
from dgb.model.bootstrap import Bootstrap
from dgb.model.loss import LinkTerm, make_loss, regression_loss
from dgb.recipe import Recipe
from dgb.run.resolve import check_recipe
from dgb.run.setup import draw_model, make_setup
from dgb.run.train import train
from dgb.train.loop import fit
from dgb.train.monitor import area_under_curve, health
from dgb.views.augment import draw_absent, parse_view
from dgb.views.inputs import edge_codes, make_inputs
from dgb.views.operators import make_adj
from dgb.views.rows import keep_together
from dgb.views.sampler import epoch_sampler
from dgb.views.view import View

CPU = torch.device("cpu")
SETS = ["encoder.width=8", "heads.hidden=10", "heads.width=6", "view2.augment=nd+adj"]
SETS += ["view1.augment=ed+nfd+adj", "links.weight=1", "links.decoder=5", "train.epochs=4"]


def recipe_with(*sets: str) -> Recipe:
    return load_recipe("paper", [*SETS, *sets])


def test_absent_pairs_are_neither_edges_nor_loops() -> None:
    rng = np.random.default_rng(0)
    half = np.triu(rng.random((30, 30)) < 0.5, 1)
    adjacency = sparse.csr_array((half + half.T).astype(np.float32))
    pairs = draw_absent(edge_codes(adjacency), 30, 5000, torch.Generator().manual_seed(0))
    assert adjacency.toarray()[pairs[0].numpy(), pairs[1].numpy()].sum() == 0
    assert (pairs[0] != pairs[1]).all()
    absent = 30 * 29 - adjacency.nnz
    assert pairs.shape[1] == pytest.approx(5000 * absent / 900, rel=0.05)
    assert len({(i, j) for i, j in pairs.T.tolist()}) > 0.99 * absent  # every one can be drawn


def test_absent_pairs_of_a_graph_without_edges() -> None:
    nothing = sparse.csr_array((4, 4), dtype=np.float32)
    pairs = draw_absent(edge_codes(nothing), 4, 100, torch.Generator().manual_seed(0))
    assert pairs.shape[1] > 50


@pytest.mark.parametrize("size", [0, 30])
def test_what_is_asked_is_hidden_from_the_view_that_answers(graph: Graph, size: int) -> None:
    recipe = recipe_with(f"train.batch_size={size}")
    inputs = make_inputs(graph, recipe, CPU)
    for view1, view2 in epoch_sampler(inputs, recipe, torch.Generator().manual_seed(1))():
        assert view1.hidden is not None and view1.absent is not None
        assert view2.hidden is None and view2.absent is None
        if size:
            continue
        seen = view1.operator.multiply(torch.eye(graph.num_nodes))
        assert (seen[view1.hidden[0], view1.hidden[1]] == 0).all()
        dense = graph.adjacency.toarray()
        assert (dense[view1.hidden[0].numpy(), view1.hidden[1].numpy()] > 0).all()


def test_the_term_is_the_mean_cross_entropy_and_leaves_the_target_alone(graph: Graph) -> None:
    recipe = recipe_with("encoder.hops=[0, 1]")
    setup = make_setup(graph, recipe, CPU)
    model, loss, masks = draw_model(setup, recipe, CPU)
    ((view1, view2),) = setup.sampler(masks)()
    (_, _), (weight, term) = loss
    assert weight == 1 and isinstance(term, LinkTerm) and len(term.decoders) == 2
    outputs = model(view1, view2)
    value = term(outputs, (view1, view2))
    parts = []
    for decoder, h in zip(term.decoders, outputs.representation1.split(8, dim=1), strict=True):
        for pairs, truth in ((view1.hidden, 1.0), (view1.absent, 0.0)):
            p = torch.sigmoid(decoder(h[pairs[0]] * h[pairs[1]])[:, 0])
            parts.append(-(p if truth else 1 - p).log().mean())
    torch.testing.assert_close(value, torch.stack(parts).mean())
    value.backward()
    assert all(p.grad is not None for p in model.encoder.parameters())
    assert all(p.grad is None for p in model.target_encoder.parameters())
    assert all(p.grad is None for p in model.predictor.parameters())


def test_view_1_alone_predicts_the_clean_view_2(graph: Graph) -> None:
    recipe = recipe_with("encoder.hops=[0, 1]", "view2.augment=in+adj", "train.ways=1")
    setup = make_setup(graph, recipe, CPU)
    model, loss, masks = draw_model(setup, recipe, CPU)
    ((view1, view2),) = setup.sampler(masks)()
    outputs = model(view1, view2)
    both = Bootstrap(setup.draw_encoder, recipe_with("encoder.hops=[0, 1]"), torch.Generator())
    both.load_state_dict(model.state_dict())
    expected = both(view1, view2)
    torch.testing.assert_close(outputs.prediction1, expected.prediction1)
    torch.testing.assert_close(outputs.target2, expected.target2)
    assert len(outputs.prediction2) == len(outputs.target1) == len(outputs.representation2) == 0
    (weight, term), _ = loss
    value = regression_loss(expected.prediction1, expected.target2)
    torch.testing.assert_close(weight * term(outputs, (view1, view2)), value)


def test_without_bootstrapping_no_head_and_no_target_is_computed(graph: Graph) -> None:
    recipe = recipe_with("train.bootstrap=0")
    setup = make_setup(graph, recipe, CPU)
    model, loss, masks = draw_model(setup, recipe, CPU)
    ((view1, view2),) = setup.sampler(masks)()
    outputs = model(view1, view2)
    assert len(outputs.prediction1) == len(outputs.target2) == 0 and len(loss) == 1
    assert set(health(outputs)) == {"effective_rank", "spread"}


def test_one_decoder_for_all_blocks(graph: Graph) -> None:
    recipe = recipe_with("encoder.hops=[0, 1]", "links.at=all")
    model = Bootstrap(make_setup(graph, recipe, CPU).draw_encoder, recipe, torch.Generator())
    _, (_, term) = make_loss(recipe, model.encoder, torch.Generator())
    assert isinstance(term, LinkTerm) and term.widths == [16]


def test_links_are_learnt_and_saved(blocks: Graph) -> None:
    easy = ["view1.nfd_drop_rate=0.1", "view1.ed_drop_rate=0.3", "encoder.hops=[0, 1]"]
    easy += ["train.bootstrap=0", "train.learning_rate=0.02", "train.epochs=60"]
    recipe = recipe_with(*easy, "encoder.norm=batch", "data.normalise=none")
    setup = make_setup(blocks, recipe, CPU)
    model, loss, masks = draw_model(setup, recipe, CPU)
    lines = fit(model, setup.sampler(masks), recipe.train, masks, loss=loss)
    assert lines[-1]["loss"] < 0.9 * np.log(2) < lines[0]["loss"]
    assert any(name.startswith("terms.0.decoders") for name in model.state_dict())


@pytest.mark.parametrize("size", [0, 30])
def test_equal_seeds_give_equal_bits(graph: Graph, size: int) -> None:
    recipe = recipe_with("encoder.hops=[0, 2]", "encoder.norm=batch", f"train.batch_size={size}")
    first, second = (train(graph, recipe).embeddings() for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_settings_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(DGBError, match="hide some"):
        check_recipe(load_recipe("paper", ["links.weight=1"]))
    with pytest.raises(DGBError, match="weighs against links"):
        check_recipe(load_recipe("paper", ["train.bootstrap=0.5"]))


def test_without_links_a_recipe_has_the_hash_that_it_had() -> None:
    assert recipe_hash(load_recipe("paper")) == recipe_hash(
        load_recipe("paper", ["links.weight=0"])
    )
    assert recipe_hash(load_recipe("paper")) != recipe_hash(recipe_with())


HELD = ["links.held_out=0.1", "encoder.hops=[0, 1]", "encoder.norm=batch"]


def planted(graph: Graph, replaced: Array, by: Array) -> Graph:
    """Return the graph with some of its edges in the place of others, with their weights."""
    dense = graph.adjacency.toarray()
    weight = dense[tuple(replaced)]
    for pairs, value in ((replaced, 0.0), (by, weight)):
        dense[tuple(pairs)] = dense[tuple(pairs[::-1])] = value
    return replace(graph, adjacency=sparse.csr_array(dense))


@pytest.mark.parametrize("sets", [(), ("train.batch_size=30",), ("links.weight=0",)])
def test_no_loss_depends_on_edges_that_are_held_out(
    blocks: Graph, sets: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = recipe_with(*HELD, *sets)
    left, held = hold_out(blocks, 0.1, seed=0)
    edges, others = (held[:2, held[2] == kind] for kind in (1, 0))
    moved = planted(blocks, edges, others)
    assert abs(moved.adjacency - blocks.adjacency).sum() > 0
    swapped = np.concatenate([held[:2], 1 - held[2:]])
    found = []
    for graph, pairs in ((blocks, held), (moved, swapped)):
        monkeypatch.setattr("dgb.run.setup.hold_out", lambda *_, pairs=pairs: (left, pairs))
        setup = make_setup(graph, recipe, CPU)
        model, loss, masks = draw_model(setup, recipe, CPU)
        found.append(fit(model, setup.sampler(masks), recipe.train, masks, loss=loss))
    for line, other in zip(*found, strict=True):
        assert line["loss"] == other["loss"]
        assert line["auc"] == pytest.approx(1 - other["auc"])


def test_what_is_held_out_is_given_back_for_the_embedding(blocks: Graph) -> None:
    trained = train(blocks, recipe_with(*HELD))
    inputs = make_inputs(blocks, trained.recipe, CPU)
    view = View(inputs.x, make_adj(blocks.adjacency))
    expected = trained.encoder(view).detach().numpy()
    np.testing.assert_allclose(trained.embeddings(), expected, atol=1e-5)


def test_features_made_of_edges_are_made_of_those_left(blocks: Graph) -> None:
    graph = with_structure(replace(blocks, x=None), "walk")
    left, held = hold_out(graph, 0.1, seed=3)
    assert held.shape == (3, 2 * round(0.1 * blocks.adjacency.nnz / 2))
    dense = left.adjacency.toarray()
    assert dense[held[0], held[1]].sum() == 0
    assert (graph.adjacency.toarray() - dense).sum() > 0
    np.testing.assert_array_equal(
        left.x, structural_features(left.adjacency, left.node_ids, "walk")
    )


def test_training_stops_when_the_auc_has_not_risen_and_resumes_as_if_it_had_run(
    blocks: Graph, tmp_path: Path
) -> None:
    sets = ["train.epochs=40", "train.patience=3", "train.stop_on=auc", "train.learning_rate=0"]
    recipe = recipe_with(*HELD, *sets)
    setup = make_setup(blocks, recipe, CPU)
    model, loss, masks = draw_model(setup, recipe, CPU)
    lines = fit(model, setup.sampler(masks), recipe.train, masks, loss=loss)
    smooth, best, best_epoch = None, -1.0, 0
    for line in lines:
        smooth = line["auc"] if smooth is None else 0.8 * smooth + 0.2 * line["auc"]
        if smooth > best:
            best, best_epoch = smooth, line["epoch"]
    assert lines[-1]["epoch"] == best_epoch + 3 < 40
    early = replace(recipe.train, epochs=lines[-1]["epoch"] - 2)
    for part in (early, recipe.train):
        model, loss, masks = draw_model(setup, recipe, CPU)
        again = fit(model, setup.sampler(masks), part, masks, folder=tmp_path, loss=loss)
    assert [line["auc"] for line in again] == [line["auc"] for line in lines[-2:]]


def test_the_area_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    scores, truth = rng.integers(0, 9, 200).astype(np.float32), rng.integers(0, 2, 200)
    found = area_under_curve(torch.from_numpy(scores), torch.from_numpy(truth))
    assert found["auc"] == pytest.approx(roc_auc_score(truth, scores))
    assert area_under_curve(torch.zeros(3), torch.ones(3)) == {}


def test_ends_of_hidden_edges_are_neighbors_in_an_epoch_and_hubs_no_more_than_others() -> None:
    hub = torch.stack([torch.zeros(40, dtype=torch.int64), torch.arange(1, 41)])
    ring = torch.stack([torch.arange(41, 100), torch.arange(42, 101)])
    pairs, generator = torch.cat([hub, ring], dim=1), torch.Generator().manual_seed(0)
    asked = torch.zeros(101)
    for _ in range(200):
        order = keep_together(torch.randperm(101, generator=generator), pairs, generator)
        assert sorted(order.tolist()) == list(range(101))
        place = torch.empty_like(order).scatter_(0, order, torch.arange(101))
        near = pairs[:, (place[pairs[0]] - place[pairs[1]]).abs() == 1]
        asked[near.reshape(-1)] += 1
        assert near.shape[1] > 20  # of 31 at most; some by chance
    assert asked[0] == 200 and asked[1:41].sum() < 2 * 200  # the hub once an epoch
    assert asked[41:].min() > 100


@pytest.mark.parametrize(("size", "steps"), [(0, 1), (30, 3)])
def test_pairs_are_counted_a_step(blocks: Graph, size: int, steps: int) -> None:
    recipe = load_recipe("default", ["links.pairs=7", f"train.batch_size={size}"])
    inputs = make_inputs(blocks, recipe, CPU)
    hidden = inputs.draw_operator(parse_view(recipe.view1), torch.Generator()).hidden
    assert hidden is not None and hidden.shape[1] == 7 * steps


def test_a_row_batch_asks_for_as_many_random_pairs_as_hidden_edges() -> None:
    rng = np.random.default_rng(0)
    ends = rng.integers(600, size=(2, 3000))
    adjacency = sparse.coo_array((np.ones(3000), ends), shape=(600, 600))
    graph = make_graph("random", rng.normal(size=(600, 4)).astype(np.float32), adjacency)
    recipe = load_recipe("default", ["links.pairs=0", "train.batch_size=50"])
    inputs = make_inputs(graph, recipe, CPU)
    epoch = epoch_sampler(inputs, recipe, torch.Generator().manual_seed(0))()
    order = torch.cat([view2.propagated[:, :4] for _, view2 in epoch])  # X of hop 0, undropped
    place = {tuple(row.tolist()): node for node, row in enumerate(torch.from_numpy(graph.x))}
    nodes = [place[tuple(row.tolist())] for row in order]
    for number, (view1, _) in enumerate(epoch):
        assert view1.hidden is not None and view1.absent is not None
        hidden, absent = view1.hidden.shape[1], view1.absent.shape[1]
        assert 0.8 * hidden <= absent <= hidden and hidden > 10  # a few are edges, or loops
        own = nodes[50 * number : 50 * (number + 1)]
        assert not any(graph.adjacency[own[u], own[v]] or u == v for u, v in view1.absent.T)
        assert all(graph.adjacency[own[u], own[v]] for u, v in view1.hidden.T)
