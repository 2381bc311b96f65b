"""The decoder of a run ranks pairs by what it has learnt."""

from pathlib import Path

import numpy as np
import torch
from torch import nn

from dgb.cookbook import load_recipe
from dgb.data.graph import Graph
from dgb.model.blocks import AXES, keep
from dgb.model.embed import embed
from dgb.model.loss import rate_pairs
from dgb.run.model import has_decoder, make_ranking, save_decoder, save_encoder
from dgb.run.train import train
from dgb.views.inputs import Inputs


def test_pairs_are_scored_as_the_decoder_was_trained(blocks: Graph, tmp_path: Path) -> None:
    sets = ["train.epochs=2", "encoder.width=8", "heads.hidden=8", "heads.width=8"]
    sets += ["encoder.hops=[0,1]", "encoder.norm=batch", "view2.augment=nd+adj"]
    sets += ["links.weight=1", "view1.augment=ed+nfd+adj", "embed.normalise=rows"]
    recipe = load_recipe("paper", sets)
    trained = train(blocks, recipe, tmp_path)
    save_encoder(trained.encoder, tmp_path)
    save_decoder(trained.loss, tmp_path)
    assert has_decoder(tmp_path, recipe)
    ranking = make_ranking(tmp_path, recipe, blocks, is_decoded=True)
    assert isinstance(trained.setup.inputs, Inputs)
    h = embed(trained.encoder, trained.setup.inputs)
    pairs = np.array([[0, 1], [4, 60], [8, 9]])
    want = rate_pairs(trained.loss, h, torch.from_numpy(pairs.T))
    np.testing.assert_allclose(ranking.score(pairs), want.numpy(), atol=1e-5)
    assert ranking.cost == 16 * 64 and len(ranking.score(pairs[:0])) == 0
    np.testing.assert_allclose(ranking.z, trained.embeddings(), atol=1e-5)
    assert isinstance(trained.encoder, nn.Module)
    keep(trained.encoder, AXES, torch.linalg.qr(torch.randn(16, 16)).Q)  # as an update turns H
    save_encoder(trained.encoder, tmp_path)
    turned = make_ranking(tmp_path, recipe, blocks, is_decoded=True)
    np.testing.assert_allclose(turned.score(pairs), want.numpy(), atol=1e-5)
    np.testing.assert_allclose(turned.z, trained.embeddings(), atol=1e-5)
    assert np.abs(turned.z - ranking.z).max() > 0.1
