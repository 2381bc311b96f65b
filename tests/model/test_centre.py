"""Centred blocks: the mean of the training graph is taken away, from new nodes too."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from dgb import DGB, DGBError
from dgb.data.graph import Graph
from dgb.files.tensors import read_tensors, write_tensors
from dgb.model.blocks import find_lengths, find_mean, split_blocks, sum_columns, sum_squares
from dgb.model.embed import embed, settle
from dgb.run.model import embed_graph
from dgb.views.inputs import make_inputs
from tests.model.test_blocks import (
    ALL,
    CPU,
    FORMS,
    blocks_of,
    encoder_of,
    recipe_of,
    with_empty_rows,
    with_new_node,
)

CENTRED = "embed.centre=true"


@pytest.mark.parametrize("form", ["block", "none"])
def test_every_block_has_mean_zero_and_rows_of_zeros_stay(graph: Graph, form: str) -> None:
    alone = with_empty_rows(graph)
    raw = blocks_of(alone, "embed.structure_weight=1")
    sets = ("embed.structure_weight=1", f"embed.normalise={form}", CENTRED)
    for name, part in blocks_of(alone, *sets).items():
        assert part.double().mean(dim=0).abs().max() < 1e-6
        is_there = raw[name].any(dim=1)
        assert not is_there[7] and not part[7].any() and part[is_there].any(dim=1).all()
        left = (raw[name][is_there] - raw[name][is_there].mean(dim=0)).double()
        length = left.square().sum().div(len(part)).sqrt() if form == "block" else 1
        torch.testing.assert_close(part[is_there].double(), left / length, atol=1e-5, rtol=1e-4)


def test_rows_of_length_one_are_those_of_centred_blocks(graph: Graph) -> None:
    centred = blocks_of(graph, CENTRED)
    for name, part in blocks_of(graph, CENTRED, "embed.normalise=rows").items():
        same = torch.nn.functional.cosine_similarity(part, centred[name])
        torch.testing.assert_close(same[part.any(dim=1)], torch.ones(int(part.any(dim=1).sum())))


@pytest.mark.parametrize("sets", [(), ("train.batch_size=20", "train.columns=4")])
def test_few_columns_of_h_are_its_principal_components(graph: Graph, sets: tuple[str, ...]) -> None:
    recipe = recipe_of("embed.learnt_columns=5", "embed.blocks=learnt", CENTRED, *sets)
    z = embed(encoder_of(graph), make_inputs(graph, recipe, CPU), recipe.embed).double()
    whole = embed(encoder_of(graph), make_inputs(graph, recipe_of(), CPU)).double()
    left, values, _ = torch.linalg.svd(whole - whole.mean(dim=0), full_matrices=False)
    exact = left[:, :5] * values[:5]
    torch.testing.assert_close(z @ z.T, exact @ exact.T, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("is_on_disk", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_row_batches_are_centred_as_the_whole_graph(
    graph: Graph, form: str, is_on_disk: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sets = (f"embed.normalise={form}", "embed.features=true", "embed.smooth=0.3", CENTRED)
    whole = blocks_of(graph, *sets)
    monkeypatch.setattr("dgb.arrays.NUMBERS", 1000)  # in parts of some rows
    recipe = recipe_of(*sets, "train.batch_size=20", "train.columns=4")
    inputs = make_inputs(graph, recipe, CPU, scratch=tmp_path if is_on_disk else None)
    z = embed(encoder_of(graph), inputs, recipe.embed)
    torch.testing.assert_close(z, torch.cat(list(whole.values()), 1), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("form", FORMS)
def test_new_nodes_are_centred_by_the_training_graph(graph: Graph, form: str) -> None:
    recipe, encoder = recipe_of(f"embed.normalise={form}", CENTRED), encoder_of(graph)
    inputs = make_inputs(graph, recipe, CPU)
    settle(encoder, inputs, recipe.embed)
    z = embed(encoder, inputs, recipe.embed).numpy()
    np.testing.assert_allclose(embed_graph(encoder, graph, recipe), z, atol=1e-5)
    few = replace(recipe, embed=replace(recipe.embed, blocks=("diffused",), diffused_columns=4))
    if form == "none":
        np.testing.assert_allclose(embed_graph(encoder, graph, few), z[:, 16:20], atol=1e-5)
        bare = recipe_of("embed.normalise=none")
        later = with_new_node(graph)
        taken = embed_graph(encoder, later, bare) - embed_graph(encoder, later, recipe)
        widths = recipe.embed.widths(16, graph.num_features)
        for name, part in split_blocks(torch.from_numpy(taken), widths).items():
            weight = 0.3 if name == "structure" else 1.0
            mean = getattr(encoder, f"mean_{name}") * weight
            is_there = part.any(dim=1)  # structure is nowhere without an edge
            torch.testing.assert_close(part[is_there], mean.expand(int(is_there.sum()), -1))
            assert is_there[-1]


def test_rounding_is_not_blown_up_where_all_rows_are_alike(blocks: Graph) -> None:
    alike = replace(blocks, x=np.full((90, 3), 0.7, np.float32))
    sets = ("embed.blocks=diffused", "embed.diffused_alpha=1", CENTRED)
    for form in FORMS:
        found = blocks_of(alike, *sets, "data.normalise=row", f"embed.normalise={form}")
        assert not found["diffused"].any()


def test_huge_features_are_embedded_as_small_ones_or_refused(blocks: Graph) -> None:
    x = np.random.default_rng(0).standard_normal((90, 8)).astype(np.float32)
    blocks_only = ("embed.blocks=diffused", "data.normalise=none")
    sets = (*blocks_only, "embed.normalise=block", CENTRED)
    small = blocks_of(replace(blocks, x=x), *sets)["diffused"]
    huge = blocks_of(replace(blocks, x=x * np.float32(2.0**70)), *sets)["diffused"]
    torch.testing.assert_close(huge, small)
    for wrong in (
        ("embed.normalise=rows",),
        ("embed.normalise=rows", CENTRED),
        ("embed.normalise=block", "embed.diffused_columns=4"),  # of which there are main ones
    ):
        with pytest.raises(DGBError, match="too large for float32; scale the features"):
            blocks_of(replace(blocks, x=x * np.float32(2.0**70)), *blocks_only, *wrong)


def test_numbers_that_are_not_finite_have_no_mean_and_no_length() -> None:
    for wrong in (torch.inf, torch.nan):
        block = torch.ones(4, 2)
        block[1, 1] = wrong
        with pytest.raises(DGBError, match="scale the features"):
            find_mean(sum_columns(block))
        with pytest.raises(DGBError, match="scale the features"):
            find_lengths(sum_squares(block, {"diffused": 2}), 4, {"diffused": 2})


def test_a_variance_beyond_float32_is_refused(blocks: Graph) -> None:
    huge = replace(blocks, x=np.float32(1e30) * np.arange(270, dtype=np.float32).reshape(90, 3))
    with pytest.raises(DGBError, match="variances of a hop are too large"):
        DGB(overrides=["train.epochs=0"]).fit(huge)


def test_a_model_without_means_embeds_as_it_did(blocks: Graph, tmp_path: Path) -> None:
    bare = [*ALL, "embed.normalise=block", "embed.centre=false"]
    model = DGB("paper", overrides=bare).fit(blocks)
    model.save(tmp_path)
    text = (tmp_path / "recipe.toml").read_text()
    assert "centre = false\n" in text  # as before there was such a key:
    (tmp_path / "recipe.toml").write_text(text.replace("centre = false\n", ""))
    assert not [name for name in read_tensors(tmp_path / "model.safetensors")[0] if "mean" in name]
    loaded = DGB.load(tmp_path)
    np.testing.assert_array_equal(loaded.transform(blocks), model.transform(blocks))
    recipe = recipe_of("embed.normalise=block", CENTRED)
    with pytest.raises(DGBError, match=r"16 columns of the block learnt .* has none; train"):
        embed_graph(loaded.encoder_, blocks, recipe)
    settle(loaded.encoder_, make_inputs(blocks, recipe, CPU), recipe.embed)
    with pytest.raises(DGBError, match=r"how long .* embed\.centre as it is wanted"):
        embed_graph(loaded.encoder_, blocks, recipe_of("embed.normalise=block"))


def test_means_are_in_the_file_and_wrong_ones_are_refused(blocks: Graph, tmp_path: Path) -> None:
    model = DGB("paper", overrides=[*ALL, "embed.normalise=rows", CENTRED]).fit(blocks)
    model.save(tmp_path)
    np.testing.assert_array_equal(DGB.load(tmp_path).transform(blocks), model.transform(blocks))
    tensors, metadata = read_tensors(tmp_path / "model.safetensors")
    del metadata["sha256"]
    mean = tensors["mean_structure"]
    write_tensors(tmp_path / "model.safetensors", tensors | {"mean_structure": mean[1:]}, metadata)
    with pytest.raises(DGBError, match=r"64 columns of the block structure .* has one of 63"):
        DGB.load(tmp_path).transform(blocks)
    write_tensors(
        tmp_path / "model.safetensors", tensors | {"mean_learnt": mean[None].clone()}, metadata
    )
    with pytest.raises(DGBError, match="does not fit"):
        DGB.load(tmp_path)
