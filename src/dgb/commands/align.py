"""`dgb align`: the vectors of a run in the axes of another, and which nodes have moved."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from dgb.commands.options import add_count, check_out
from dgb.errors import DGBError, printable
from dgb.terminal import output

HELP = "turn the vectors of a run into the axes of another, and list what moved"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the verb."""
    parser.add_argument("run", help="run folder whose axes are kept")
    parser.add_argument("other", help="run folder, or Parquet file of dgb embed, to turn")
    add_count(parser, "-k", 10, "nodes to list that moved most (default: 10)")
    parser.add_argument("--out", metavar="FILE", help="default: aligned.parquet in folder OTHER")


def run(options: Namespace) -> None:
    """Write the vectors of the other run in the axes of the first; print how far nodes moved."""
    import numpy as np

    from dgb.data.ids import find_common
    from dgb.evaluate.drift import align_vectors
    from dgb.run.folder import EMBEDDINGS
    from dgb.run.vectors import read_embeddings, write_embeddings

    other = Path(options.other)
    folder, file = (other, other / EMBEDDINGS) if other.is_dir() else (other.parent, other)
    out = check_out(options.out, folder / "aligned.parquet")
    known, reference = read_embeddings(Path(options.run) / EMBEDDINGS)
    ids, z = read_embeddings(file)
    ours, theirs = find_common(ids, known)
    if not len(ours):
        raise DGBError(f"no node of {options.run} has the id of a node of {options.other}")
    found = align_vectors(z[ours], reference[theirs])
    write_embeddings(out, ids, z @ found.rotation)
    before, after = (f"{np.median(part):.3f}" for part in (found.before, found.after))
    new, gone = (len(part) - len(ours) for part in (ids, known))
    output(
        f"{len(ours):,} common nodes, {new:,} new, {gone:,} gone",
        f"cosine with {options.run}, median: {before} as they are, {after} aligned",
        f"aligned: {out}",
    )
    moved = np.argsort(found.after, kind="stable")[: options.k]
    rows = [f"  {printable(str(ids[ours[i]]))}  {found.after[i]:.3f}" for i in moved]
    output(*(["moved most (cosine):", *rows] if rows else []))
