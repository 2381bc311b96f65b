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
    from dgb.evaluate.recommend import Ranking

SHOWN = 10  # pairs of all nodes, and as many common neighbors
HELP = "pairs of nodes that should be joined"
DECODER, VECTORS = "decoder", "vectors"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the verb."""
    add_run_options(parser)
    about = "for this node alone; give it again for more of them (default: for all)"
    parser.add_argument("--node", action="append", default=[], metavar="ID", help=about)
    add_count(parser, "-k", 10, "of each node (default: 10)")
    out = ".csv or .parquet (default: links.csv in the run folder)"
    parser.add_argument("--out", metavar="FILE", help=out)
    about = "rank by the decoder of a run with links, or by the vectors (default: vectors)"
    parser.add_argument("--by", choices=(DECODER, VECTORS), default=VECTORS, help=about)
    about = "do not measure how well edges held out are found again"
    parser.add_argument("--no-check", action="store_true", help=about)


def run(options: Namespace) -> None:
    """Write and print pairs without an edge, the likeliest first, and how far to trust them."""
    import numpy as np

    from dgb.data.ids import arrow_ids, find_nodes
    from dgb.evaluate.links import count_common_neighbors
    from dgb.evaluate.recommend import recommend_links
    from dgb.files.columns import write_columns
    from dgb.run.model import make_ranking

    check_counts(options, "k")
    out = check_out(options.out, Path(options.run) / "links.csv")
    found = open_run(options)
    rows = find_nodes(found.ids, np.array(options.node)) if options.node else None
    edges, is_decoded = found.edges(), _choose_decoder(found, options.by)
    if not options.no_check:
        _check(found, options, is_decoded=is_decoded)
    folder, recipe = found.folder, found.recipe
    ranking = make_ranking(folder, recipe, found.graph, found.z, is_decoded=is_decoded)
    pairs, score = recommend_links(ranking, edges, rows, options.k)
    common = count_common_neighbors(edges, pairs).astype(np.int64)
    one, other = (found.ids[pairs[:, end]] for end in (0, 1))
    columns = {"node_id": arrow_ids(one), "other_id": arrow_ids(other)}
    columns |= {"score": score.round(4), "common_neighbors": common}
    write_columns(out, columns)
    count = len(pairs) if options.node else SHOWN
    output(*_table(one[:count], other[:count], score, common))
    output(f"{len(pairs):,} pairs without an edge: {out}")
    if rows is None and not ranking.is_exact(len(found.ids)):
        _admit(ranking, edges, pairs, options.k)


def _choose_decoder(found: FinishedRun, by: str) -> bool:
    """Tell whether pairs are ranked by the run's decoder, and print by what they are."""
    from dgb.run.model import has_decoder

    if by == DECODER and not has_decoder(found.folder, found.recipe):
        problem = "has no decoder: train with links.weight above 0, or leave out --by"
        raise DGBError(f"{found.folder} {problem}")
    output(f"ranked by the {by} of {printable(str(found.folder))}")
    return by == DECODER


def _check(found: FinishedRun, options: Namespace, *, is_decoded: bool) -> None:
    """Print how many edges, hidden from the graph that is embedded, are found again."""
    from dgb.evaluate.link_split import split_edges
    from dgb.evaluate.links import edge_scores
    from dgb.evaluate.recommend import check_links
    from dgb.neighbors import EXACT_NODES
    from dgb.recipe import ALL_TYPES
    from dgb.run.model import make_ranking

    recipe, k = found.recipe, options.k
    if options.node and len(found.ids) > EXACT_NODES:
        log("not measured how well edges are found: that takes minutes here; ask without --node")
        return
    try:
        is_whole = recipe.data.target == ALL_TYPES
        split = split_edges(found.graph, recipe.train.seed, is_whole=is_whole)
        ranking = make_ranking(found.folder, recipe, split.train_graph, is_decoded=is_decoded)
        scores = check_links(ranking, split.sample(), k)
        others = edge_scores(split.sample())
    except DGBError as error:
        log(f"not measured how well edges are found: {error}")
        return
    output(
        f"held out {len(split.test.edges):,} edges: AUC {scores['auc']:.3f} ({others['scorer']} "
        f"alone: {others['test_auc']:.3f}); hits@{k} {scores['hits']:.1%}, the share among "
        f"the {k} of their node (by chance {scores['chance']:.2%})"
    )


def _admit(ranking: "Ranking", edges: Any, pairs: "Array", k: int) -> None:
    """Say that not all pairs were compared, and of vectors what that has left out."""
    from dgb.evaluate.recommend import share_found

    about = "approximate: a node was compared with those around it"
    if ranking.cost:
        output(f"{about} and with those that walks lead to, not with all")
        return
    share = share_found(ranking, edges, pairs, k)
    output(f"{about}, not with all; of some nodes' {k} best {share:.0%} are among the pairs")


def _table(one: "Array", other: "Array", score: "Array", common: "Array") -> list[str]:
    names = [[printable(str(node)) for node in ids.tolist()] for ids in (one, other)]
    widths = [max(map(len, [*column, "other"])) + 2 for column in names]
    head = f"{'node':{widths[0]}}{'other':{widths[1]}}{'score':>10}  common neighbors"
    rows: Any = zip(*names, score.tolist(), common.tolist(), strict=False)
    return [head, *(f"{a:{widths[0]}}{b:{widths[1]}}{s:>10.4f}  {c:,}" for a, b, s, c in rows)]
