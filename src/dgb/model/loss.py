"""The regression loss between predictions and projections, Eq. 8–10."""

from torch import Tensor

from dgb.model.bootstrap import Outputs
from dgb.model.layers import l2_normalise


def regression_loss(prediction: Tensor, projection: Tensor) -> Tensor:
    """Return ‖q̄(z) − z̄′‖², Eq. 10, as the mean over nodes: 0 when equal, 4 when opposite."""
    difference = l2_normalise(prediction) - l2_normalise(projection)
    return difference.square().sum(dim=1).mean()


def symmetric_loss(outputs: Outputs) -> Tensor:
    """Return L + L̃: view 1 predicts the target's view 2, and view 2 predicts its view 1."""
    return regression_loss(outputs.prediction1, outputs.projection2) + regression_loss(
        outputs.prediction2, outputs.projection1
    )
