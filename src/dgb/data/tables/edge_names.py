"""Whether a table of edges starts with the names of its columns, and which two are the ends."""

import re

from dgb.data.tables.ids import find_positions
from dgb.data.tables.table import NUMBER, Cells, Table

_WELL_KNOWN = """
source/target source/destination source/dest src/dst src/dest src/tgt src/target from/to u/v
head/tail start/end node1/node2 node_1/node_2 id1/id2 id_1/id_2 node_a/node_b source_id/target_id
sourceid/targetid src_id/dst_id from_id/to_id fromnodeid/tonodeid source_node/target_node
from_node/to_node subject/object citing/cited
"""
_PAIRS = [tuple(pair.split("/")) for pair in _WELL_KNOWN.split()]


def find_ends(names: list[str]) -> tuple[str, ...] | None:
    """Find the columns of the two ends by well-known names, in any case."""
    lowered = {name.lower(): name for name in reversed(names)}
    pairs = (pair for pair in _PAIRS if lowered.keys() >= set(pair))
    return next((tuple(lowered[name] for name in pair) for pair in pairs), None)


def first_row(table: Table) -> list[str]:
    """Return the cells of the first row, of a text file."""
    return _row(table, 0)


def starts_with_names(table: Table, node_ids: Cells | None) -> bool:
    """Tell whether the first row of a text file names its columns."""
    if not table.content.num_rows:
        return False
    first = first_row(table)
    if any(map(_is_number, first[:2])):
        return False
    if node_ids is not None:
        return _are_no_nodes(first, node_ids)
    if find_ends(first) or table.content.num_rows == 1:
        return find_ends(first) is not None
    return all(map(_is_number, _row(table, 1)[:2]))


def is_alone(table: Table) -> bool:
    """Tell whether the ends of the first row, of several, are no numbers and in no other row."""
    import pyarrow as pa
    from pyarrow import compute

    first, rest = first_row(table)[:2], table.content.slice(1)
    if not rest.num_rows or any(map(_is_number, first)):
        return False
    ends = pa.array(first, pa.large_string())
    return not any(compute.any(compute.is_in(end, ends)).as_py() for end in rest.columns[:2])


def _are_no_nodes(first: list[str], node_ids: Cells) -> bool:
    import pyarrow as pa

    cells = pa.chunked_array([first[:2]], pa.large_string())
    is_node = find_positions(cells, node_ids) >= 0
    # One node may be called "source"; two that are called so are an edge.
    return not is_node.any() or (find_ends(first) is not None and not is_node.all())


def _row(table: Table, row: int) -> list[str]:
    return [column[row].as_py() or "" for column in table.content.columns]


def _is_number(cell: str) -> bool:
    return re.match(NUMBER, cell) is not None
