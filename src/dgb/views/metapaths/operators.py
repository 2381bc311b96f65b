"""`adj` (Eq. 1) and `diff` (Eq. 4–6) over the graph of a meta-path, as operators."""

from dataclasses import dataclass

import torch
from torch import Tensor

from dgb.recipe import DiffusionRecipe
from dgb.views.metapaths.chain import Chain, Union
from dgb.views.operators import diffuse_over
from dgb.views.product import Operator
from dgb.views.sparse import Tick, idle


@dataclass(frozen=True, eq=False)
class Normalised:
    """D^-½ (A + s I) D^-½ of a chain A, with the degrees D of A + s I; s is 1 or 0."""

    chain: Chain | Union
    scale: Tensor  # [target nodes, 1], D^-½
    self_loops: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.scale), len(self.scale)

    @property
    def dtype(self) -> torch.dtype:
        """Of its entries."""
        return self.scale.dtype

    @property
    def device(self) -> torch.device:
        """Where it lies."""
        return self.scale.device

    @property
    def hops(self) -> int:
        """Passes over relations that one product takes."""
        return self.chain.hops

    @property
    def multiplications(self) -> int:
        """Multiplications that one column takes."""
        return self.chain.multiplications + len(self.scale) * (3 if self.self_loops else 2)

    def multiply(self, dense: Tensor, tick: Tick = idle) -> Tensor:
        """Return the product with a block of columns."""
        scaled = dense * self.scale
        out = self.chain.multiply(scaled)
        out = out.add_(scaled) if self.self_loops else out
        tick()
        return out.mul_(self.scale)

    def multiply_transposed(self, dense: Tensor) -> Tensor:
        """Return the same: the matrix is symmetric."""
        return self.multiply(dense)

    def to(self, device: torch.device) -> "Normalised":
        """Return the operator, which lies where its chain lies."""
        assert self.scale.device == device
        return self


def normalise(chain: Chain | Union, *, self_loops: bool) -> Normalised:
    """Return the chain between D^-½; a node without any path has D = 1."""
    degree = chain.degree + float(self_loops)
    scale = torch.where(degree > 0, degree, 1.0).rsqrt()
    return Normalised(chain, scale, self_loops)


def make_path_operators(
    chain: Chain | Union, recipe: DiffusionRecipe, needed: set[str]
) -> dict[str, Operator]:
    """Return those of the operators `adj` and `diff` of a meta-path that are needed."""
    operators: dict[str, Operator] = {}
    if "adj" in needed:
        operators["adj"] = normalise(chain, self_loops=True)
    if "diff" in needed:
        t = normalise(chain, self_loops=recipe.self_loops)
        operators["diff"] = diffuse_over(t, t.scale.reciprocal(), recipe)
    return operators
