"""`dgb links`: pairs of nodes that should be joined."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dgb.commands.options import add_count, check_counts, check_out
from dgb.commands.runs import FinishedRun, add_run_options, open_run
from dgb.errors import DGBError, printable
from dgb.terminal import log, output

if TYPE_CHECKING:
    from dgb.arrays import Array

SHOWN = 10  # pairs of all nodes, and as many common neighbors
HELP = "pairs of nodes that should be joined, by their vectors"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the verb."""
    add_run_options(parser)
    about = "for this node alone; give it again for more of them (default: for all)"
    parser.add_argument("--node", action="append", default=[], metavar="ID", help=about)
    add_count(parser, "-k", 10, "of each node (default: 10)")
    out = ".csv or .parquet (default: links.csv in the run folder)"
    parser.add_argument("--out", metavar="FILE", help=out)
    about = "do not measure how well edges held out are found again"
    parser.add_argument("--no-check", action="store_true", help=about)


def run(options: Namespace) -> None:
    """Write and print pairs without an edge, the most alike first, and how far to trust them."""
    import numpy as np

    from dgb.data.ids import arrow_ids, find_nodes
    from dgb.evaluate.link_scorers import count_common_neighbors
    from dgb.evaluate.recommend import recommend_links
    from dgb.files.columns import write_columns

    check_counts(options, "k")
    out = check_out(options.out, Path(options.run) / "links.csv", (".csv", ".parquet"))
    found = open_run(options)
    rows = find_nodes(found.ids, np.array(options.node)) if options.node else None
    edges = found.edges()
    if not options.no_check:
        _check(found, options.k)
    pairs, cosine = recommend_links(found.z, edges, rows, options.k)
    common = count_common_neighbors(edges, pairs).astype(np.int64)
    one, other = (found.ids[pairs[:, end]] for end in (0, 1))
    columns = {"node_id": arrow_ids(one), "other_id": arrow_ids(other)}
    columns |= {"similarity": cosine.astype(np.float64).round(4), "common_neighbors": common}
    write_columns(out, columns)
    count = len(pairs) if options.node else SHOWN
    output(*_table(one[:count], other[:count], cosine, common))
    output(f"{len(pairs):,} pairs without an edge: {out}")


def _check(found: FinishedRun, k: int) -> None:
    """Print how many edges, hidden from the graph that is embedded, are found again."""
    from dgb.evaluate.links import edge_scores, split_edges
    from dgb.evaluate.recommend import check_links
    from dgb.recipe import ALL_TYPES
    from dgb.run import folder as files
    from dgb.run.embedding import embed_graph
    from dgb.run.machine import choose_device
    from dgb.run.model_file import load_encoder

    recipe, folder = found.recipe, found.folder
    schema = files.read_schema(folder)
    try:
        is_whole = recipe.data.target == ALL_TYPES
        split = split_edges(found.graph, recipe.train.seed, is_whole=is_whole)
        encoder = load_encoder(folder, recipe, choose_device("auto"), schema)
        scores = check_links(embed_graph(encoder, split.train_graph, recipe), split, k)
        others = edge_scores(split)
    except DGBError as error:
        log(f"not measured how well edges are found: {error}")
        return
    output(
        f"held out {len(split.test.edges):,} edges: AUC {scores['auc']:.3f} ({others['scorer']} "
        f"alone: {others['test_auc']:.3f}); {scores['hits']:.1%} are among the {k} of their node "
        f"(by chance {scores['chance']:.2%})"
    )


def _table(one: "Array", other: "Array", cosine: "Array", common: "Array") -> list[str]:
    names = [[printable(str(node)) for node in ids.tolist()] for ids in (one, other)]
    widths = [max(map(len, [*column, "other"])) + 2 for column in names]
    head = f"{'node':{widths[0]}}{'other':{widths[1]}}{'similarity':>10}  common neighbors"
    rows: Any = zip(*names, cosine.tolist(), common.tolist(), strict=False)
    return [head, *(f"{a:{widths[0]}}{b:{widths[1]}}{s:>10.4f}  {c:,}" for a, b, s, c in rows)]
