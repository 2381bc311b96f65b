"""The regression loss between predictions and projections, Eq. 8–10."""

import torch
from torch import Tensor

from dgb.model.bootstrap import Outputs
from dgb.model.layers import l2_normalise

SHORTEST = 1e-6  # length of a prediction; those of a training are of the size of 1


def regression_loss(prediction: Tensor, projection: Tensor) -> Tensor:
    """Return ‖q̄(z) − z̄′‖², Eq. 10, as the mean over nodes: 0 when equal, 4 when opposite.

    It is computed as 2 − 2 q̄·z̄′, which is the same for vectors of length one, in half the time.
    """
    length = torch.linalg.vector_norm(prediction, dim=1)
    cosine = torch.linalg.vecdot(prediction, l2_normalise(projection)) / length.clamp_min(SHORTEST)
    # A prediction of length zero has no direction: its gradient would be as large as 1 / SHORTEST.
    return (2 - 2 * torch.where(length <= SHORTEST, 0, cosine)).mean()


def symmetric_loss(outputs: Outputs) -> Tensor:
    """Return L + L̃: view 1 predicts the target's view 2, and view 2 predicts its view 1."""
    return regression_loss(outputs.prediction1, outputs.projection2) + regression_loss(
        outputs.prediction2, outputs.projection1
    )
