"""A view: augmented features and the operator they travel over, multiplied in the cheaper order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from dgb.errors import DGBError
from dgb.recipe import DIFF
from dgb.views.augment import Features
from dgb.views.diffusion import diff_of
from dgb.views.product import Operator, product, times, walk
from dgb.views.sparse import SparseMatrix

ONE_LAYER = (
    "encoder.layers=1: rows of P X̃ are independent of each other, rows of a second layer are not"
)
# How much slower a multiplication is in a sparse product than in a dense one, measured on CPU.
SPARSE_COST = 5
# X̃W is taken forward by online and target network and backward by one of them.
PASSES = 3


@dataclass(frozen=True, eq=False)
class View:
    """One view of the graph; `propagated` holds P X̃ where that is the cheaper order."""

    x: Features  # [num_nodes, num_features], X̃
    operator: Operator
    propagated: Tensor | None = None  # [num_nodes, num_features], for each of several hops
    reach: Operator | None = None  # the operator without the columns that meet empty rows of X̃
    # X and the factors [num_nodes, 1] of its rows, where node dropout alone made X̃
    undropped: tuple[Features, Tensor] | None = None
    hidden: Tensor | None = None  # [2, num_hidden], node pairs: edges that this view lacks
    absent: Tensor | None = None  # [2, number], random node pairs that are not edges
    held: Tensor | None = None  # [3, number], of `Inputs`

    def transform(self, weight: Tensor) -> Tensor:
        """Return P X̃ W, the inside of Eq. 1, in the order this view was made for."""
        if self.propagated is not None:
            return self.propagated @ weight
        return self.carry(times(self.x, weight))

    def transform_hops(self, weights: Sequence[Tensor], hops: Sequence[int]) -> list[Tensor]:
        """Return P^k X̃ W_k for rising k; columns that go on share the hops of those before."""
        if self.propagated is not None:
            return _transform_parts(self.propagated, weights)
        columns, walked, out = times(self.x, torch.cat(tuple(weights), dim=1)), 0, []
        last = columns[:, -weights[-1].shape[1] :]  # of diff, where that is asked for
        for hop, weight in zip(hops, weights, strict=True):
            if hop == DIFF:
                out.append(product(diff_of(self.operator), last.contiguous()))
                break
            for step in range(walked, hop):
                columns = product(self.operator, columns) if step else self.carry(columns)
            walked = max(walked, hop)
            own, columns = columns.tensor_split([weight.shape[1]], dim=1)
            out.append(own)
            columns = columns.contiguous()
        return out

    def carry(self, columns: Tensor) -> Tensor:
        """Return P times columns that have a row of zeros where X̃ has one."""
        return product(self.reach or self.operator, columns)

    def compact(self) -> "View":
        """Return the view without the zeros that dropout left, which products would multiply."""
        if not isinstance(self.x, SparseMatrix):
            return self
        x, reach = self.x.without_zeros(), self.operator
        has_values = x.pattern.has_values
        # Finding the columns costs about as much as multiplying a fifth of them.
        if (
            isinstance(reach, SparseMatrix)
            and reach.order is not None
            and has_values.float().mean() < 0.8
        ):
            reach = reach.with_columns(has_values)
        return replace(self, x=x, reach=reach)

    def propagate(self, hops: Sequence[int] = (1,)) -> "View":
        """Return the view with P X̃ computed, or with P^k X̃ of several k side by side."""
        x = self.x.dense() if isinstance(self.x, SparseMatrix) else self.x
        walked = walk(x, hops, self.operator.multiply, lambda x: diff_of(self.operator).multiply(x))
        parts = [part for _, part in walked]
        return replace(self, propagated=parts[0] if len(parts) == 1 else torch.cat(parts, dim=1))

    def in_order(self, order: str, width: int, hops: Sequence[int] = (1,)) -> "View":
        """Return the view for the order `transform`, `propagate`, or `auto`: what costs less."""
        if order == "auto":
            first = propagates_first(self.x, self.operator, width, hops)
            order = "propagate" if first else "transform"
        return self.propagate(hops) if order == "propagate" else self

    def rows(self, index: Tensor | None) -> "View | Rows":
        """Return a batch of rows of P X̃; None is the whole view."""
        if index is None:
            return self
        assert self.propagated is not None, "row batches need the propagate order"
        return Rows(self.propagated[index])


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows of P X̃, from which one layer of an encoder is exact without the others."""

    propagated: Tensor  # [rows, num_features], for each of several hops
    hidden: Tensor | None = None  # [2, num_hidden], pairs of these rows: edges that the view lacks
    absent: Tensor | None = None  # [2, number], random pairs of these rows that are not edges
    held: Tensor | None = None  # [3, number], pairs of these rows, and 1 for edges held out, or 0

    def transform(self, weight: Tensor) -> Tensor:
        """Return these rows of P X̃ W."""
        return self.propagated @ weight

    def transform_hops(self, weights: Sequence[Tensor], _hops: Sequence[int]) -> list[Tensor]:
        """Return these rows of P^k X̃ W_k for every k that they hold."""
        return _transform_parts(self.propagated, weights)

    @property
    def operator(self) -> Operator:
        """Refuse a second layer."""
        raise DGBError(f"row batches need {ONE_LAYER}")


def _transform_parts(propagated: Tensor, weights: Sequence[Tensor]) -> list[Tensor]:
    parts = propagated.tensor_split(len(weights), dim=1)
    return [part @ weight for part, weight in zip(parts, weights, strict=True)]


def transform_both(view1: View | Rows, view2: View | Rows, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Return P X̃ W of two views; where node dropout alone parts them, X W is taken once."""
    if not (isinstance(view1, View) and isinstance(view2, View) and _sharing_pays(view1, view2)):
        return view1.transform(weight), view2.transform(weight)
    assert view1.undropped is not None and view2.undropped is not None
    (x, keep1), (_, keep2) = view1.undropped, view2.undropped
    xw = times(x, weight)
    return view1.carry(xw * keep1), view2.carry(xw * keep2)


def _sharing_pays(view1: View, view2: View) -> bool:
    """Tell whether X W costs less than X̃ W of both views, which sparse features make shorter."""
    if view1.undropped is None or view2.undropped is None:
        return False
    x, other = view1.undropped[0], view2.undropped[0]
    if not isinstance(x, SparseMatrix):
        return x is other
    parts = [view.x for view in (view1, view2)]
    kept = sum(len(part.values) for part in parts if isinstance(part, SparseMatrix))
    return x is other and kept > len(x.values)


def propagates_first(
    x: Features, operator: Operator, width: int, hops: Sequence[int] = (1,)
) -> bool:
    """Tell whether (P X̃) W costs less than P (X̃ W) over an epoch of both networks.

    `width` is that of all hops together.
    """
    num_nodes, num_features = x.shape
    hop = operator.multiplications
    dense = PASSES * num_nodes * num_features * width
    if isinstance(x, SparseMatrix):
        features = PASSES * len(x.values) * width * SPARSE_COST
    else:
        features = dense
    diff = diff_of(operator).multiplications if DIFF in hops else 0
    # Of what a column walks; one that is propagated first walks the most, and diff too.
    mean = (sum(step for step in hops if step != DIFF) * hop + diff) / len(hops)
    transform = features + PASSES * mean * width * SPARSE_COST
    return (max(hops) * hop + diff) * num_features * SPARSE_COST + dense < transform
