"""What torch_geometric keeps of nodes: features, ids, labels and masks, to and from arrays."""

from typing import Any

import numpy as np
from scipy import sparse

from dgb.arrays import Array
from dgb.data.encoding import Encoding, names_of, scales_of
from dgb.data.formats.arrays import refuse_unless
from dgb.data.graph import Features, Split
from dgb.files.limits import refuse_nodes

Store = Any  # a Data, or what a HeteroData keeps of one type of nodes or edges
Tensor = Any
_MASKS = ("train_mask", "val_mask", "test_mask")


def set_nodes(store: Store, node_ids: Array, encoding: Encoding | None) -> None:
    """Give ids of nodes and the names and scales of columns to a store."""
    import torch

    is_number = node_ids.dtype.kind in "iuf"
    store["node_ids"] = torch.from_numpy(node_ids.copy()) if is_number else node_ids.tolist()
    if encoding is None or encoding.structure:
        return
    store["feature_names"] = encoding.feature_names()
    scales = scales_of(encoding)
    if scales is not None:  # else a model would scale x a second time
        store["feature_scales"] = torch.from_numpy(scales)


def set_labels(
    store: Store, labels: Array | None, splits: tuple[Split, ...], num_nodes: int
) -> None:
    """Give labels and masks to a store."""
    import torch

    if labels is not None:
        store["y"] = torch.from_numpy(labels.copy())
    for mask, values in _masks(splits, num_nodes).items():
        store[mask] = torch.from_numpy(values)


def column_encoding(store: Store, width: int) -> Encoding | None:
    """Return what a store says of its columns, None where it gives them no names."""
    if not has(store, "feature_names"):
        return None
    scales = array_of(store["feature_scales"]) if has(store, "feature_scales") else None
    return names_of(store["feature_names"], width, scales)


def has(store: Store, key: str) -> bool:
    """Tell whether a store has something under a name."""
    return key in store and store[key] is not None


def count_rows(store: Store) -> int | None:
    """Count nodes by what stands in a row for each, None where nothing does."""
    rows = [len(store[key]) for key in ("y", "node_ids", *_MASKS) if has(store, key)]
    return rows[0] if rows and "num_nodes" not in store else None


def array_of(values: Tensor) -> Array:
    """Return a tensor, wherever it lies, or a list as a numpy array."""
    return np.asarray(values.detach().cpu().numpy() if hasattr(values, "detach") else values)


def features_of(x: Tensor) -> Features:
    """Return a dense or sparse tensor of features as numpy or scipy have it."""
    import torch

    if x.layout == torch.strided:
        return array_of(x)
    refuse_nodes(max(x.shape))  # of which a sparse tensor has to hold none
    coo = x.detach().cpu().to_sparse_coo().coalesce()
    row, col = coo.indices().numpy()
    return sparse.csr_array((coo.values().numpy(), (row, col)), shape=tuple(coo.shape))


def tensor_of(x: Features) -> Tensor:
    """Return features as a tensor of its own memory, sparse ones in COO form."""
    import torch

    if not sparse.issparse(x):
        return torch.from_numpy(x.copy())
    coo = sparse.coo_array(x)
    index = torch.from_numpy(np.stack(coo.coords).astype(np.int64))
    values = torch.from_numpy(coo.data.copy())
    return torch.sparse_coo_tensor(index, values, coo.shape, check_invariants=True).coalesce()


def splits_of(store: Store, num_nodes: int) -> tuple[Split, ...]:
    """Return the splits of the masks of a store, one a column."""
    if not any(mask in store for mask in _MASKS):
        return ()
    none = np.zeros(num_nodes, dtype=bool)
    masks = [array_of(store[mask]) if mask in store else none for mask in _MASKS]
    for mask, values in zip(_MASKS, masks, strict=True):
        refuse_unless(
            len(values) == num_nodes, f"{mask} must have one row per node, {num_nodes} in all"
        )
    columns = [mask[:, None] if mask.ndim == 1 else mask for mask in masks]
    # A data set of many splits may share one test set: WikiCS has a single column there.
    count = max(column.shape[1] for column in columns)
    is_even = all(column.shape[1] in (1, count) for column in columns)
    refuse_unless(is_even, "the masks have different numbers of columns; give as many in each")
    wide = [np.broadcast_to(column, (num_nodes, count)) for column in columns]
    return tuple(Split(*(np.flatnonzero(mask[:, i]) for mask in wide)) for i in range(count))


def _masks(splits: tuple[Split, ...], num_nodes: int) -> dict[str, Array]:
    if not splits:
        return {}
    masks = {mask: np.zeros((num_nodes, len(splits)), dtype=bool) for mask in _MASKS}
    for i, split in enumerate(splits):
        for mask, nodes in zip(_MASKS, (split.train, split.validation, split.test), strict=True):
            masks[mask][nodes, i] = True
    return {mask: values[:, 0] if len(splits) == 1 else values for mask, values in masks.items()}
