"""The verbs that look at data and at the machine."""

from dgb.arguments.options import GRAPH, Verbs, add_data_options, add_graph_options, add_set_option


def add_data(verbs: Verbs) -> None:
    """Add `dgb data`."""
    data = verbs.add_parser("data", help="list, fetch and check graphs")
    actions = data.add_subparsers(dest="action", required=True, metavar="list|fetch|check|make")
    actions.add_parser("list", help="known data sets and where they stand")
    fetch = actions.add_parser("fetch", help="get a data set into the cache")
    fetch.add_argument("graph", help="a known data set")
    add_data_options(fetch)
    make = actions.add_parser("make", help="write an invented graph of any size, for trying out")
    make.add_argument("folder", help="to write edges.npy, nodes.npy and labels.npy into")
    keys = "nodes, edges, features, classes, homophily, signal, exponent or seed"
    add_set_option(make, keys)
    check = actions.add_parser("check", help="describe a graph, and what may be wrong with it")
    check.add_argument("graph", help=GRAPH)
    add_set_option(check)
    add_graph_options(check)


def add_info(verbs: Verbs) -> None:
    """Add `dgb info`."""
    info = verbs.add_parser("info", help="versions and devices, or all settings of a recipe")
    info.add_argument("recipe", nargs="?", help="a name or a .toml file")
