"""`dgb outliers`: nodes whose features do not fit their neighborhood."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from dgb.commands.options import add_count, check_counts, check_out
from dgb.commands.runs import FinishedRun, add_run_options, open_run
from dgb.errors import DGBError
from dgb.terminal import output

if TYPE_CHECKING:
    from dgb.arrays import Array
    from dgb.data.names import Naming
    from dgb.evaluate.outliers import Reason

NAMED = 3  # neighbors that differ most
HELP = "nodes whose features do not fit their neighbors"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the verb."""
    add_run_options(parser)
    add_count(parser, "-k", 10, "that are printed with their reasons (default: 10)")
    out = ".csv or .parquet, with all nodes (default: outliers.csv in the run folder)"
    parser.add_argument("--out", metavar="FILE", help=out)


def run(options: Namespace) -> None:
    """Write how unusual every node is among its neighbors; print the most unusual with reasons."""
    from dgb.data.ids import arrow_ids
    from dgb.files.columns import write_columns

    check_counts(options, "k")
    out = check_out(options.out, Path(options.run) / "outliers.csv")
    found = open_run(options)
    order, scores, reasons = _rank(found, options.k)
    columns = {"node_id": arrow_ids(found.ids[order]), "score": scores.round(3)}
    columns |= {
        name: [*(reason[name] for reason in reasons), *[None] * (len(order) - len(reasons))]
        for name in ("reason", "neighbors")
    }
    write_columns(out, columns)
    for node, score, reason in zip(order, scores, reasons, strict=False):
        output(f"{found.ids[node]}  score {score:.1f}")
        output(f"  {reason['reason']}", f"  unlike its neighbors {reason['neighbors']}")
    alone = len(found.ids) - len(order)
    left = f"; {alone:,} without a neighbor are left out" if alone else ""
    output(f"scores of {len(order):,} nodes{left}: {out}")


def _rank(found: FinishedRun, k: int) -> tuple["Array", "Array", list[dict[str, str]]]:
    """Return nodes with neighbors, the most unusual first, their scores, and why the first k."""
    import numpy as np

    from dgb.data.names import cells_with_gaps
    from dgb.evaluate.outliers import explain_outlier, fill_gaps, reduce_features, score_outliers

    x, edges = found.features(), found.edges()
    if x is None:
        raise DGBError("the nodes have no features of one table; add node rows (data.nodes)")
    naming = found.name_columns(x)
    x = fill_gaps(x, cells_with_gaps(naming.features), edges)
    words = [i for i, one in enumerate(naming.features) if one.column.kind == "words"]
    low = reduce_features(x, found.recipe.train.seed, words)
    scores = score_outliers(low, edges)
    order = np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")
    order = order[: int(np.isfinite(scores).sum())]
    if not len(order):
        raise DGBError("no node has a neighbor among those that are embedded; nothing to compare")
    first = order[:k].tolist()
    reasons = [_describe(found, naming, explain_outlier(x, edges, low, node)) for node in first]
    return order, scores[order], reasons


def _describe(found: FinishedRun, naming: "Naming", reason: "Reason") -> dict[str, str]:
    cells = zip(reason.columns.tolist(), reason.own.tolist(), reason.usual.tolist(), strict=True)
    values = [
        naming.describe(place, (own, usual), (reason.node, reason.neighbors), "neighbors")
        for place, own, usual in cells
    ]
    near = [str(node) for node in found.ids[reason.neighbors[:NAMED]].tolist()]
    why = "; ".join(dict.fromkeys(values)) or "no single column"
    return {"reason": why, "neighbors": ", ".join(near)}
