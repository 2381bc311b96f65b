"""What a trained encoder of a heterogeneous graph tells of itself."""

import pytest

from dgb.cookbook import load_recipe
from dgb.run.train import train
from tests.hetero import make_library

PATHS = "paper-author-paper,paper-venue-paper"
FAST = ["encoder.width=8", "heads.hidden=8", "heads.width=8", "train.epochs=1"]


def test_attention_is_by_meta_path() -> None:
    recipe = load_recipe("hetero", [*FAST, f"hetero.metapaths={PATHS}"])
    attention = train(make_library(), recipe).attention()
    assert list(attention) == PATHS.split(",")
    assert sum(attention.values()) == pytest.approx(1)


@pytest.mark.parametrize("encoder", ["union", "relations"])
def test_an_encoder_that_tells_no_paths_apart_has_no_attention(encoder: str) -> None:
    recipe = load_recipe("relations", [*FAST, f"hetero.encoder={encoder}"])
    trained = train(make_library(), recipe)
    assert trained.attention() == {} and trained.embeddings().shape == (90, 8)
