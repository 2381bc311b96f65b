"""`dgb embed`: the vectors of a graph by the encoder of a finished run."""

from argparse import ArgumentParser, Namespace
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from dgb.commands.graphs import choose_later_recipe, open_later_graph
from dgb.commands.options import add_graph_options, add_set_option, check_out
from dgb.cookbook import split_override
from dgb.errors import DGBError
from dgb.recipe import Recipe
from dgb.terminal import output

if TYPE_CHECKING:
    from dgb.arrays import Array


HELP = "embed a graph with a finished run"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the verb."""
    parser.add_argument("run", help="run folder")
    parser.add_argument("graph", nargs="?", help="another graph (default: the run's own)")
    operators = ("adj", "diff", "adj+diff")
    parser.add_argument("--operator", choices=operators, help="instead of the recipe's")
    parser.add_argument("--out", metavar="FILE", help="Parquet file (default: in the run folder)")
    parser.add_argument("--npy", action="store_true", help="write .npy next to it")
    add_set_option(parser)
    add_graph_options(parser)


def run(options: Namespace) -> None:
    """Embed a graph with the encoder of a finished run."""
    from dgb.files.atomic import locked
    from dgb.run import folder as files
    from dgb.run.vectors import remove_parts, write_embeddings

    folder = Path(options.run)
    _check_options(options)
    recipe = choose_later_recipe(options, files.read_recipe(folder))
    if options.operator:
        recipe = replace(recipe, embed=replace(recipe.embed, operator=options.operator))
    out = check_out(options.out, folder / files.EMBEDDINGS)
    # The run's own embeddings are one file for all processes that might write it.
    is_inside = out.parent.resolve() == folder.resolve()
    prefix = f".{out.name}-"
    with (
        locked(folder) if is_inside else nullcontext(),
        # Of this process's own: the run may be read-only, and embedded with twice.
        TemporaryDirectory(prefix=prefix, dir=out.parent, ignore_cleanup_errors=True) as scratch,
    ):
        node_ids, z = _embed(options, recipe, Path(scratch))
        if out.is_dir():  # as an engine has written them
            remove_parts(out)
        write_embeddings(out, node_ids, z, npy=options.npy or recipe.embed.npy)
        output(f"{z.shape[0]} × {z.shape[1]} embeddings: {out}")
        del z  # which may map files of the scratch


def _embed(options: Namespace, recipe: Recipe, scratch: Path) -> tuple["Array", "Array"]:
    """Return the ids and the embeddings of the graph that the recipe reads."""
    from dgb.run import folder as files
    from dgb.run.machine import choose_device
    from dgb.run.model import embed_graph, load_encoder
    from dgb.run.setup import embedded_ids

    folder = Path(options.run)
    encoder = load_encoder(folder, recipe, choose_device("auto"), files.read_schema(folder))
    graph = open_later_graph(recipe, options, folder)
    return embedded_ids(graph, recipe), embed_graph(encoder, graph, recipe, scratch)


def _check_options(options: Namespace) -> None:
    if (options.graph or options.operator or options.set) and not options.out:
        raise DGBError("give --out FILE.parquet, so that the run keeps its own embeddings")
    if options.out and Path(options.out).suffix != ".parquet":
        raise DGBError(
            f"--out must be a .parquet file, not {options.out}; other forms are made of it by "
            f"`dgb export {options.run} --vectors FILE.parquet --to csv`"
        )
    for override in options.set:
        if split_override(override)[0] not in ("data", "embed"):
            raise DGBError(f"--set {override}: the model is trained already; set data.… or embed.…")
