"""`dgb neighbors`: the nearest nodes of some nodes, or of all."""

import json
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dgb.commands.options import add_count, add_data_options, check_counts, check_out
from dgb.commands.runs import Reasons, open_run
from dgb.errors import DGBError, printable
from dgb.terminal import output

if TYPE_CHECKING:
    from dgb.arrays import Array


HELP = "the nodes nearest to some nodes, by cosine"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the verb."""
    parser.add_argument("run", help="run folder")
    parser.add_argument("nodes", nargs="*", metavar="NODE", help="ids as in your own files")
    parser.add_argument("--all", action="store_true", help="write those of all nodes to a file")
    add_count(parser, "-k", 10, "of each (default: 10)")
    parser.add_argument("--vectors", metavar="FILE", help="other embeddings, made by dgb embed")
    about = "say what they have in common: neighbors, and unusual values of columns"
    parser.add_argument("--why", action="store_true", help=about)
    parser.add_argument("--json", action="store_true", help="for programs")
    out = "of --all (default: neighbors.parquet in the run folder)"
    parser.add_argument("--out", metavar="FILE", help=out)
    add_data_options(parser)


def run(options: Namespace) -> None:
    """Print the nearest nodes of the nodes asked for, by cosine, or write those of all nodes."""
    from dgb.run import folder as files
    from dgb.run.vectors import read_embeddings

    check_counts(options, "k")
    if bool(options.nodes) == options.all:
        raise DGBError("give the ids of nodes, or --all for a file with the neighbors of all")
    if options.why and (options.all or options.vectors):
        raise DGBError("--why goes with ids of nodes, and with the run's own vectors")
    folder = Path(options.run)
    files.read_recipe(folder)
    ids, z = read_embeddings(Path(options.vectors or folder / files.EMBEDDINGS))
    if options.all:
        out = check_out(options.out, folder / "neighbors.parquet")
        write_all(out, ids, z, options.k)
        output(f"{options.k} neighbors of {len(ids):,} nodes: {out}")
        return
    found = _find(options, folder, ids, z)
    if options.why:
        _add_reasons(Reasons(open_run(options)), found, ids)
    if options.json:
        print(json.dumps(found, indent=2, default=str))
    else:
        for number, entry in enumerate(found):
            output(*([""] if number else []), *_format(entry))


def write_all(path: Path, ids: "Array", z: "Array", k: int) -> None:
    """Write the columns node_id, neighbors (ids, nearest first) and similarity as Parquet."""
    import pyarrow as pa

    from dgb.data.ids import arrow_ids
    from dgb.files.columns import write_parquet
    from dgb.neighbors import nearest_all

    positions, similarities = nearest_all(z, k)
    own, width = arrow_ids(ids), positions.shape[1]
    near = own.take(pa.array(positions.reshape(-1)))
    columns = {
        "node_id": own,
        "neighbors": pa.FixedSizeListArray.from_arrays(near, width),
        "similarity": pa.FixedSizeListArray.from_arrays(pa.array(similarities.reshape(-1)), width),
    }
    write_parquet(path, pa.table(columns))


def _find(options: Namespace, folder: Path, ids: "Array", z: "Array") -> list[dict[str, Any]]:
    """Return every node asked for with its neighbors, and labels where the run's map has them."""
    import numpy as np

    from dgb.data.ids import find_nodes
    from dgb.neighbors import nearest
    from dgb.run.map import MAP, read_map

    rows = find_nodes(ids, np.array(options.nodes))
    labels: dict[Any, str] = {}
    # Vectors of another file may be of another graph, whose ids only look the same.
    with suppress(DGBError):  # of a damaged map: the vectors are there all the same
        if not options.vectors and (table := read_map(folder / MAP)) is not None:
            labels = dict(zip(*(table[c].to_pylist() for c in ("node_id", "label")), strict=True))
    return [
        {
            "id": node,
            "label": labels.get(node),
            "neighbors": [
                {"id": other, "similarity": round(similarity, 4), "label": labels.get(other)}
                for other, similarity in zip(ids[near].tolist(), similar.tolist(), strict=True)
            ],
        }
        for node, near, similar in zip(
            ids[rows].tolist(), *nearest(z, rows, options.k), strict=True
        )
    ]


def _add_reasons(reasons: Reasons, found: list[dict[str, Any]], ids: "Array") -> None:
    place = {node: row for row, node in enumerate(ids.tolist())}
    for entry in found:
        for near in entry["neighbors"]:
            near["why"] = reasons.of_pair(place[entry["id"]], place[near["id"]])


def _format(entry: dict[str, Any]) -> list[str]:
    names = [printable(str(near["id"])) for near in entry["neighbors"]]
    width = max(map(len, names), default=0) + 2
    label = f" ({entry['label']})" if entry["label"] else ""
    rows = []
    for name, near in zip(names, entry["neighbors"], strict=True):
        rows.append(f"  {name:{width}}{near['similarity']:>8.4f}  {near['label'] or ''}".rstrip())
        rows += [f"    {reason}" for reason in near.get("why", ())]
    return [f"{entry['id']}{label}", *rows]
