"""The loss: terms with their weights, of which the paper has one, Eq. 8–10."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from dgb.errors import DGBError
from dgb.model.bootstrap import Outputs
from dgb.model.layers import l2_normalise, linear
from dgb.recipe import Links, Recipe

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
    if not outputs.prediction2.numel():
        raise DGBError(
            "view 2 predicts nothing with train.ways=1; take the terms of make_loss instead"
        )
    return regression_loss(outputs.prediction1, outputs.target2) + regression_loss(
        outputs.prediction2, outputs.target1
    )


def one_way_loss(outputs: Outputs, _views: tuple[Any, Any] | None = None) -> Tensor:
    """Return L alone: view 1 predicts the target's view 2. A number from 0 to 4."""
    return regression_loss(outputs.prediction1, outputs.target2)


PAPER: Loss = ((1.0, symmetric_loss),)


class LinkTerm(nn.Module):
    """How badly a small decoder on h_u ⊙ h_v tells edges that view 1 lacks from absent ones.

    It reads the online rows of view 1 alone. Weights of edges play no part: hidden or not is all
    that is asked.
    """

    def __init__(self, widths: Sequence[int], recipe: Links, generator: torch.Generator) -> None:
        """Draw a decoder for every block of representations, whose widths are given, or for all."""
        super().__init__()
        self.widths = list(widths) if recipe.at == "blocks" else [sum(widths)]
        self.decoders = nn.ModuleList(
            nn.Sequential(
                linear(width, recipe.decoder, generator),
                nn.ReLU(),
                linear(recipe.decoder, 1, generator),
            )
            for width in self.widths
        )

    def forward(self, outputs: Outputs, views: tuple[Any, Any]) -> Tensor:
        """Return the mean over decoders of the cross-entropies of both kinds of pairs."""
        kinds = [(views[0].hidden, 1.0), (views[0].absent, 0.0)]
        losses = [
            nn.functional.binary_cross_entropy_with_logits(logits, torch.full_like(logits, truth))
            for pairs, truth in kinds
            if pairs.shape[1]  # a batch may have none
            for logits in self.logits(outputs.representation1, pairs)
        ]
        return torch.stack(losses).mean() if losses else outputs.representation1.sum() * 0

    def logits(self, h: Tensor, pairs: Tensor) -> list[Tensor]:
        """Return what each decoder says of pairs [2, m] of the rows of H."""
        blocks = zip(self.decoders, torch.split(h, self.widths, dim=1), strict=True)
        return [decoder(own[pairs[0]] * own[pairs[1]])[:, 0] for decoder, own in blocks]

    def rate(self, h: Tensor, pairs: Tensor) -> Tensor:
        """Return the mean over decoders of what they say, the higher the likelier an edge."""
        return torch.stack(self.logits(h, pairs)).mean(dim=0)


def find_decoder(loss: Loss) -> LinkTerm | None:
    """Return the term of a loss that tells edges, if it has one."""
    return next((term for _, term in loss if isinstance(term, LinkTerm)), None)


@torch.no_grad()
def rate_pairs(loss: Loss, h: Tensor, pairs: Tensor) -> Tensor:
    """Return how likely pairs [2, m] of rows of H are edges: by the decoders, or by the cosine."""
    if (decoder := find_decoder(loss)) is not None:
        return decoder.rate(h, pairs)
    first, second = l2_normalise(h)[pairs]
    return torch.as_tensor(torch.linalg.vecdot(first, second))


def make_loss(recipe: Recipe, encoder: Any, generator: torch.Generator) -> Loss:
    """Return the terms of a recipe; those with weights of their own draw them."""
    terms: list[tuple[float, Term]] = []
    if recipe.train.bootstrap:
        term = symmetric_loss if recipe.train.ways == 2 else one_way_loss
        terms.append((recipe.train.bootstrap, term))
    if recipe.links.weight:
        widths = [recipe.encoder.width] * (encoder.width // recipe.encoder.width)
        terms.append((recipe.links.weight, LinkTerm(widths, recipe.links, generator)))
    return terms


def weighted_sum(loss: Loss, outputs: Outputs, views: tuple[Any, Any]) -> Tensor:
    """Return the sum of the terms times their weights."""
    return torch.stack([weight * term(outputs, views) for weight, term in loss]).sum()
