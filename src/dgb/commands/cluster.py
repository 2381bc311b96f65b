"""`dgb cluster`: the nodes of a run in groups."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dgb.commands.options import add_data_options, check_counts, check_out
from dgb.commands.runs import Reasons, open_run
from dgb.errors import DGBError
from dgb.terminal import output

CENTRAL = 5  # nodes that stand for a cluster
HELP = "group the nodes of a run by k-means"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the verb."""
    parser.add_argument("run", help="run folder")
    how_many = "how many (default: by silhouette)"
    parser.add_argument("--clusters", type=int, metavar="K", help=how_many)
    out = ".csv or .parquet (default: clusters.csv in the run folder)"
    parser.add_argument("--out", metavar="FILE", help=out)
    about = "say by which columns each cluster differs from all nodes"
    parser.add_argument("--describe", action="store_true", help=about)
    add_data_options(parser)


def run(options: Namespace) -> None:
    """Group the nodes of a run by k-means; write a cluster for every node and print the groups."""
    import numpy as np

    from dgb.data.ids import arrow_ids
    from dgb.evaluate.cluster import central_rows, choose_clusters, cluster
    from dgb.files.columns import write_columns
    from dgb.run import folder as files
    from dgb.run.map import SEED
    from dgb.run.vectors import read_embeddings

    check_counts(options, "clusters")
    folder = Path(options.run)
    files.read_recipe(folder)  # else this is no run folder
    out = check_out(options.out, folder / "clusters.csv")
    ids, z = read_embeddings(folder / files.EMBEDDINGS)
    count = options.clusters
    if count is None:
        count = choose_clusters(z, SEED)
        best = f"{count} clusters have the best silhouette of 2 to 20"
        found = best if count > 1 else "one cluster: vectors are all alike, or fewer than three"
        output(f"{found}; --clusters K sets another")
    if count > len(z):
        raise DGBError(f"--clusters must be at most the {len(z)} nodes, not {count}")
    clusters = cluster(z, count, SEED)
    write_columns(out, {"node_id": arrow_ids(ids), "cluster": clusters.astype("int32")})
    reasons = Reasons(open_run(options)) if options.describe else None
    output(f"{'cluster':>7}{'nodes':>10}  most central")
    for name, central in enumerate(central_rows(z, clusters, CENTRAL)):
        nodes = np.flatnonzero(clusters == name)
        output(f"{name:>7}{len(nodes):>10,}  {', '.join(map(str, ids[central]))}")
        if reasons is not None:
            output(f"{'':19}{'; '.join(reasons.of_group(nodes))}")
    output(f"cluster of every node: {out}")
