"""Relations that say again, from the other end, what another one says."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

from dgb.data.checked import compact
from dgb.data.hetero.graph import Relation


def without_reverse(relations: Iterable[Relation]) -> tuple[list[Relation], list[str]]:
    """Take a relation and its exact transpose once, and return notes on what was left out.

    Relations are walked in both directions, so the second would only count edges twice.
    """
    kept: list[Relation] = []
    notes: list[str] = []
    for relation in relations:
        same = next((other for other in kept if _is_reverse(relation, other)), None)
        if same is None:
            kept.append(relation)
        else:
            notes.append(
                f"relation {relation.label} is {same.label} from the other end and is taken once"
            )
    return kept, notes


def _is_reverse(relation: Relation, other: Relation) -> bool:
    if (relation.source, relation.target) != (other.target, other.source):
        return False
    return relation.matrix.nnz == other.matrix.nnz and _are_equal(
        compact(sparse.csr_array(relation.matrix.T)), other.matrix
    )


def _are_equal(one: Any, other: Any) -> bool:
    parts = ((one.indptr, other.indptr), (one.indices, other.indices), (one.data, other.data))
    return all(np.array_equal(mine, its) for mine, its in parts)
