"""Names of the columns of edges: whether a table starts with them, and which name the ends."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
import pyarrow as pa
from pyarrow import compute

from dgb.data.ids import find_positions
from dgb.data.tables.dates import are_dates
from dgb.data.tables.rows import are_missing
from dgb.data.tables.table import NUMBER, Cells, Table, is_number, is_title
from dgb.errors import DGBError
from dgb.recipe import Data
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
_LOOKED_AT = 100  # rows that tell whether the first is unlike them
_SURELY = 10  # rows and columns from which a square of numbers is no list of edges


@dataclass(frozen=True, eq=False)
class Ends:
    """What is known of the two ends of edges before reading them."""

    ids: tuple[Cells | None, Cells | None] = (None, None)  # of the nodes that have rows
    types: tuple[str, str] = ("", "")  # that the nodes are of, in a heterogeneous graph


def settle_names(table: Table, known: Ends, reading: Data, notes: list[str]) -> Table:
    """Take the first row of a text file for names where it is not an edge, judged by known ids."""
    if table.has_names:
        notes += table.tell_skipped()
        return table
    if _holds_asked(table, reading) or _starts_with_names(table, known):
        named = table.with_names()
        if find_ends(named.names, known.types) is None:
            place = table.places([named.skipped - table.skipped - 1])[0]
            notes.append(f"{place}: taken for names of columns: {', '.join(named.names)}")
        notes += named.tell_skipped()
        return named
    if all(ids is None for ids in known.ids) and _is_alone(table):
        names = table.row_text()[:2]
        notes.append(
            f"{table.place(0)}: {' and '.join(names)} was read as an edge, and occurs nowhere "
            "else; if it names the columns, call them source and target, or say "
            f"data.ends={','.join(names)}"
        )
    return table


def refuse_square(table: Table) -> None:
    """Refuse a text file that is the matrix of a graph, with or without names, and no list."""
    if table.text is None or not 3 <= len(table.names) <= table.content.num_rows + 1:
        return
    content, first = table.content, table.row_text()
    if not first[0] or not is_number(first[-1]):  # names above, and maybe before
        content = content.slice(1)
        content = content.select(content.column_names[content.num_columns - content.num_rows :])
    if content.num_rows != content.num_columns:
        return
    cells = [column.to_pylist() for column in content.columns]
    if not all(cell and is_number(cell) for column in cells for cell in column):
        return
    matrix = np.array(cells, float)
    is_square = len(matrix) >= (_SURELY if (matrix != matrix.T).any() else 4)
    if is_square or not first[0]:
        raise DGBError(
            f"{table.source} looks like a matrix of {len(matrix)} × {len(matrix)}, where a row "
            "should be an edge; write source, target and weight of each, or give the matrix as "
            ".mtx or scipy's .npz"
        )


def _holds_asked(table: Table, reading: Data) -> bool:
    """Tell whether the first row has the names of columns that are asked for."""
    asked = {name.lower() for name in (*listed_names(reading.ends), reading.weight) if name}
    return bool(asked) and asked <= {cell.lower() for cell in table.row_text()}


def _starts_with_names(table: Table, known: Ends) -> bool:
    if not table.content.num_rows:
        return False
    if table.content.num_rows > 1 and is_title(table.row_text(), table.row_text(1)):
        return _starts_with_names(replace(table, content=table.content.slice(1)), known)
    first = table.row_text()
    if any(map(is_number, first[:2])):
        return False
    has_names = find_ends(first, known.types) is not None
    cells = [pa.chunked_array([[cell]], pa.large_string()) for cell in first[:2]]
    pairs = [pair for pair in zip(cells, known.ids, strict=True) if pair[1] is not None]
    is_node = [bool(find_positions(cell, ids)[0] >= 0) for cell, ids in pairs]
    if is_node:
        # One node may be called "source"; two that are called so are an edge.
        is_named = has_names or len(is_node) == 2 or _is_alone(table)
        return (is_named and not any(is_node)) or (has_names and not all(is_node))
    if has_names or table.content.num_rows == 1:
        return has_names
    is_above = all(map(is_number, table.row_text(1)[:2]))
    return is_above or (_is_alone(table) and any(map(_is_named, table.content.columns)))


def _is_named(cells: Cells) -> bool:
    """Tell whether a column of numbers or dates starts with a word."""
    first, rest = cells[0].as_py() or "", cells.slice(1, _LOOKED_AT).drop_null()
    if not len(rest) or is_number(first) or are_missing(cells.slice(0, 1))[0]:
        return False
    are_numbers = compute.all(compute.match_substring_regex(rest, NUMBER)).as_py()
    return bool(are_numbers or (are_dates(rest) and not are_dates(cells.slice(0, 1))))


def _is_alone(table: Table) -> bool:
    """Tell whether the ends of the first row, of several, are not numbers and in no other row."""
    first, rest = table.row_text()[:2], table.content.slice(1)
    if not rest.num_rows or any(map(is_number, first)):
        return False
    ends = pa.array(first, pa.large_string())
    return not any(compute.any(compute.is_in(end, ends)).as_py() for end in rest.columns[:2])


def find_ends(names: Iterable[str], types: tuple[str, str]) -> tuple[str, ...] | None:
    """Find the columns of the two ends by well-known names, or by the types of nodes."""
    lowered = {name.lower(): name for name in reversed(list(names))}
    source, target = (name.lower() for name in types)
    by_type = [(source, target), (f"{source}_id", f"{target}_id"), (f"{source}id", f"{target}id")]
    wanted = [*_PAIRS, *(by_type if source != target else [])]
    pairs = (pair for pair in wanted if lowered.keys() >= set(pair))
    return next((tuple(lowered[name] for name in pair) for pair in pairs), None)


def find_by_words(names: list[str], types: tuple[str, str]) -> tuple[str, ...] | None:
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


def _holds(name: str, kind: str) -> bool:
    words, wanted = _words(name), "".join(_words(kind))
    starts = range(len(words))
    return any("".join(words[i : j + 1]) == wanted for i in starts for j in starts[i:])


def _words(name: str) -> list[str]:
    """Split a name at what is not a letter or digit, and before a capital after a small letter."""
    parted = re.sub(r"(?<=[^\W_A-Z])(?=[A-Z])|(?<=[^\W\d_])(?=\d+$)", " ", name)
    return re.findall(r"[^\W_]+", parted.lower())
