"""Which two columns of a table are the ends of edges: asked for, by their names, or by content."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from pyarrow import compute, types

from dgb.data.ids import find_positions
from dgb.data.tables.table import NUMBER, Cells, Table, find_column, is_text
from dgb.data.tables.written import count_true
from dgb.errors import DGBError
from dgb.settings import listed_names

_WELL_KNOWN = """
source/target source/destination source/dest src/dst src/dest src/tgt src/target from/to u/v
head/tail start/end node1/node2 node_1/node_2 id1/id2 id_1/id_2 node_a/node_b source_id/target_id
sourceid/targetid src_id/dst_id from_id/to_id fromnodeid/tonodeid source_node/target_node
from_node/to_node subject/object citing/cited buyer/seller sender/receiver sender/recipient
payer/payee follower/followee follower/followed caller/callee parent/child origin/destination
"""
_PAIRS = [tuple(pair.split("/")) for pair in _WELL_KNOWN.split()]
_WORDS = {*_PAIRS, *(("a", "b"), ("1", "2"), ("0", "1"), ("i", "j"), ("left", "right"))}
COUNTERS = ("", "unnamed: 0", "id", "edge_id")  # what columns that only count edges are called
_DATE = r"^\d{1,4}[-./]\d\d?[-./]\d{1,4}(?:$|[T ])"
_LOOKED_AT = 10_000  # rows


@dataclass(frozen=True, eq=False)
class Ends:
    """What is known of the two ends of edges before reading them."""

    ids: tuple[Cells | None, Cells | None] = (None, None)  # of the nodes that have rows
    types: tuple[str, str] = ("", "")  # that the nodes are of, in a heterogeneous graph


def end_columns(
    table: Table, known: Ends, asked: str, weight: str | None, notes: list[str]
) -> tuple[str, ...]:
    """Return the columns of the two ends: those asked for, else those whose names say so.

    Without such names they are the first two columns that can be ends, and not the weight.
    """
    if asked:
        return _asked_columns(table, asked)
    ends = find_ends(table.names, known.types)
    if ends is None and table.has_names:
        # Not before: a first row of ids such as paper_7 and author_3 would pass for names.
        ends = _ends_by_words(table.names, known.types)
    if ends is not None:
        return ends
    has_hints = table.has_names or known.ids[0] is not None
    one, other = _ends_by_content(table, known, weight) if has_hints else table.names[:2]
    if table.has_names and known.types[0] != known.types[1]:
        notes.append(
            f"{table.source}: column {one!r} is taken for {known.types[0]}, and {other!r} for "
            f"{known.types[1]}"
        )
    elif [one, other] != table.names[:2] or (table.has_names and len(table.names) > 2):
        told = f"{table.source}: columns {one!r} and {other!r} are taken for the ends of edges"
        notes.append(f"{told}; data.ends=A,B names others")
    return one, other


def find_ends(names: Iterable[str], types: tuple[str, str]) -> tuple[str, ...] | None:
    """Find the columns of the two ends by well-known names, or by the types of nodes."""
    lowered = {name.lower(): name for name in reversed(list(names))}
    source, target = (name.lower() for name in types)
    by_type = [(source, target), (f"{source}_id", f"{target}_id"), (f"{source}id", f"{target}id")]
    wanted = [*_PAIRS, *(by_type if source != target else [])]
    pairs = (pair for pair in wanted if lowered.keys() >= set(pair))
    return next((tuple(lowered[name] for name in pair) for pair in pairs), None)


def _asked_columns(table: Table, asked: str) -> tuple[str, ...]:
    found = [find_column(table, name, (), "data.ends") for name in listed_names(asked)]
    ends = tuple(name for name in found if name is not None)
    if len(ends) != 2 or ends[0] == ends[1]:
        raise DGBError(f"data.ends={asked} must name two columns, such as data.ends=buyer,seller")
    return ends


def _ends_by_words(names: list[str], types: tuple[str, str]) -> tuple[str, ...] | None:
    """Find the columns whose names hold the two types, such as author_name and PaperID.

    Where one of the first two columns does and no other column holds the other type, the other
    of the two is that end. Of one type, names are those of customer_a and customer_b.
    """
    if types[0].lower() == types[1].lower():
        pairs = permutations(names, 2)
        return next((pair for pair in pairs if _are_two_roles(*map(_words, pair))), None)
    holds = {name: [_holds(name, kind) for kind in types] for name in names}
    alone = [[name for name in names if holds[name] == [i == 0, i == 1]] for i in range(2)]
    both = [sorted(found, key=lambda name: _words(name)[-1] != "id") for found in alone]
    if all(both):
        return both[0][0], both[1][0]
    held = [[name for name in names[:2] if name in found] for found in both]
    if sum(map(len, held)) != 1:
        return None
    return tuple(names[:2] if names[0] in held[0] or names[1] in held[1] else names[1::-1])


def _are_two_roles(one: list[str], other: list[str]) -> bool:
    """Tell whether names differ in a word that says which of two ends it is: from and to."""
    if len(one) != len(other):
        return False
    differing = [pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]]
    return len(differing) == 1 and differing[0] in _WORDS


def _ends_by_content(table: Table, known: Ends, weight: str | None) -> list[str]:
    """Return the first two columns that can be ends, judged by the ids of nodes where known."""
    ids, head = known.ids[0], table.content.slice(0, _LOOKED_AT)
    can_be = [name for name in table.names if name != weight and _can_be_ids(head.column(name))]
    named = [name for name in can_be if name.lower() not in COUNTERS]
    rows = [n for n in named if ids is not None and _are_nodes(head.column(n), ids)]
    same_type = known.types[0] == known.types[1]
    found = (found for found in (rows if same_type else [], named, can_be) if len(found) > 1)
    return next(found, table.names)[:2]


def _are_nodes(cells: Cells, ids: Cells) -> bool:
    """Tell whether most cells are ids of nodes."""
    return bool(2 * np.count_nonzero(find_positions(cells, ids) >= 0) > len(cells))


def _can_be_ids(cells: Cells) -> bool:
    """Tell whether a column is neither of dates nor of numbers with fractions, nor empty."""
    cells = cells.drop_null()
    if not is_text(cells):
        is_whole = not types.is_floating(cells.type) or (
            compute.all(compute.equal(compute.floor(cells), cells)).as_py()
        )
        return bool(len(cells) and is_whole and not types.is_temporal(cells.type))
    is_other = compute.match_substring_regex(cells, _DATE)
    has_point = compute.match_substring_regex(cells, r"[.,]\d*[1-9]\d*$")
    is_number = compute.match_substring_regex(cells, NUMBER)
    is_other = compute.or_(is_other, compute.and_(is_number, has_point))
    return 2 * count_true(is_other) < len(cells)


def _holds(name: str, kind: str) -> bool:
    words, wanted = _words(name), "".join(_words(kind))
    starts = range(len(words))
    return any("".join(words[i : j + 1]) == wanted for i in starts for j in starts[i:])


def _words(name: str) -> list[str]:
    """Split a name at what is not a letter or digit, and before a capital after a small letter."""
    parted = re.sub(r"(?<=[^\W_A-Z])(?=[A-Z])|(?<=[^\W\d_])(?=\d+$)", " ", name)
    return re.findall(r"[^\W_]+", parted.lower())
