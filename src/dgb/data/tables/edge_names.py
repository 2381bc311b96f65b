"""Whether a table of edges starts with the names of its columns, and which two are the ends."""

import re
from dataclasses import dataclass

import pyarrow as pa
from pyarrow import compute

from dgb.data.ids import find_positions
from dgb.data.tables.table import NUMBER, Cells, Table

_WELL_KNOWN = """
source/target source/destination source/dest src/dst src/dest src/tgt src/target from/to u/v
head/tail start/end node1/node2 node_1/node_2 id1/id2 id_1/id_2 node_a/node_b source_id/target_id
sourceid/targetid src_id/dst_id from_id/to_id fromnodeid/tonodeid source_node/target_node
from_node/to_node subject/object citing/cited
"""
_PAIRS = [tuple(pair.split("/")) for pair in _WELL_KNOWN.split()]


@dataclass(frozen=True, eq=False)
class Ends:
    """What is known of the two ends of edges before reading them."""

    ids: tuple[Cells | None, Cells | None] = (None, None)  # of the nodes that have rows
    types: tuple[str, str] = ("", "")  # that the nodes are of, in a heterogeneous graph


def settle_names(table: Table, known: Ends, notes: list[str]) -> Table:
    """Take the first row of a text file for names where it is not an edge, judged by known ids."""
    if table.has_names:
        return table
    if _starts_with_names(table, known):
        names = table.row_text()
        if _find_ends(names, known.types) is None:
            notes.append(f"{table.place(0)}: taken for names of columns: {', '.join(names)}")
        return table.with_names()
    if all(ids is None for ids in known.ids) and _is_alone(table):
        first = " and ".join(table.row_text()[:2])
        notes.append(
            f"{table.place(0)}: {first} was read as an edge, and occurs nowhere else; if it names "
            "the columns, call them source and target"
        )
    return table


def end_columns(table: Table, types: tuple[str, str], notes: list[str]) -> tuple[str, ...]:
    """Return the columns of the two ends: those whose names say so, else the first two."""
    ends = _find_ends(table.names, types)
    if ends is None and table.has_names:
        # Not before: a first row of ids such as paper_7 and author_3 would pass for names.
        ends = _ends_by_words(table.names, types)
    if ends is not None:
        return ends
    one, other = table.names[:2]
    if table.has_names and types[0] != types[1]:
        notes.append(
            f"{table.source}: column {one!r} is taken for {types[0]}, and {other!r} for {types[1]}"
        )
    return one, other


def _find_ends(names: list[str], types: tuple[str, str]) -> tuple[str, ...] | None:
    """Find the columns of the two ends by well-known names, or by the types of nodes."""
    lowered = {name.lower(): name for name in reversed(names)}
    source, target = (name.lower() for name in types)
    by_type = [(source, target), (f"{source}_id", f"{target}_id"), (f"{source}id", f"{target}id")]
    wanted = [*_PAIRS, *(by_type if source != target else [])]
    pairs = (pair for pair in wanted if lowered.keys() >= set(pair))
    return next((tuple(lowered[name] for name in pair) for pair in pairs), None)


def _starts_with_names(table: Table, known: Ends) -> bool:
    if not table.content.num_rows:
        return False
    first = table.row_text()
    if any(map(_is_number, first[:2])):
        return False
    has_names = _find_ends(first, known.types) is not None
    cells = [pa.chunked_array([[cell]], pa.large_string()) for cell in first[:2]]
    pairs = [pair for pair in zip(cells, known.ids, strict=True) if pair[1] is not None]
    is_node = [bool(find_positions(cell, ids)[0] >= 0) for cell, ids in pairs]
    if is_node:
        # One node may be called "source"; two that are called so are an edge.
        is_named = has_names or len(is_node) == 2 or _is_alone(table)
        return (is_named and not any(is_node)) or (has_names and not all(is_node))
    if has_names or table.content.num_rows == 1:
        return has_names
    return all(map(_is_number, table.row_text(1)[:2]))


def _is_alone(table: Table) -> bool:
    """Tell whether the ends of the first row, of several, are not numbers and in no other row."""
    first, rest = table.row_text()[:2], table.content.slice(1)
    if not rest.num_rows or any(map(_is_number, first)):
        return False
    ends = pa.array(first, pa.large_string())
    return not any(compute.any(compute.is_in(end, ends)).as_py() for end in rest.columns[:2])


def _ends_by_words(names: list[str], types: tuple[str, str]) -> tuple[str, ...] | None:
    """Find the columns whose names hold the two types, such as author_name and PaperID.

    Where one of the first two columns does and no other column holds the other type, the other
    of the two is that end.
    """
    if types[0].lower() == types[1].lower():
        return None
    holds = {name: [_holds(name, kind) for kind in types] for name in names}
    alone = [[name for name in names if holds[name] == [i == 0, i == 1]] for i in range(2)]
    both = [sorted(found, key=lambda name: _words(name)[-1] != "id") for found in alone]
    if all(both):
        return both[0][0], both[1][0]
    held = [[name for name in names[:2] if name in found] for found in both]
    if sum(map(len, held)) != 1:
        return None
    return tuple(names[:2] if names[0] in held[0] or names[1] in held[1] else names[1::-1])


def _holds(name: str, kind: str) -> bool:
    words, wanted = _words(name), "".join(_words(kind))
    starts = range(len(words))
    return any("".join(words[i : j + 1]) == wanted for i in starts for j in starts[i:])


def _words(name: str) -> list[str]:
    """Split a name at what is not a letter or digit, and before a capital after a small letter."""
    parted = re.sub(r"(?<=[^\W_A-Z])(?=[A-Z])", " ", name)
    return re.findall(r"[^\W_]+", parted.lower())


def _is_number(cell: str) -> bool:
    return re.match(NUMBER, cell) is not None
