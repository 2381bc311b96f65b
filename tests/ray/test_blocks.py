"""Blocks of rows on several machines are propagated to what one process computes."""

from typing import Any

import numpy as np
import pytest
import torch

from dgb.cookbook import load_recipe
from dgb.data.graph import Graph
from dgb.model.embed import embed
from dgb.model.encoder import GCNEncoder
from dgb.views.inputs import make_inputs
from dgb.views.sampler import make_view
from dgb.views.view import parse_view

pytest.importorskip("ray")

CPU = torch.device("cpu")
KERNELS = [[], ["diffusion.kernel=heat"], ["diffusion.top_k=5"]]


def joined(columns: list[list[Any]]) -> torch.Tensor:
    import ray

    parts = [np.concatenate(ray.get(rows)) for rows in columns]
    return torch.from_numpy(np.concatenate(parts, axis=1))


def put(graph: Graph, sets: list[str], machines: list[dict[str, Any]]) -> tuple[Any, Any, Any]:
    from dgb.ray.blocks import Layout, put_blocks

    recipe = load_recipe("default", ["view1.augment=nfd+nd+adj", *sets])
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
        made = joined(propagate_blocks(blocks, columns, spec.operator))
        assert view.propagated is not None
        torch.testing.assert_close(made, view.propagated, atol=1e-6, rtol=1e-5)
    assert torch.equal(ours.get_state(), alone.get_state())


@pytest.mark.parametrize(
    "sets", [[], ["embed.operator=adj+diff", "embed.smooth=0.2"], ["embed.features=true"]]
)
def test_embeddings_are_those_of_one_process(
    graph: Graph, sets: list[str], machines: list[dict[str, Any]]
) -> None:
    import ray
    from dgb.ray.embedding import embed_blocks

    recipe, inputs, blocks = put(graph, ["encoder.width=8", *sets], machines)
    encoder = GCNEncoder(graph.num_features, recipe.encoder, torch.Generator().manual_seed(1))
    made = np.concatenate(ray.get(embed_blocks(encoder, blocks, recipe.embed)))
    expected = embed(encoder, inputs, recipe.embed)
    torch.testing.assert_close(torch.from_numpy(made), expected, atol=1e-6, rtol=1e-5)


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
