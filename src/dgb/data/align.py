"""Another graph's columns in the order that a model was trained on."""

from dataclasses import replace

import numpy as np
from scipy import sparse

from dgb.data.encoding import Encoding, scales_of
from dgb.data.graph import Graph
from dgb.data.structure import with_structure
from dgb.errors import DGBError
from dgb.terminal import some


def align(graph: Graph, encoding: Encoding | None) -> Graph:
    """Return the graph with its columns as `encoding` has them: found by name, scaled alike.

    Of a graph whose columns have no names only their number can be checked.
    """
    if encoding is None or graph.encoding == encoding:
        return graph
    if encoding.structure:
        has_own = graph.encoding is None or not graph.encoding.structure
        note = "its features were not used: the model was trained on edges alone"
        graph = replace(graph, notes=(*graph.notes, note)) if has_own else graph
        return with_structure(graph, encoding.structure)
    if graph.encoding is None:
        check_width(graph, len(encoding.feature_names()))
        note = "its columns have no names: taken in the model's order, for scaled as the model's"
        notes = graph.notes if scales_of(encoding) is None else (*graph.notes, note)
        return replace(graph, encoding=encoding, notes=notes)
    if graph.encoding.structure:
        raise DGBError(
            f"{graph.name} has no features of its own, but the model was trained on "
            f"{some(encoding.feature_names())}; give these columns"
        )
    return _by_name(graph, graph.encoding, encoding)


def refuse_own_scales(graph: Graph, encoding: Encoding | None) -> None:
    """Refuse a graph that was scaled by its own numbers for a model whose columns had no names."""
    own = graph.encoding
    if encoding is not None or own is None or own.structure or scales_of(own) is None:
        return
    raise DGBError(
        f"{graph.name} has named columns that are scaled by its own numbers, but the model was "
        "trained on columns without names, unscaled; give a matrix of the same columns"
    )


def check_width(graph: Graph, expected: int) -> None:
    """Refuse a graph that has not as many feature columns as a model was trained on."""
    if graph.num_features != expected:
        raise DGBError(
            f"{graph.name} has {graph.num_features} feature columns, but the model was trained on "
            f"{expected}; give the same columns in the same order"
        )


def _by_name(graph: Graph, own: Encoding, encoding: Encoding) -> Graph:
    have, want = own.feature_names(), encoding.feature_names()
    place = {name: i for i, name in enumerate(have)}
    missing = [name for name in want if name not in place]
    if missing:
        raise DGBError(
            f"{graph.name} lacks {len(missing)} of the {len(want)} feature columns that the "
            f"model was trained on: {some(missing)}; add them"
        )
    places = np.array([place[name] for name in want])
    # (value - shift) / scale by the wanted shifts and scales, from x by those it had.
    (old_shift, old_scale), (shift, scale) = own.scales()[:, places], encoding.scales()
    factor, offset = old_scale / scale, (old_shift - shift) / scale
    x = graph.x[:, places]
    if sparse.issparse(x) and not offset.any():
        x = sparse.csr_array(x @ sparse.diags_array(factor), dtype=np.float32)
    else:
        dense = x.toarray() if sparse.issparse(x) else x
        x = (dense * factor + offset).astype(np.float32)
    known = set(want)
    more = [name for name in have if name not in known]
    note = f"columns that the model does not know were left out ({len(more)}): {some(more)}"
    notes = (*graph.notes, note) if more else graph.notes
    return replace(graph, x=x, encoding=encoding, notes=notes)
