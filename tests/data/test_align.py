"""Another graph's columns in the order that a model was trained on."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from dgb.data.align import align, refuse_own_scales
from dgb.data.encoding import Column, Encoding, named_columns
from dgb.data.graph import Graph, make_graph
from dgb.data.structure import structural_features, with_structure
from dgb.errors import DGBError

X = np.array([[1, 2, 3], [4, 5, 6], [0, 8, 0]], np.float32)
EDGES = sparse.coo_array((np.ones(1), ([0], [1])), shape=(3, 3))


def toy(names: list[str] | None, is_sparse: bool = False) -> Graph:
    graph = make_graph("toy", sparse.csr_array(X) if is_sparse else X, EDGES)
    return graph if names is None else replace(graph, encoding=named_columns(names))


@pytest.mark.parametrize("is_sparse", [True, False])
def test_columns_are_found_by_name(is_sparse: bool) -> None:
    wanted = named_columns(["c", "a"])
    aligned = align(toy(["a", "b", "c"], is_sparse), wanted)
    rows = aligned.x.toarray() if is_sparse else aligned.x
    np.testing.assert_array_equal(rows, X[:, [2, 0]])
    assert sparse.issparse(aligned.x) == is_sparse
    assert aligned.encoding == wanted
    assert aligned.notes == ("columns that the model does not know were left out (1): b",)
    assert align(aligned, wanted) is aligned


def test_missing_columns_are_named_first_five() -> None:
    wanted = named_columns(["b", *(f"new{i}" for i in range(7))])
    with pytest.raises(DGBError, match=r"lacks 7 of the 8 .* new0, new1, .*, new4 and 2 more"):
        align(toy(["a", "b", "c"]), wanted)


@pytest.mark.parametrize("is_sparse", [True, False])
def test_plain_numbers_are_scaled_as_the_model_had_them(is_sparse: bool) -> None:
    wanted = Encoding((Column("b", shift=2.0, scale=3.0), Column("a", scale=4.0)))
    x = align(toy(["a", "b", "c"], is_sparse), wanted).x
    np.testing.assert_allclose(x, np.stack([(X[:, 1] - 2) / 3, X[:, 0] / 4], axis=1), rtol=1e-6)


def test_numbers_scaled_already_are_not_scaled_twice() -> None:
    had = Encoding((Column("a", shift=1.0, scale=2.0), Column("b"), Column("c")))
    graph = replace(toy(None), x=np.column_stack([(X[:, 0] - 1) / 2, X[:, 1:]]), encoding=had)
    wanted = Encoding((Column("a", shift=3.0, scale=5.0),))
    np.testing.assert_allclose(align(graph, wanted).x[:, 0], (X[:, 0] - 3) / 5, rtol=1e-6)


def test_without_names_only_the_number_is_checked() -> None:
    assert align(toy(None), named_columns(["p", "q", "r"])).x is not None
    with pytest.raises(DGBError, match=r"toy has 3 feature columns, .* trained on 2"):
        align(toy(None), named_columns(["p", "q"]))
    unnamed = toy(["a", "b", "c"])
    assert align(unnamed, None) is unnamed


def test_scales_that_cannot_be_brought_together_are_told() -> None:
    scales = np.array([[1.0, 0, 0], [2.0, 1, 1]])
    scaled = replace(toy(None), encoding=named_columns(["a", "b", "c"], scales))
    with pytest.raises(DGBError, match=r"scaled by its own numbers.*; give a matrix"):
        refuse_own_scales(scaled, None)
    refuse_own_scales(toy(["a", "b", "c"]), None)
    refuse_own_scales(scaled, scaled.encoding)
    assert "for scaled as the model's" in align(toy(None), scaled.encoding).notes[0]
    assert not align(toy(None), named_columns(["a", "b", "c"])).notes


def test_features_of_the_edges_are_made_anew() -> None:
    aligned = align(toy(["a", "b", "c"]), Encoding(structure="degree"))
    expected = structural_features(aligned.adjacency, aligned.node_ids, "degree")
    np.testing.assert_array_equal(aligned.x, expected)
    assert "were not used" in aligned.notes[0]
    other = align(with_structure(toy(None), "walk"), Encoding(structure="degree"))
    np.testing.assert_array_equal(other.x, expected)
    with pytest.raises(DGBError, match=r"no features of its own, .* trained on a, b"):
        align(aligned, named_columns(["a", "b"]))
