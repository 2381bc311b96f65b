"""`dgb export`: the vectors of a run in the form that another tool reads."""

from argparse import ArgumentParser, Namespace
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dgb.commands.runs import add_run_options, open_run
from dgb.errors import DGBError
from dgb.terminal import output

if TYPE_CHECKING:
    from dgb.arrays import Array

HELP = "write vectors for other tools"
# Named here too: `dgb --help` does not wait for what writes them.
FORMATS = ("csv", "parquet", "npy", "word2vec", "tensorboard", "duckdb", "lancedb", "neo4j-csv")


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the verb."""
    add_run_options(parser)
    parser.add_argument("--to", choices=FORMATS, required=True, help="the form")
    about = "file, or folder of tensorboard, lancedb and neo4j-csv (default: in the run folder)"
    parser.add_argument("--out", metavar="PATH", help=about)
    parser.add_argument("--vectors", metavar="FILE", help="other embeddings, made by dgb embed")


def run(options: Namespace) -> None:
    """Write the vectors of a run, or of a file of embeddings, in another form."""
    from dgb.run import export
    from dgb.run import folder as files
    from dgb.run.vectors import read_embeddings

    folder = Path(options.run)
    name, write = export.FORMATS[options.to]
    out = Path(options.out) if options.out else folder / name
    _check_out(out, Path(name).suffix, options.to)
    files.read_recipe(folder)
    edges = None
    if options.to == "neo4j-csv":
        if options.vectors:
            raise DGBError("neo4j-csv is of a run with its edges; leave out --vectors")
        edges = open_run(options).edges()
    ids, z = read_embeddings(Path(options.vectors or folder / files.EMBEDDINGS))
    more = {} if options.vectors else _read_more(folder, ids)
    write(out, export.Exported(ids, z, more, edges))
    output(f"{len(ids):,} vectors of {z.shape[1]} numbers: {out}")


def _check_out(out: Path, suffix: str, form: str) -> None:
    if not out.parent.is_dir():
        raise DGBError(f"--out {out}: there is no folder {out.parent}; make it first")
    is_folder = suffix in ("", ".lancedb")
    if is_folder and out.exists() and not out.is_dir():
        raise DGBError(f"--out {out}: {form} is a folder of files, and this is a file")
    if not is_folder and (out.suffix != suffix or out.is_dir()):
        raise DGBError(f"--out {out}: {form} is a file that ends in {suffix}")


def _read_more(folder: Path, ids: "Array") -> dict[str, list[Any]]:
    """Return label, prediction, cluster and degree by the run's map, where it has all nodes."""
    from dgb.run.map import MAP, read_map

    with suppress(DGBError):  # of a damaged map: the vectors are there all the same
        table = read_map(folder / MAP)
        if table is not None and table["node_id"].to_pylist() == ids.tolist():
            columns = {name: table[name] for name in ("label", "predicted", "cluster", "degree")}
            return {n: c.to_pylist() for n, c in columns.items() if c.null_count < len(c)}
    return {}
