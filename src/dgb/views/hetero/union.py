"""The union of meta-paths: one graph over which a GCN cannot tell them apart."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from torch import Tensor

from dgb.views.hetero.chain import Chain


@dataclass(frozen=True, eq=False)
class Union:
    """Σ_M A_M of several chains, applied one after the other."""

    chains: tuple[Chain, ...]

    @property
    def hops(self) -> int:
        """Passes over relations that one product takes."""
        return sum(chain.hops for chain in self.chains)

    @property
    def multiplications(self) -> int:
        """Multiplications that one column takes."""
        return sum(chain.multiplications for chain in self.chains)

    @cached_property
    def degree(self) -> Tensor:
        """Sums of the rows, [target nodes, 1]."""
        return sum((chain.degree for chain in self.chains[1:]), self.chains[0].degree)

    def multiply(self, dense: Tensor) -> Tensor:
        """Return the product with a block of columns."""
        out = self.chains[0].multiply(dense)
        for chain in self.chains[1:]:
            out = out.add_(chain.multiply(dense))
        return out

    def keeping(self, kept: Mapping[str, Tensor]) -> "Union":
        """Return the union in a graph without the nodes that are not kept."""
        return Union(tuple(chain.keeping(kept) for chain in self.chains))
