"""What a Data or HeteroData holds, type by type."""

from collections.abc import Iterator
from typing import Any

from torch_geometric.data import HeteroData

Data = Any  # torch_geometric's Data or HeteroData
Store = Any  # a Data, or what HeteroData keeps of one type of nodes or edges


def stores_of(data: Data) -> Iterator[tuple[Store, list[Store]]]:
    """Yield the nodes of each type with the edges that lead from this type to itself."""
    if not isinstance(data, HeteroData):
        yield data, [data]
        return
    for kind in data.node_types:
        yield data[kind], [data[edge] for edge in data.edge_types if edge[0] == edge[2] == kind]
