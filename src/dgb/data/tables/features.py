"""x from the columns of a table: learned from it, or in the form that a run has learned."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from dgb.data.encoding import Encoding
from dgb.data.graph import Features
from dgb.data.tables.columns import SPARSE, Encoded, Part, encode_column, learn_column
from dgb.data.tables.rows import are_missing
from dgb.data.tables.suspects import Remarks, tell_columns
from dgb.data.tables.table import Cells, Table
from dgb.errors import DGBError, Faults
from dgb.recipe import Data
from dgb.terminal import some

_LOOKED_AT = 100


def make_features(
    table: Table, names: Sequence[str], form: Encoding | Data, notes: list[str]
) -> tuple[Features | None, Encoding | None]:
    """Make x of columns in the form of a run, or learn one as the recipe has it."""
    if isinstance(form, Encoding):
        return _encode_features(table, names, form, notes), form
    return _learn_features(table, names, form, notes)


def _learn_features(
    table: Table, names: Sequence[str], reading: Data, notes: list[str]
) -> tuple[Features | None, Encoding | None]:
    """Return x and its encoding, nothing where no column is a feature."""
    empty = [name for name in names if _is_empty(table.content.column(name))]
    if empty:
        notes.append(f"{table.source}: columns without any value are not used: {some(empty, 10)}")
    names = [name for name in names if name not in empty]
    found, faults = [], Faults()
    for name in names:
        with faults:
            found.append(learn_column(table, name, reading))
    faults.refuse()
    kept = [one for one in found if one.column.kind == "number" or reading.text != "drop"]
    dropped = [one.column.name for one in found if one not in kept]
    columns = tuple(one.column for one in kept)
    remarks = [
        *tell_columns(table, columns, reading),
        ("columns of text that are not used", dropped),
        *_tell_cells(kept, f"with the {'mean' if reading.missing == 'mean' else 'median'}"),
    ]
    notes += [f"{table.source}: {what}: {some(such, 10)}" for what, such in remarks if such]
    return (_join_parts([one.part for one in kept]), Encoding(columns)) if kept else (None, None)


def _encode_features(
    table: Table, names: Sequence[str], encoding: Encoding, notes: list[str]
) -> Features:
    """Return x in the columns that a run has learned, found by their names."""
    wanted = [column.name for column in encoding.columns]
    present, known = set(table.names), set(wanted)
    missing = [name for name in wanted if name not in present]
    if missing:
        raise DGBError(
            f"{table.source} lacks {len(missing)} of the {len(wanted)} columns that the run was "
            f"trained on: {some(missing)}; add them"
        )
    extra = [name for name in names if name not in known]
    found, faults = [], Faults()
    for column in encoding.columns:
        with faults:
            found.append(encode_column(table, column))
    faults.refuse()
    remarks = [
        ("columns that the run does not know, left out", extra),
        *_tell_cells(found, "as in training"),
    ]
    notes += [f"{table.source}: {what}: {some(such, 10)}" for what, such in remarks if such]
    return _join_parts([one.part for one in found])


def _is_empty(cells: Cells) -> bool:
    # The first rows tell it of most columns.
    return all(bool(are_missing(part).all()) for part in (cells.slice(0, _LOOKED_AT), cells))


def _join_parts(parts: Sequence[Part]) -> Features:
    """Put parts side by side: CSR where less than a quarter is filled, else dense."""
    ends = np.cumsum([part.shape[1] for part in parts])
    shape = (parts[0].shape[0], ends[-1])
    filled = sum(part.nnz if sparse.issparse(part) else np.count_nonzero(part) for part in parts)
    if filled < SPARSE * shape[0] * shape[1]:
        return sparse.csr_array(sparse.hstack([sparse.csc_array(part) for part in parts]))
    x = np.empty(shape, np.float32)
    for part, end in zip(parts, ends, strict=True):
        x[:, end - part.shape[1] : end] = part.toarray() if sparse.issparse(part) else part
    return x


def _tell_cells(found: Sequence[Encoded], how: str) -> Remarks:
    for is_flagged, more in ((True, " and flagged in columns of their own"), (False, "")):
        such = [one for one in found if one.missing and one.column.flag == is_flagged]
        counts = [f"{one.column.name} {one.missing:,}" for one in such]
        yield f"missing cells filled {how}{more}", counts
    for one in found:
        count = [f"{one.unseen:,}"] if one.unseen else []
        yield f"values of {one.column.name!r} that have no column", count
