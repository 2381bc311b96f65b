"""An encoder for each meta-path, and attention that weighs what they say."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from dgb.model.encoder import Encoder
from dgb.model.layers import glorot, linear
from dgb.recipe import Recipe
from dgb.views.hetero.sampler import PathViews


class PathAttention(nn.Module):
    """β = softmax_M (mean over nodes of qᵀ tanh(W h_M + b)): one weight for each meta-path."""

    def __init__(self, width: int, columns: int, generator: torch.Generator) -> None:
        """Draw W and q."""
        super().__init__()
        self.linear = linear(width, columns, generator)
        self.query = glorot(columns, 1, generator)

    def forward(self, representations: Sequence[Tensor]) -> Tensor:
        """Return β, [meta-paths]."""
        scores = [(torch.tanh(self.linear(h)) @ self.query).mean() for h in representations]
        return torch.stack(scores).softmax(dim=0)


class PathEncoder(nn.Module):
    """H = Σ_M β_M H_M, where H_M is that of a GCN (Eq. 1) over meta-path M."""

    def __init__(
        self, num_features: int, num_paths: int, recipe: Recipe, generator: torch.Generator
    ) -> None:
        """Draw an encoder for each meta-path, then the attention."""
        super().__init__()
        self.encoders = nn.ModuleList(
            Encoder(num_features, recipe.encoder, generator) for _ in range(num_paths)
        )
        width, columns = recipe.encoder.width, recipe.hetero.attention
        self.attention = PathAttention(width, columns, generator)

    def forward(self, view: PathViews) -> Tensor:
        """Return the representations H of the target nodes, [rows, width]."""
        h, _ = self.encode(view)
        return h

    def encode_both(self, view1: PathViews, view2: PathViews) -> tuple[Tensor, Tensor]:
        """Return H of two views."""
        return self(view1), self(view2)

    def encode(self, view: PathViews) -> tuple[Tensor, Tensor]:
        """Return H and how much attention each meta-path got."""
        parts = [encoder(part) for encoder, part in zip(self.encoders, view.parts, strict=True)]
        beta = self.attention(parts)
        h = torch.stack([weight * part for weight, part in zip(beta, parts, strict=True)])
        return h.sum(dim=0), beta
