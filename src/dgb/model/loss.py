"""The loss: terms with their weights, of which the paper has one, Eq. 8–10."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from dgb.model.bootstrap import Outputs
from dgb.model.layers import l2_normalise

SHORTEST = 1e-6  # length of a prediction; those of a training are of the size of 1

# A term takes what both networks say and the two views of the step to a number. One that is a
# torch module is trained and saved with the model.
Term = Callable[[Outputs, tuple[Any, Any]], Tensor]
Loss = Sequence[tuple[float, Term]]  # weights and terms


def regression_loss(prediction: Tensor, projection: Tensor) -> Tensor:
    """Return ‖q̄(z) − z̄′‖², Eq. 10, as the mean over nodes: 0 when equal, 4 when opposite.

    It is computed as 2 − 2 q̄·z̄′, which is the same for vectors of length one, in half the time.
    """
    length = torch.linalg.vector_norm(prediction, dim=1)
    cosine = torch.linalg.vecdot(prediction, l2_normalise(projection)) / length.clamp_min(SHORTEST)
    # A prediction of length zero has no direction: its gradient would be as large as 1 / SHORTEST.
    return (2 - 2 * torch.where(length <= SHORTEST, 0, cosine)).mean()


def symmetric_loss(outputs: Outputs, _views: tuple[Any, Any] | None = None) -> Tensor:
    """Return L + L̃: view 1 predicts the target's view 2, and view 2 predicts its view 1.

    Args:
        outputs: What `Bootstrap` returns for two views.

    Returns:
        A number from 0 to 8.

    Example:
        >>> symmetric_loss(model(view1, view2)).backward()
    """
    return regression_loss(outputs.prediction1, outputs.target2) + regression_loss(
        outputs.prediction2, outputs.target1
    )


PAPER: Loss = ((1.0, symmetric_loss),)


def weighted_sum(loss: Loss, outputs: Outputs, views: tuple[Any, Any]) -> Tensor:
    """Return the sum of the terms times their weights."""
    return torch.stack([weight * term(outputs, views) for weight, term in loss]).sum()
