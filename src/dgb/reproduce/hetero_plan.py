"""The rows of the heterogeneous table: every encoder on the same data, splits and probe."""

from collections.abc import Mapping

from dgb.cookbook import load_recipe
from dgb.data.hetero.graph import HeteroGraph
from dgb.errors import DGBError
from dgb.recipe import Recipe
from dgb.reproduce.measurement import Measurement
from dgb.reproduce.plan import with_seeds
from dgb.settings import check_names

TABLE = "hetero"
RUNS = 5  # trainings of a cell
ROWS = {
    "dgb": "DGB",
    "dgb-named": "DGB, meta-paths of HeCo",
    "union": "DGB on the union of meta-paths",
    "counts": "DGB, weights are path counts",
    "union-counts": "DGB on the union, weights are path counts",
    "relations": "DGB over relations",
    "random": "untrained encoder",
    "raw": "raw features",
}
# The meta-paths that HeCo gives its own method, by the letters of its files.
NAMED = {
    "acm": "p-a-p,p-s-p",
    "dblp": "a-p-a,a-p-c-p-a,a-p-t-p-a",
    "aminer": "p-a-p,p-r-p",
    "freebase": "m-a-m,m-d-m,m-w-m",
}


def plan_hetero(
    graphs: Mapping[str, HeteroGraph], runs: int | None = None, methods: tuple[str, ...] = ()
) -> list[Measurement]:
    """Return all measurements of some rows on graphs by their names, or of all rows."""
    check_names("row of the table", methods, ROWS)
    cells = [
        cell
        for dataset, graph in graphs.items()
        for cell in hetero_cells(dataset)
        if cell.method in (methods or ROWS) and _is_possible(cell, graph)
    ]
    if not cells:
        raise DGBError(
            f"nothing to measure: {', '.join(graphs)} has no row {', '.join(methods)}; raw needs "
            f"features of the target nodes, dgb-named one of {', '.join(NAMED)}"
        )
    return with_seeds(cells, [_count(cell, graphs[cell.dataset], runs or RUNS) for cell in cells])


def hetero_cells(dataset: str) -> list[Measurement]:
    """Return the rows for one data set, with seed 0."""
    recipe = load_recipe("hetero")
    recipes = {
        "dgb": recipe,
        "union": load_recipe("hetero", ["hetero.encoder=union"]),
        "counts": load_recipe("hetero", ["hetero.weights=counts"]),
        # As if papers had plain edges to papers: the graph that homogeneous DGB is given.
        "union-counts": load_recipe("hetero", ["hetero.encoder=union", "hetero.weights=counts"]),
        "relations": load_recipe("relations"),
        "random": load_recipe("hetero", ["train.epochs=0"]),
        # Features have no other settings: none of training can make a result of theirs old.
        "raw": Recipe(data=recipe.data, probe=recipe.probe),
    }
    if dataset in NAMED:
        recipes["dgb-named"] = load_recipe("hetero", [f"hetero.metapaths={NAMED[dataset]}"])
    return [
        Measurement(TABLE, row, dataset, row if row in ("random", "raw") else "dgb", recipes[row])
        for row in ROWS
        if row in recipes
    ]


def _is_possible(cell: Measurement, graph: HeteroGraph) -> bool:
    return cell.system != "raw" or graph.nodes[graph.target].x is not None


def _count(cell: Measurement, graph: HeteroGraph, runs: int) -> int:
    # Where there is no split, each seed draws another one: features are scored on all of them.
    return runs if cell.is_random or not graph.splits else 1
