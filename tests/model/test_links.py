"""Hidden edges as a second thing to predict: what is asked, what is never asked, and learning."""

import numpy as np
import pytest
import torch
from scipy import sparse

from dgb.cookbook import load_recipe, recipe_hash
from dgb.data.graph import Graph
from dgb.errors import DGBError
from dgb.model.bootstrap import Bootstrap
from dgb.model.loss import LinkTerm, make_loss, regression_loss
from dgb.recipe import Recipe
from dgb.run.check import check_recipe
from dgb.run.setup import draw_model, make_setup
from dgb.run.train import train
from dgb.train.loop import fit
from dgb.train.monitor import health
from dgb.views.augment import draw_absent
from dgb.views.inputs import edge_codes, make_inputs
from dgb.views.sampler import epoch_sampler

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
