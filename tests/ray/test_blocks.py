"""Blocks of rows on several machines are propagated to what one process computes."""

from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from dgb.cookbook import load_recipe
from dgb.data.graph import Graph
from dgb.model.embed import embed, settle
from dgb.model.encoder import make_encoder
from dgb.views.augment import parse_view
from dgb.views.inputs import make_inputs
from dgb.views.sampler import epoch_sampler, make_view
from dgb.views.view import Rows

pytest.importorskip("ray")

CPU = torch.device("cpu")
KERNELS = [[], ["diffusion.kernel=heat"], ["diffusion.top_k=5"]]


def joined(columns: list[list[Any]]) -> torch.Tensor:
    import ray

    parts = [np.concatenate(ray.get(rows)) for rows in columns]
    return torch.from_numpy(np.concatenate(parts, axis=1))


def put(graph: Graph, sets: list[str], machines: list[dict[str, Any]]) -> tuple[Any, Any, Any]:
    from dgb.ray.blocks import Layout, put_blocks

    recipe = load_recipe("paper", ["view1.augment=nfd+nd+adj", *sets])
    inputs = make_inputs(graph, recipe, CPU)
    rows, columns = (0, 11, 50, graph.num_nodes), (0, 4, graph.num_features)
    layout = Layout(rows, columns, tuple(machine["NodeID"] for machine in machines))
    return recipe, inputs, put_blocks(inputs, layout)


@pytest.mark.parametrize("sets", KERNELS)
def test_blocks_are_propagated_as_by_one_process(
    graph: Graph, sets: list[str], machines: list[dict[str, Any]]
) -> None:
    from dgb.ray.propagation import make_features, propagate_blocks

    recipe, inputs, blocks = put(graph, sets, machines)
    ours, alone = torch.Generator().manual_seed(5), torch.Generator().manual_seed(5)
    for spec in (parse_view(recipe.view1), parse_view(recipe.view2)):
        view = make_view(inputs, spec, alone, propagate=(1,))
        columns = make_features(blocks, spec.features, ours)
        x = view.x if isinstance(view.x, torch.Tensor) else view.x.dense()
        assert torch.equal(joined(columns), x)  # the same masks, bit for bit
        made = joined(propagate_blocks(blocks.layout, blocks.operators[spec.operator], columns))
        assert view.propagated is not None
        torch.testing.assert_close(made, view.propagated, atol=1e-6, rtol=1e-5)
    assert torch.equal(ours.get_state(), alone.get_state())


HOPS = ["encoder.hops=[0,1,2]", "encoder.diff=true", "view2.augment=nd+adj"]
# Near: far away all rows are alike, and a norm would make differences of rounding.
HOPS += ["diffusion.alpha=0.5"]
SIZES = ["train.batch_size=40", "encoder.width=8"]
LINKS = ["view1.augment=ed+nfd+adj", "view1.ed_drop_rate=0.5", "links.weight=1"]


@pytest.mark.parametrize(("sets", "ranks"), [([], 2), (LINKS, 1), (LINKS, 2)])
def test_rows_over_hops_are_those_of_row_batches_in_one_process(
    blocks: Graph, sets: list[str], ranks: int, machines: list[dict[str, Any]]
) -> None:
    from dgb.ray.epochs import Epochs, rows_of

    recipe, inputs, kept = put(blocks, [*HOPS, *sets, *SIZES], machines)
    generator = torch.Generator().manual_seed(5)
    state = generator.get_state().numpy()
    alone = list(epoch_sampler(inputs, recipe, generator)())
    epochs = Epochs(recipe, Path())
    shares = [epochs.draw(kept, (rank, ranks), state) for rank in range(ranks)]
    assert np.array_equal(shares[0].state, generator.get_state().numpy())
    plain, settled = (
        make_encoder(blocks.num_features, own.encoder, torch.Generator().manual_seed(1))
        for own in (recipe, load_recipe(recipe, ["encoder.norm=batch"]))
    )
    settle(settled, inputs, recipe.embed)  # whose statistics are fixed
    for expected, *parts in zip(alone, *(rows_of(share, kept) for share in shares), strict=True):
        for encoder in (plain, settled):
            for number in (0, 1):
                made = torch.cat([encoder(views[number]) for views in parts])
                torch.testing.assert_close(made, encoder(expected[number]), atol=1e-6, rtol=1e-5)
        if sets:
            check_pairs(expected[0], [views[0] for views in parts])


def check_pairs(alone: Rows, parts: list[Rows]) -> None:
    """Check that ranks ask for those pairs of a batch that they have both ends of."""
    starts = np.cumsum([0, *(len(part.propagated) for part in parts)]).tolist()
    for kind in ("hidden", "absent"):
        every = {tuple(pair) for pair in getattr(alone, kind).T.tolist()}
        cuts = list(zip(parts, pairwise(starts), strict=True))
        asked = [
            {(u + start, v + start) for u, v in getattr(part, kind).T.tolist()}
            for part, (start, _) in cuts
        ]
        for own, (_, (start, stop)) in zip(asked, cuts, strict=True):
            assert own == {pair for pair in every if start <= min(pair) and max(pair) < stop}
    assert all(part.hidden is not None and part.hidden.shape[1] > 2 for part in parts)


BLOCKS = ["embed.blocks=structure,learnt,diffused", "embed.diffused_columns=3"]
BLOCKS += ["embed.structure_columns=4", "embed.learnt_columns=5"]
CENTRED = [*BLOCKS, "embed.centre=true"]


@pytest.mark.parametrize(
    "sets",
    [
        [],
        ["embed.operator=adj+diff", "embed.smooth=0.2", *CENTRED],
        ["embed.features=true"],
        [*HOPS, "encoder.norm=batch", "embed.features=true", "embed.normalise=rows", *BLOCKS],
        [*HOPS, "embed.normalise=block", "embed.smooth=0.2", *CENTRED],
    ],
)
def test_embeddings_are_those_of_one_process(
    graph: Graph, sets: list[str], machines: list[dict[str, Any]]
) -> None:
    import ray
    from dgb.ray.embedding import embed_blocks

    recipe, inputs, blocks = put(graph, ["encoder.width=8", *sets], machines)
    encoder = make_encoder(graph.num_features, recipe.encoder, torch.Generator().manual_seed(1))
    alone = deepcopy(encoder)
    made = np.concatenate(ray.get(embed_blocks(encoder, blocks, recipe.embed)))
    settle(alone, inputs, recipe.embed)
    expected = embed(alone, inputs, recipe.embed)
    torch.testing.assert_close(torch.from_numpy(made), expected, atol=1e-6, rtol=1e-5)
    kept, wanted = encoder.state_dict(), alone.state_dict()
    assert (list(kept) == list(wanted) and not encoder.training) or not recipe.encoder.hops
    for name, tensor in wanted.items():  # what new nodes are embedded with
        torch.testing.assert_close(kept[name], tensor, atol=1e-5, rtol=1e-5)


def test_the_layout_gives_every_machine_columns_and_every_processor_rows() -> None:
    from dgb.ray.blocks import BLOCK_BYTES, make_layout

    machines = [{"NodeID": name, "Resources": {"CPU": 3.0}} for name in "abcd"]
    layout = make_layout((1000, 10), machines)
    assert layout.rows == (0, 333, 667, 1000) and layout.machines == ("a", "b", "c", "d")
    assert len(layout.columns) == 5 and layout.columns[-1] == 10
    large = make_layout((10**8, 128), machines)
    rows, columns = np.diff(large.rows).max(), np.diff(large.columns).max()
    assert rows * columns * 4 <= 1.1 * BLOCK_BYTES
    assert make_layout((2, 1), machines).rows == (0, 1, 2)
