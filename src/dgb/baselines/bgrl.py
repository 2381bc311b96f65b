"""BGRL (Thakoor et al. 2022): predict what a slowly moving copy of the encoder makes of a view.

With the online encoder θ, the target encoder ξ, the predictor q and the views G₁ and G₂,
L = mean over nodes of [2 − 2 cos(q(θ(G₁)), ξ(G₂))] + the same with the views exchanged, and after
each step ξ ← p ξ + (1 − p) θ, where p rises from `decay` to 1 along a cosine.

Taken from the paper and its release: BatchNorm and PReLU after each convolution, no projector, a
target without gradient that starts as a copy, a predictor with one hidden layer of 512. Decided:
one convolution of 512 where the release has two (`hidden=512`, `width=256` bring them back), a
hundred steps and not ten thousand, hence a constant learning rate and Adam for AdamW; BatchNorm
takes the statistics of the nodes at hand, also in the end; the loss is over at most `rows` random
nodes a step. Drop rates are GRACE's for Cora.
"""

import math
from copy import deepcopy
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from dgb.arrays import Array
from dgb.baselines.augment import StackedGCN, TwoViews, make_views
from dgb.baselines.inputs import seeded
from dgb.baselines.learn import embed, minimise
from dgb.data.graph import Graph
from dgb.model.layers import PReLU
from dgb.model.loss import regression_loss
from dgb.settings import setting
from dgb.views.view import View


@dataclass(frozen=True)
class Settings(TwoViews):
    """Of BGRL; see above for what is not its paper's."""

    hidden: int = setting(0, "units of a layer before the last; 0 leaves it out", low=0)
    width: int = setting(512, "columns of a representation", low=1)
    predictor: int = setting(512, "units of the predictor's hidden layer", low=1)
    decay: float = setting(0.99, "p of the first step; 1 freezes the target", low=0, high=1)
    rows: int = setting(2048, "nodes at most that a step's loss is over", low=2)


class BGRL(nn.Module):
    """Online encoder with its predictor, and the target encoder."""

    def __init__(self, num_features: int, settings: Settings) -> None:
        """Draw the online network and copy its encoder."""
        super().__init__()
        sizes = [size for size in (settings.hidden, settings.width) if size]
        self.online = StackedGCN([num_features, *sizes], map(normalised_prelu, sizes))
        self.target = deepcopy(self.online).requires_grad_(False)
        self.predictor = nn.Sequential(
            nn.Linear(settings.width, settings.predictor),
            PReLU(),
            nn.Linear(settings.predictor, settings.width),
        )

    def forward(self, view1: View, view2: View, nodes: Tensor) -> Tensor:
        """Return the loss over these nodes; each view is predicted from the other."""
        with torch.no_grad():
            target1, target2 = (self.target(view, nodes) for view in (view1, view2))
        prediction1, prediction2 = (
            self.predictor(self.online(view, nodes)) for view in (view1, view2)
        )
        return regression_loss(prediction1, target2) + regression_loss(prediction2, target1)

    @torch.no_grad()
    def update_target(self, decay: float) -> None:
        """Take one step of ξ ← p ξ + (1 − p) θ."""
        for xi, theta in zip(self.target.parameters(), self.online.parameters(), strict=True):
            xi.lerp_(theta, 1 - decay)


def normalised_prelu(width: int) -> nn.Module:
    """Return BatchNorm and PReLU, which stand after every convolution."""
    return nn.Sequential(nn.BatchNorm1d(width, track_running_stats=False), PReLU())


def decay_at(step: int, settings: Settings) -> float:
    """Return p of a step: `decay` at first, 1 in the end."""
    left = (1 + math.cos(math.pi * step / max(settings.epochs, 1))) / 2
    return 1 - (1 - settings.decay) * left


def represent(graph: Graph, settings: Settings, seed: int) -> Array:
    """Return the online encoder's representations of the whole graph."""
    views = make_views(graph, settings.hidden or settings.width)
    with seeded(seed):
        model = BGRL(graph.num_features, settings).to(views.x.device)
        minimise(
            model,
            lambda: model(*views.draw_pair(settings.rates, settings.rows)),
            settings,
            after_step=lambda step: model.update_target(decay_at(step, settings)),
        )
    return embed(model.online, views.whole())
