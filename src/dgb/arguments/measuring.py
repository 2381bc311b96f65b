"""The verbs that measure: one system, several, a recipe, the paper."""

from dgb.arguments.options import (
    GRAPH,
    Verbs,
    add_data_options,
    add_graph_options,
    add_recipe_options,
)

REPRODUCED = (
    *("table1", "table2", "table3", "table4", "plus", "hetero"),
    *("figure1", "figure2", "rates", "claims", "verify"),
)

COMPARED = (
    *("lp", "planetoid", "chebyshev", "gcn", "gat", "gwnn"),
    *("raw", "deepwalk", "deepwalk-alone", "ep-b", "gmi-mean", "gmi-adaptive", "dgi"),
    *("gmnn-q", "gmnn", "bgrl", "mvgrl", "grace", "cca-ssg", "graphmae", "sgc", "random", "dgb"),
)


def add_evaluate(verbs: Verbs) -> None:
    """Add `dgb evaluate`."""
    evaluate = verbs.add_parser("evaluate", help="train N times, report mean ± std over trainings")
    evaluate.add_argument("graph", help=GRAPH)
    evaluate.add_argument(
        "--task",
        choices=("classify", "cluster", "links"),
        default="classify",
        help="what the embeddings are scored by (default: classify); links needs no labels",
    )
    evaluate.add_argument("--runs", type=int, default=5, metavar="N", help="trainings (default: 5)")
    evaluate.add_argument("--out", metavar="DIR", help="folder (default: runs/evaluate-GRAPH)")
    add_recipe_options(evaluate)
    add_graph_options(evaluate)


def add_compare(verbs: Verbs) -> None:
    """Add `dgb compare`."""
    compare = verbs.add_parser(
        "compare",
        help="DGB beside other systems on one graph",
        epilog=f"methods: {', '.join(COMPARED)}; a setting of one is --set gat.dropout=0.5",
    )
    compare.add_argument("graph", help=GRAPH)
    compare.add_argument(
        "--methods",
        default="",
        metavar="A,B",
        help="or all (default: dgb,dgi,bgrl,gcn,sgc,random,raw)",
    )
    compare.add_argument("--runs", type=int, default=5, metavar="N", help="trainings (default: 5)")
    compare.add_argument(
        "--splits",
        type=int,
        default=1,
        metavar="N",
        help="splits that a training is scored on (default: 1)",
    )
    compare.add_argument("--jobs", type=int, default=1, metavar="N", help="trainings at once")
    compare.add_argument("--out", metavar="DIR", help="folder (default: runs/compare-GRAPH)")
    add_recipe_options(compare)
    add_graph_options(compare)


def add_tune(verbs: Verbs) -> None:
    """Add `dgb tune`."""
    tune = verbs.add_parser("tune", help="search a recipe for a graph, with or without labels")
    tune.add_argument("graph", help=GRAPH)
    tune.add_argument(
        "--search",
        action="append",
        default=[],
        metavar="KEY=VALUES",
        help="train.decay=0.8:0.99, train.learning_rate=1e-4:1e-2:log or encoder.width=256,512 "
        "(default: the keys that matter most)",
    )
    tune.add_argument("--trials", type=int, default=30, metavar="N", help="in all (default: 30)")
    tune.add_argument("--seeds", type=int, default=1, metavar="N", help="trainings a trial")
    tune.add_argument("--criterion", metavar="NAME", help="validation, or one that needs no labels")
    tune.add_argument("--every", type=int, metavar="EPOCHS", help="between two scores of a trial")
    tune.add_argument("--out", metavar="DIR", help="folder (default: runs/tune-GRAPH)")
    add_recipe_options(tune)
    add_graph_options(tune)


def add_reproduce(verbs: Verbs) -> None:
    """Add `dgb reproduce`."""
    reproduce = verbs.add_parser("reproduce", help="measure the paper's tables, draw its figures")
    reproduce.add_argument("what", choices=REPRODUCED, metavar="|".join(REPRODUCED))
    reproduce.add_argument(
        "--datasets",
        metavar="A,B",
        help="(default: cora,citeseer,pubmed; of hetero all that are at hand)",
    )
    reproduce.add_argument(
        "--methods", default="", metavar="A,B", help="rows of the table (default: all)"
    )
    reproduce.add_argument("--runs", type=int, metavar="N", help="trainings a cell")
    reproduce.add_argument("--jobs", type=int, default=1, metavar="N", help="trainings at once")
    reproduce.add_argument("--lines", type=int, default=5, metavar="N", help="to verify")
    reproduce.add_argument(
        "--results", default="results", metavar="DIR", help="folder (default: results)"
    )
    add_data_options(reproduce)
