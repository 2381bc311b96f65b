"""x from the columns of a table: learned from it, or in the form that a run has learned."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from scipy import sparse

from dgb.data.encoding import Column, Encoding
from dgb.data.graph import Features
from dgb.data.tables.columns import SPARSE, Encoded, Part, encode_column, learn_column
from dgb.data.tables.dates import find_order, is_slashed
from dgb.data.tables.rows import are_missing
from dgb.data.tables.suspects import is_dated, is_digits, is_noise, names_things
from dgb.data.tables.table import Cells, Table, is_text
from dgb.data.tables.written import FORMS, find_decimal
from dgb.errors import DGBError, Faults
from dgb.recipe import Data
from dgb.terminal import some

_LOOKED_AT = 100
_PLAIN = "write such as 2020-12-31 10:30, or leave the column out"


def learn_features(
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
    told = [
        *_tell_text(table, columns, reading),
        ("columns of text that are not used", dropped),
        *_tell_cells(kept, f"with the {'mean' if reading.missing == 'mean' else 'median'}"),
    ]
    notes += [f"{table.source}: {what}: {some(such, 10)}" for what, such in told if such]
    return (_join_parts([one.part for one in kept]), Encoding(columns)) if kept else (None, None)


def encode_features(
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
    told = [
        ("columns that the run does not know, left out", extra),
        *_tell_cells(found, "as in training"),
    ]
    notes += [f"{table.source}: {what}: {some(such, 10)}" for what, such in told if such]
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


Told = Iterator[tuple[str, list[str]]]  # what was done, and the columns that it was done to


def _tell_cells(found: Sequence[Encoded], how: str) -> Told:
    for is_flagged, more in ((True, " and flagged in columns of their own"), (False, "")):
        such = [one for one in found if one.missing and one.column.flag == is_flagged]
        counts = [f"{one.column.name} {one.missing:,}" for one in such]
        yield f"missing cells filled {how}{more}", counts
    for one in found:
        count = [f"{one.unseen:,}"] if one.unseen else []
        yield f"values of {one.column.name!r} that have no column", count


def _such(texts: dict[str, Cells], names: list[str], is_such: Callable[[Cells], bool]) -> list[str]:
    return [name for name in names if name in texts and is_such(texts[name])]


def _tell_text(table: Table, columns: Sequence[Column], reading: Data) -> Told:
    for kind, what in (("category", "categories"), ("words", "words")):
        yield f"text read as {what}", [c.name for c in columns if c.kind == kind]
    for form, what in FORMS.items():
        yield what, [c.name for c in columns if c.form == form]
    marked = [f"{c.name} ({c.mark})" for c in columns if c.mark]
    yield "numbers read without what stands at them", marked
    texts = {c.name: table.content.column(c.name) for c in columns if c.kind != "number"}
    texts = {name: cells for name, cells in texts.items() if is_text(cells)}
    asked = (reading.decimal, reading.dates)
    yield (
        "numbers with a comma read as text; say by data.decimal=comma or point what it means",
        [name for name, cells in texts.items() if find_decimal(table, cells, asked) == ""],
    )
    words = [c.name for c in columns if c.kind == "words"]
    yield "text that looks like dates, read as words; " + _PLAIN, _such(texts, words, is_dated)
    digits = [n for n in _such(texts, words, is_digits) if not is_dated(texts[n])]
    advice = "write plain numbers, or leave the column out"
    yield f"text of digits that are no plain numbers, read as words; {advice}", digits
    noise = _such(texts, words, is_noise)
    advice = f"say data.drop={','.join(noise)} if they only name the rows"
    yield f"columns of words that hardly occur twice tell nothing of nodes; {advice}", noise
    yield from _tell_names(table, columns)
    yield (
        "dates read as text; say by data.dates=day-first or month-first what comes first",
        [n for n, cells in texts.items() if is_slashed(cells) and not find_order(cells, asked)],
    )


def _tell_names(table: Table, columns: Sequence[Column]) -> Told:
    used = {column.name for column in columns}
    ids = next((name for name in table.names if name not in used), "")
    numbers = [c.name for c in columns if c.kind == "number" and not c.width and not c.unit]
    named = [name for name in numbers if names_things(table, name, ids)]
    advice = f"say data.drop={','.join(named)}, or data.categories=… for those of few values"
    yield f"numbers that seem to name something or to count the rows; {advice}", named
