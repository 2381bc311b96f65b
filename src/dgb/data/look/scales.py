"""Features whose scale leaves nothing of what they say: too small a spread, or too large a mean."""

from collections.abc import Iterable, Iterator

import numpy as np

from dgb.arrays import column_spread
from dgb.data.graph import Graph
from dgb.terminal import some

# A norm adds 1e-5 to variances. A spread of 1e-4 costs Cora nothing, 1e-5 a point, 1e-9 all.
TINY = 3e-5
# Of float32's seven digits, so many are left to a column's differences: about two.
HIDDEN = 1e-5


def scale_trouble(graph: Graph) -> Iterator[str]:
    """Yield a sentence on features that are used as they come, and say next to nothing so."""
    mean, spread = column_spread(graph.x)
    typical = float(np.sqrt(np.mean(np.square(spread)))) if len(spread) else 0.0
    if 0 < typical < TINY:
        yield (
            f"Features are tiny: they vary by {typical:.1g}, which networks take for nothing; "
            "multiply them, or use --set data.normalise=row"
        )
    hidden = np.flatnonzero((spread > 0) & (spread < HIDDEN * abs(mean)))
    if len(hidden):
        yield (
            f"Columns vary by less than a hundred-thousandth of their mean ({len(hidden):,} of "
            f"{graph.num_features:,}: {column_names(graph, hidden)}), which float32 can hardly "
            "tell; take their mean away first"
        )


def column_names(graph: Graph, places: Iterable[int]) -> str:
    """Return the names of some columns, or their numbers."""
    names = graph.encoding.feature_names() if graph.encoding is not None else []
    return some([names[i] if names else f"number {i + 1}" for i in places])
