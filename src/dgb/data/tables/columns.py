"""One column of a table: what it becomes in x, learned from it or as a run has learned."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute
from scipy import sparse

from dgb.arrays import Array
from dgb.data.encoding import Column
from dgb.data.ids import find_positions
from dgb.data.tables.numbers import (
    Numbers,
    is_list,
    read_numbers,
    read_vectors,
    refuse_cells,
    with_lists,
)
from dgb.data.tables.table import Cells, Table, describe_rows, is_text, text_cells
from dgb.errors import DGBError
from dgb.recipe import Data
from dgb.settings import listed_names

WORDS = 256  # columns that words are hashed to
SPARSE = 0.25  # share of x that is filled, below which x is sparse
_FEW, _MOST, _SHARE = 20, 200, 0.05  # levels of a category: always, at most, of the nodes

Values = Any  # an array of numbers, one or a vector a row, or cells of text
Part = Any  # numpy array or scipy sparse array, float32 [rows, columns]


@dataclass(frozen=True, eq=False)
class Encoded:
    """The columns of x that a column becomes, and what is worth a word about it."""

    column: Column
    part: Part
    missing: int = 0  # cells that were filled
    unseen: int = 0  # cells of a category whose level has no column


def learn_column(table: Table, name: str, reading: Data) -> Encoded:
    """Return what a column becomes, by its own numbers or levels."""
    table = with_lists(table, name)
    cells = table.content.column(name)
    asked = (reading.decimal, reading.dates)
    is_named = name in (*table.categories, *listed_names(reading.categories))
    if is_list(cells):
        found: Numbers | None = read_vectors(table, name)
    else:
        found = None if is_named or _are_codes(cells) else read_numbers(table, name, asked)
    if found is not None:
        column = _scale_column(name, found.values[~_are_missing(found.values)])
        column = replace(column, unit=found.unit, form=found.form, mark=found.mark)
        column = _fill_column(table, column, found.values, reading)
        return _encode_numbers(column, found.values)
    cells = text_cells(table, name, f"leave it out with data.drop={name}")
    counts = compute.value_counts(cells.drop_null())
    is_few = is_named or len(counts) <= _most_levels(cells)
    if reading.text != "category" and not (reading.text == "auto" and is_few):
        return _encode_text(Column(name, "words", width=WORDS), cells)
    pairs = zip(*(counts.field(part).to_pylist() for part in ("counts", "values")), strict=True)
    most = sorted(pairs, key=lambda pair: (-pair[0], pair[1]))[:_MOST]
    levels = tuple(sorted(level for _, level in most))
    return _encode_text(Column(name, "category", levels=levels), cells)


def encode_column(table: Table, column: Column) -> Encoded:
    """Return a column in the form that a run has learned, refusing cells of another kind."""
    if column.kind != "number":
        cells = text_cells(table, column.name, "the run was trained on text there")
        return _encode_text(column, cells)
    values = _numbers_for(table, column)
    is_missing = _are_missing(values)
    if not column.fill:
        advice = "fill them in, as the run was trained without such cells"
        refuse_cells(table, column.name, np.flatnonzero(is_missing), advice)
    return _encode_numbers(column, values)


def _numbers_for(table: Table, column: Column) -> Array:
    table = with_lists(table, column.name) if column.width else table
    name, cells = column.name, table.content.column(column.name)
    if cells.null_count == len(cells):
        return np.full((len(cells), column.width) if column.width else len(cells), np.nan)
    if column.width and is_list(cells):
        vectors = read_vectors(table, name).values
        if vectors.shape[1] == column.width:
            return vectors
    if column.width or is_list(cells):
        wanted = f"lists of {column.width} numbers" if column.width else "a number a row"
        raise DGBError(
            f"{table.source}: column {name!r} must hold {wanted}, as the run had, not {cells.type}"
        )
    found = read_numbers(table, name, (column.form,))
    if found is None or (found.unit, found.mark) != (column.unit, column.mark):
        wanted, rows = "dates" if column.unit else "numbers", np.arange(table.content.num_rows)
        wanted = f"{wanted} with {column.mark}" if column.mark else wanted
        raise DGBError(
            f"column {name!r} held {wanted} when the run was trained: "
            f"{describe_rows(table, rows, name)}; give {wanted}"
        )
    return found.values


def _are_codes(cells: Cells) -> bool:
    """Tell whether digits are all of one length and some begin with 0, as in postal codes."""
    if not is_text(cells) or not compute.any(compute.match_substring_regex(cells, r"^0\d")).as_py():
        return False
    if compute.count_distinct(cells).as_py() > _most_levels(cells):
        return False
    are_digits = compute.all(compute.match_substring_regex(cells, r"^\d+$")).as_py()
    return bool(are_digits and compute.count_distinct(compute.utf8_length(cells)).as_py() == 1)


def _most_levels(cells: Cells) -> int:
    return max(_FEW, min(_MOST, int(_SHARE * len(cells))))


def _scale_column(name: str, values: Array) -> Column:
    # A vector is scaled as a whole, so that its directions keep their meaning.
    width = values.shape[1] if values.ndim == 2 else 0
    largest = float(np.abs(values).max(initial=0))
    if largest <= 1:
        return Column(name, width=width)
    if 2 * np.count_nonzero(values) < values.size:
        return Column(name, scale=largest, width=width)  # zeros stay zeros: x can be sparse
    if values.min() == values.max():
        return Column(name, shift=float(values.min()), scale=largest, width=width)
    return Column(name, shift=float(values.mean()), scale=float(values.std()), width=width)


def _fill_column(table: Table, column: Column, values: Array, reading: Data) -> Column:
    """Return the column with what is put for missing cells, in this table or another."""
    is_missing = _are_missing(values)
    if reading.missing == "refuse":
        advice = "fill them in, or let them be filled with data.missing=flag"
        refuse_cells(table, column.name, np.flatnonzero(is_missing), advice)
        return column
    middle = np.mean if reading.missing == "mean" else np.median
    fill = np.ravel(middle(values[~is_missing], axis=0)).tolist()
    has_flag = reading.missing == "flag" and bool(is_missing.any())
    return replace(column, fill=tuple(fill), flag=has_flag)


def _are_missing(values: Array) -> Array:
    return np.isnan(values if values.ndim == 1 else values[:, 0])


def _encode_numbers(column: Column, values: Array) -> Encoded:
    is_missing = _are_missing(values)
    if is_missing.any():
        values = values.copy()
        values[is_missing] = column.fill if column.width else column.fill[0]
    scaled = ((values - column.shift) / column.scale).astype(np.float32).reshape(len(values), -1)
    if column.flag:
        scaled = np.column_stack([scaled, is_missing.astype(np.float32)])
    is_sparse = np.count_nonzero(scaled) < SPARSE * scaled.size
    part = sparse.csc_array(scaled) if is_sparse else scaled
    return Encoded(column, part, missing=int(is_missing.sum()))


def _encode_text(column: Column, cells: Cells) -> Encoded:
    if column.kind == "words":
        return Encoded(column, _hash_words(column, cells))
    found = find_positions(cells, pa.array(column.levels, pa.large_string()))
    rows = np.flatnonzero(found >= 0)
    ones, shape = np.ones(len(rows), np.float32), (len(cells), len(column.levels))
    part = sparse.csc_array((ones, (rows, found[rows])), shape=shape)
    return Encoded(column, part, unseen=len(cells) - cells.null_count - len(rows))


def _hash_words(column: Column, cells: Cells) -> Part:
    from sklearn.feature_extraction.text import HashingVectorizer

    # With signs, words that share a column cancel on average, so that texts stay as alike as
    # their words are.
    hashing = HashingVectorizer(n_features=column.width, dtype=np.float32, alternate_sign=True)
    return sparse.csc_array(hashing.transform([text or "" for text in cells.to_pylist()]))
