"""One training step: ours, its own dense products (the floor), and a plain PyG version."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch_geometric.utils import from_scipy_sparse_matrix

from dgb.cookbook import load_recipe
from dgb.data.graph import Graph
from dgb.data.load import load_graph
from dgb.model.bootstrap import Bootstrap
from dgb.recipe import Recipe
from dgb.run.machine import generators
from dgb.train.checkpoint import State
from dgb.train.loop import make_state, train_epoch
from dgb.views.inputs import Inputs, make_inputs
from dgb.views.operators import make_diff
from dgb.views.sampler import epoch_sampler
from dgb.views.sparse import SparseMatrix
from dgb.views.view import View
from reference import PlainDGB, augmented

CPU = torch.device("cpu")
WIDE = ["encoder.width=512", "heads.hidden=512", "heads.width=512", "view1.nfd_drop_rate=0.7"]
WIDE += ["train.monitor_every=1000000"]
DIFFUSIONS = {
    "PPR to 1e-3": ["diffusion.error=1e-3"],
    "PPR top-128": ["diffusion.top_k=128"],
    "PPR to 1e-6": ["diffusion.error=1e-6"],
}
Step = Callable[[], object]


@dataclass(frozen=True)
class Setup:
    """One graph with one recipe, ready to step."""

    graph: Graph
    recipe: Recipe
    inputs: Inputs
    state: State


def make_setup(name: str, diffusion: str) -> Setup:
    """Prepare a model and its optimiser on a named graph with one of DIFFUSIONS."""
    graph = load_graph(name)
    recipe = load_recipe("paper", [*WIDE, *DIFFUSIONS[diffusion]])
    inputs = make_inputs(graph, recipe, CPU)
    for_weights, for_masks = generators(0, CPU)
    model = Bootstrap(graph.num_features, recipe, for_weights)
    return Setup(graph, recipe, inputs, make_state(model, recipe.train, for_masks))


def our_step(setup: Setup) -> Step:
    """Return a function that trains one epoch the way `dgb train` does."""
    draw = epoch_sampler(setup.inputs, setup.recipe, setup.state.generator)
    return lambda: train_epoch(setup.state, draw, setup.recipe.train)


def floor(num_nodes: int, width: int = 512, *, merged: bool = True) -> Step:
    """Return a function that computes the step's dense products and nothing else.

    Per view: the linear maps of the online heads, each forward, to its weight and to its input, and
    two of the target's, forward. As the equations stand there are four such maps (not merged); our
    step multiplies the weights of the middle two first. X W is a sparse product on these graphs.
    """
    rows, weight = torch.randn(num_nodes, width), torch.randn(width, width)

    def products() -> None:
        for _ in range(2):
            for _ in range(3 if merged else 4):
                rows @ weight
                rows.T @ rows
                rows @ weight.T
            for _ in range(3 if merged else 0):
                weight @ weight
            for _ in range(2):
                rows @ weight

    return products


def plain(setup: Setup) -> PlainDGB:
    """Return the plain PyG version with the same weights and a dense S."""
    edge_index, _ = from_scipy_sparse_matrix(setup.graph.adjacency)
    diffusion = make_diff(setup.graph.adjacency, setup.recipe.diffusion)
    s = diffusion.multiply(torch.eye(setup.graph.num_nodes))
    return PlainDGB(setup.state.model, edge_index, s)


def plain_step(setup: Setup) -> Step:
    """Return a function that draws masks on dense features and takes a plain step."""
    reference, x = plain(setup), _dense(setup.inputs.x)
    nfd, nd = setup.recipe.view1.nfd_drop_rate, setup.recipe.view2.nd_drop_rate
    decay = setup.recipe.train.decay
    return lambda: reference.step(*augmented(x, nfd, nd), decay)


def loss_difference(name: str, diffusion: str, steps: int = 5) -> float:
    """Return the largest difference of losses, ours to plain, from the same weights and masks."""
    setup = make_setup(name, diffusion)
    reference, recipe, state = plain(setup), setup.recipe.train, setup.state
    draw = epoch_sampler(setup.inputs, setup.recipe, state.generator)
    worst = 0.0
    for _ in range(steps):
        epoch = draw()
        ours = train_epoch(state, lambda epoch=epoch: epoch, recipe)["loss"]  # type: ignore[misc]
        (views,) = epoch
        x1, x2 = (_dense(view.x) for view in views if isinstance(view, View))
        worst = max(worst, abs(ours - reference.step(x1, x2, recipe.decay)))
    return worst


def _dense(x: torch.Tensor | SparseMatrix) -> torch.Tensor:
    return x.dense() if isinstance(x, SparseMatrix) else x
