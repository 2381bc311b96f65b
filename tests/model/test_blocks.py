"""Blocks of a vector: what each holds, on which scale, and the same for new nodes."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pyarrow import parquet
from safetensors.torch import load_file
from scipy import sparse

from dgb import DGB, DGBError
from dgb.cli import main
from dgb.cookbook import load_recipe
from dgb.data.formats.npz import write_npz
from dgb.data.graph import Graph, make_graph
from dgb.data.load import load_graph
from dgb.data.structure import structural_features
from dgb.model.blocks import make_structure, split_blocks
from dgb.model.embed import embed, settle
from dgb.model.encoder import GCNEncoder
from dgb.recipe import Recipe
from dgb.run.model import embed_graph
from dgb.run.train import train
from dgb.views.features import row_normalise
from dgb.views.inputs import make_inputs

CPU = torch.device("cpu")
SMALL = ("encoder.width=16", "heads.hidden=16", "heads.width=16", "train.epochs=2")
ALL = (*SMALL, "embed.blocks=learnt,diffused,structure", "embed.diffused_columns=9")
FORMS = ("rows", "block", "none")
NEAREST = ("embed.diffused_nearest=0", "embed.diffused_nearest=4")


def recipe_of(*sets: str) -> Recipe:
    return load_recipe("paper", [*ALL, *sets])


def encoder_of(graph: Graph) -> Any:
    return GCNEncoder(graph.num_features, recipe_of().encoder, torch.Generator().manual_seed(3))


def blocks_of(graph: Graph, *sets: str) -> dict[str, torch.Tensor]:
    """Embed a graph as the one that was trained on; return the columns of every block."""
    recipe, encoder = recipe_of(*sets), encoder_of(graph)
    z = embed(encoder, make_inputs(graph, recipe, CPU), recipe.embed)
    return split_blocks(z, recipe.embed.widths(16, graph.num_features))


def with_empty_rows(graph: Graph) -> Graph:
    """Return the graph with a node that has neither features nor edges."""
    keep = np.ones(graph.num_nodes)
    keep[7] = 0
    rows = sparse.diags_array(keep)
    cut = sparse.csr_array(rows @ graph.adjacency @ rows)
    cut.eliminate_zeros()
    x = graph.x * keep[:, None] if isinstance(graph.x, np.ndarray) else rows @ graph.x
    return make_graph(graph.name, x.astype(np.float32), cut, node_ids=graph.node_ids)


def with_new_node(graph: Graph) -> Graph:
    """Return the graph with one more node, which has two edges and the features of another."""
    size = graph.num_nodes
    edges = sparse.lil_array((size + 1, size + 1), dtype=np.float32)
    edges[:size, :size] = graph.adjacency
    edges[size, [0, 3]] = 1
    x = np.vstack([sparse.csr_array(graph.x).toarray(), sparse.csr_array(graph.x[[3]]).toarray()])
    ids = np.append(graph.node_ids.astype(object), "newcomer")
    return make_graph("later", sparse.csr_array(x), edges.tocsr(), node_ids=ids)


def test_the_blocks_are_h_main_directions_and_walks(graph: Graph) -> None:
    found = blocks_of(graph)
    assert {name: part.shape[1] for name, part in found.items()} == {
        "learnt": 16,
        "diffused": 9,
        "structure": 64,
    }
    learnt = embed(encoder_of(graph), make_inputs(graph, recipe_of(), CPU))
    torch.testing.assert_close(found["learnt"], learnt)
    x = row_normalise(graph.x)
    x = x.toarray() if sparse.issparse(x) else x
    loops = graph.adjacency.toarray() + np.eye(graph.num_nodes)
    root = np.sqrt(loops.sum(axis=0))
    t = loops / root / root[:, None]
    s = 0.1 * np.linalg.inv(np.eye(graph.num_nodes) - 0.9 * t)
    left, values, _ = np.linalg.svd(s @ x, full_matrices=False)
    exact, ours = left[:, :9] * values[:9], found["diffused"].double().numpy()
    # Singular vectors of near values may turn into each other: what they span is compared.
    np.testing.assert_allclose(ours @ ours.T, exact @ exact.T, atol=3e-3 * values[0] ** 2)
    walk = structural_features(graph.adjacency, graph.node_ids, "walk")
    structure = found["structure"].numpy() / 0.3
    assert np.corrcoef((structure @ structure.T).ravel(), (walk @ walk.T).ravel())[0, 1] > 0.9


@pytest.mark.parametrize("sets", [(), ("train.batch_size=20", "train.columns=4")])
def test_few_columns_of_h_are_those_that_tell_most_of_it(
    graph: Graph, sets: tuple[str, ...]
) -> None:
    recipe = recipe_of("embed.learnt_columns=5", "embed.blocks=learnt", *sets)
    encoder, inputs = encoder_of(graph), make_inputs(graph, recipe, CPU)
    whole = embed(encoder, make_inputs(graph, recipe_of(), CPU)).double()
    z = embed(encoder, inputs, recipe.embed).double()
    left, values, _ = torch.linalg.svd(whole, full_matrices=False)
    exact = left[:, :5] * values[:5]
    torch.testing.assert_close(z @ z.T, exact @ exact.T, atol=1e-4, rtol=1e-3)
    with pytest.raises(DGBError, match=r"does not have 5 directions .* embed\.learnt_columns"):
        embed_graph(encoder, graph, recipe)
    settle(encoder, inputs, recipe.embed)
    assert embed_graph(encoder, with_new_node(graph), recipe).shape == (91, 5)
    np.testing.assert_allclose(embed_graph(encoder, graph, recipe), z, atol=1e-5)
    every = recipe_of("embed.learnt_columns=99", "embed.blocks=learnt")
    np.testing.assert_array_equal(embed_graph(encoder, graph, every), whole.float())


def test_narrow_features_are_diffused_as_they_are(graph: Graph) -> None:
    found = blocks_of(graph, "embed.diffused_columns=500", "embed.normalise=none")
    assert found["diffused"].shape[1] == graph.num_features


def test_no_block_drowns_another(graph: Graph) -> None:
    weights = {"learnt": 1.0, "diffused": 0.5, "structure": 0.25}
    sets = ("embed.diffused_weight=0.5", "embed.structure_weight=0.25")
    raw = blocks_of(graph, "embed.structure_weight=1")
    for form in ("rows", "block"):
        for name, part in blocks_of(graph, *sets, f"embed.normalise={form}").items():
            is_there = raw[name].norm(dim=1) > 0
            assert is_there.all() or name == "structure", "nodes without an edge are nowhere"
            lengths = part.norm(dim=1)
            assert not lengths[~is_there].any()
            if form == "rows":
                expected = torch.full_like(lengths, weights[name])[is_there]
                torch.testing.assert_close(lengths[is_there], expected)
            else:
                rms = lengths.square().mean().sqrt()
                torch.testing.assert_close(rms, torch.tensor(weights[name]))
            same = torch.nn.functional.cosine_similarity(part, raw[name])[is_there]
            torch.testing.assert_close(same, torch.ones_like(same))


@pytest.mark.parametrize("nearest", NEAREST)
@pytest.mark.parametrize("form", FORMS)
def test_rows_of_zeros_stay(graph: Graph, form: str, nearest: str) -> None:
    found = blocks_of(with_empty_rows(graph), f"embed.normalise={form}", nearest)
    assert not found["learnt"][7].any() and not found["diffused"][7].any()
    assert all(part.isfinite().all() for part in found.values())


def test_what_no_training_changes_is_made_once(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def make(*given: Any) -> torch.Tensor:
        made.append(make_structure(*given))
        return made[-1]

    monkeypatch.setattr("dgb.model.embed.make_structure", make)
    recipe, encoder = recipe_of("embed.centre=true", "embed.normalise=block"), encoder_of(graph)
    inputs = make_inputs(graph, recipe, CPU)
    settle(encoder, inputs, recipe.embed)
    first, again = (embed(encoder, inputs, recipe.embed) for _ in range(2))
    assert len(made) == 1
    torch.testing.assert_close(again, first, rtol=0, atol=0)
    again = embed(encoder, make_inputs(graph, recipe, CPU), recipe.embed)
    torch.testing.assert_close(again, first, rtol=0, atol=0)


def test_a_kept_block_is_made_again_for_other_settings(graph: Graph) -> None:
    encoder, inputs = encoder_of(graph), make_inputs(graph, recipe_of(), CPU)
    for sets in ((), ("embed.diffused_nearest=4",), (NEAREST[1], "embed.nearest_weight=2")):
        recipe = recipe_of(*sets)
        again = embed(encoder, inputs, recipe.embed)
        anew = embed(encoder, make_inputs(graph, recipe, CPU), recipe.embed)
        torch.testing.assert_close(again, anew, rtol=0, atol=0)


def test_blocks_can_be_left_out(graph: Graph) -> None:
    whole = blocks_of(graph, "embed.normalise=rows")
    for names in ("diffused", "structure,learnt", "diffused,structure"):
        found = blocks_of(graph, "embed.normalise=rows", f"embed.blocks={names}")
        assert set(found) == set(names.split(","))
        for name, part in found.items():
            torch.testing.assert_close(part, whole[name])


@pytest.mark.parametrize("is_on_disk", [False, True])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("features", ["false", "true"])
@pytest.mark.parametrize("nearest", NEAREST)
def test_row_batches_embed_as_the_whole_graph(
    graph: Graph, form: str, features: str, nearest: str, is_on_disk: bool, tmp_path: Path
) -> None:
    sets = (f"embed.normalise={form}", f"embed.features={features}", "embed.smooth=0.3", nearest)
    whole = blocks_of(graph, *sets)
    recipe = recipe_of(*sets, "train.batch_size=20", "train.columns=4")
    inputs = make_inputs(graph, recipe, CPU, scratch=tmp_path if is_on_disk else None)
    z = embed(encoder_of(graph), inputs, recipe.embed)
    torch.testing.assert_close(z, torch.cat(list(whole.values()), 1), atol=1e-5, rtol=1e-4)
    assert (tmp_path / "embeddings.npy").exists() == is_on_disk


@pytest.mark.parametrize("nearest", NEAREST)
@pytest.mark.parametrize("form", FORMS)
def test_known_nodes_keep_their_vectors_and_new_ones_get_all_blocks(
    graph: Graph, form: str, nearest: str
) -> None:
    recipe, encoder = recipe_of(f"embed.normalise={form}", nearest), encoder_of(graph)
    inputs = make_inputs(graph, recipe, CPU)
    settle(encoder, inputs, recipe.embed)
    z = embed(encoder, inputs, recipe.embed).numpy()
    np.testing.assert_allclose(embed_graph(encoder, graph, recipe), z, atol=1e-5)
    grown = embed_graph(encoder, with_new_node(graph), recipe)
    assert grown.shape == (graph.num_nodes + 1, z.shape[1])
    moved = np.linalg.norm(grown[:-1] - z, axis=1) / np.linalg.norm(z, axis=1)
    assert np.median(moved) < 0.1
    widths = recipe.embed.widths(16, graph.num_features)
    parts = split_blocks(torch.from_numpy(grown), widths)
    assert all(part[-1].any() for part in parts.values())
    alone = embed_graph(encoder, with_empty_rows(graph), recipe)  # with the lengths of training
    assert np.isfinite(alone).all()


def test_what_the_model_does_not_keep_is_refused(blocks: Graph) -> None:
    encoder = encoder_of(blocks)
    with pytest.raises(DGBError, match=r"9 directions .* model has none; train with embed\.blocks"):
        embed_graph(encoder, blocks, recipe_of())
    recipe = recipe_of()
    settle(encoder, make_inputs(blocks, recipe, CPU), recipe.embed)
    with pytest.raises(DGBError, match=r"10 directions .* has 9; train with .*diffused_columns"):
        embed_graph(encoder, blocks, recipe_of("embed.diffused_columns=10"))
    with pytest.raises(DGBError, match=r"train with embed\.normalise=block"):
        embed_graph(encoder, blocks, recipe_of("embed.normalise=block"))
    # On the training graph itself, whoever measures many ways to embed can have any of them.
    wide = recipe_of("embed.diffused_columns=10", "embed.normalise=block")
    assert embed_graph(encoder, blocks, wide, is_own=True).shape == (90, 16 + 10 + 64)
    few = embed_graph(encoder, blocks, recipe_of("embed.diffused_columns=4"))
    whole = embed_graph(encoder, blocks, recipe)
    np.testing.assert_allclose(few[:, 16:20], whole[:, 16:20], atol=1e-6)


def test_labels_are_not_read(blocks: Graph) -> None:
    recipe = recipe_of("embed.normalise=block")
    bare = replace(blocks, labels=None, label_names=(), splits=())
    first, second = (train(graph, recipe).embeddings() for graph in (blocks, bare))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("hops", ["[]", "[0, 1, 2]"])
def test_a_saved_model_embeds_as_the_one_that_was_trained(
    blocks: Graph, form: str, hops: str, tmp_path: Path
) -> None:
    sets = [*ALL, f"embed.normalise={form}", f"encoder.hops={hops}", "encoder.norm=batch"]
    sets += ["embed.diffused_nearest=4"]
    sets += ["embed.learnt_columns=7"]
    over = ["view1.augment=nfd+adj", "view2.augment=nd+adj"]
    model = DGB("paper", overrides=[*sets, *over])
    z = model.fit_transform(blocks)
    assert z.shape == (90, len(model.get_feature_names_out()))
    np.testing.assert_allclose(model.transform(blocks), z, atol=1e-5)
    model.save(tmp_path)
    assert load_file(tmp_path / "model.safetensors")["directions"].shape == (60, 9)
    loaded = DGB.load(tmp_path)
    np.testing.assert_array_equal(loaded.transform(blocks), model.transform(blocks))
    assert loaded.transform(with_new_node(blocks)).shape == (91, z.shape[1])


@pytest.mark.parametrize("damage", ["directions", "axes", "lengths"])
def test_a_model_whose_blocks_do_not_fit_is_refused(
    blocks: Graph, damage: str, tmp_path: Path
) -> None:
    from dgb.files.tensors import read_tensors, write_tensors

    sets = ["embed.normalise=block", "embed.learnt_columns=7"]
    DGB(overrides=[*ALL, *sets]).fit(blocks).save(tmp_path)
    tensors, metadata = read_tensors(tmp_path / "model.safetensors")
    del metadata["sha256"]
    tensors[damage] = tensors[damage][1:]
    write_tensors(tmp_path / "model.safetensors", tensors, metadata)
    with pytest.raises(DGBError, match="does not fit"):
        DGB.load(tmp_path)


def test_the_command_embeds_new_nodes_with_all_blocks(
    blocks: Graph, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, later, run = tmp_path / "first.npz", tmp_path / "later.npz", tmp_path / "run"
    write_npz(first, blocks)
    write_npz(later, with_new_node(blocks))
    sets = [word for part in (*ALL, "embed.normalise=rows") for word in ("--set", part)]
    assert main(["train", str(first), "--out", str(run), "--recipe", "paper", *sets]) == 0
    out = tmp_path / "z.parquet"
    assert main(["embed", str(run), str(later), "--out", str(out)]) == 0
    new, old = (parquet.read_table(f) for f in (out, run / "embeddings.parquet"))
    known = dict(zip(old["node_id"].to_pylist(), old["embedding"].to_pylist(), strict=True))
    z = dict(zip(new["node_id"].to_pylist(), new["embedding"].to_pylist(), strict=True))
    assert set(z) == {*known, "newcomer"}
    same = [np.dot(z[i], known[i]) / np.dot(known[i], known[i]) for i in known]
    assert np.median(same) > 0.99
    few = ["--set", "embed.blocks=learnt,structure", "--set", "embed.structure_weight=0.1"]
    assert main(["embed", str(run), str(later), "--out", str(out), *few]) == 0
    assert parquet.read_table(out)["embedding"].type.list_size == 16 + 64
    many = ["--set", "embed.diffused_columns=20"]
    assert main(["embed", str(run), str(later), "--out", str(out), *many]) == 2
    assert "20 directions" in capsys.readouterr().err


PROCESS = """
import sys
from dgb.cookbook import load_recipe
from dgb.data.load import load_graph
from dgb.run.train import train
z = train(load_graph(sys.argv[1]), load_recipe("paper", sys.argv[2:])).embeddings()
print(z.tobytes().hex())
"""


def test_two_processes_make_the_same_bits(blocks: Graph, tmp_path: Path) -> None:
    write_npz(tmp_path / "blocks.npz", blocks)
    sets = [*ALL, "embed.normalise=block", "train.threads=1"]
    call = [sys.executable, "-c", PROCESS, str(tmp_path / "blocks.npz"), *sets]
    theirs = subprocess.run(call, capture_output=True, text=True, check=True).stdout
    z = train(load_graph(tmp_path / "blocks.npz"), load_recipe("paper", sets)).embeddings()
    assert theirs.strip() == z.tobytes().hex()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("embed.blocks=learnt,diffuse", r"embed\.blocks must list some of learnt, diffused, struc"),
        ("embed.blocks=[]", r"embed\.blocks must list some of"),
        ("embed.blocks=3", r"embed\.blocks must list some of"),
        ('embed.blocks=["learnt", 3]', r"embed\.blocks must list some of"),
        ("embed.normalise=row", r"embed\.normalise must be one of rows, block, none"),
    ],
)
def test_wrong_blocks_are_named(wrong: str, message: str) -> None:
    with pytest.raises(DGBError, match=message):
        load_recipe("paper", [wrong])


def test_the_order_of_names_does_not_matter() -> None:
    first = load_recipe("paper", ["embed.blocks=structure, learnt"])
    assert first.embed.blocks == ("learnt", "structure")
    assert first == load_recipe("paper", ['embed.blocks=["learnt", "structure", "learnt"]'])
