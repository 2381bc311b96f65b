"""Relations between the same two types: what one says again from the other end, and names."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from scipy import sparse

from dgb.data.checked import compact
from dgb.data.typed.graph import UNNAMED, Relation


def without_reverse(relations: Iterable[Relation]) -> tuple[list[Relation], list[str]]:
    """Take a relation and its exact transpose once, and name those between two types apart.

    Relations are walked in both directions, so the second would only count edges twice. Notes
    on what was left out or named otherwise are returned as well.
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
    return _named_apart(kept, notes), notes


def _named_apart(relations: list[Relation], notes: list[str]) -> list[Relation]:
    """Give one of two relations that lead both ways under one name a name of its own.

    It is the one whose types are not in the order of the alphabet, so that another graph with the
    same relations names them alike, in whichever order it lists them.
    """
    known = {(r.source, r.name, r.target): r for r in relations}
    for place, relation in enumerate(relations):
        other = known.get((relation.target, relation.name, relation.source))
        if other is None or relation.source <= relation.target:
            continue
        relations[place] = replace(relation, name=_free_name(relation, relations))
        notes.append(
            f"relation {relation.label} has the name of {other.label} and other edges, and is "
            f"called {relations[place].label}"
        )
    return relations


def _free_name(relation: Relation, others: list[Relation]) -> str:
    """Return a name that no relation between the types has, and no type: meta-paths name both."""
    ends = {relation.source, relation.target}
    taken = {other.name for other in others if {other.source, other.target} == ends}
    taken |= {end for other in others for end in (other.source, other.target)}
    name = "back" if relation.name == UNNAMED else f"{relation.name}_back"
    while name in taken:
        name += "_"
    return name


def _is_reverse(relation: Relation, other: Relation) -> bool:
    if (relation.source, relation.target) != (other.target, other.source):
        return False
    if relation.matrix.nnz != other.matrix.nnz:
        return False
    one, two = compact(sparse.csr_array(relation.matrix.T)), other.matrix
    parts = ("indptr", "indices", "data")
    return all(np.array_equal(getattr(one, part), getattr(two, part)) for part in parts)
