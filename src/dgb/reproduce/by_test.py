"""What choosing by test accuracy would have given: an experiment that no table or choice reads.

The paper does not say how it chose rates and lengths. Here they are chosen by test accuracy on
purpose, to see how near that comes to its figures. Every look is logged as a read of test labels.
"""

from collections.abc import Callable, Sequence
from statistics import fmean

from dgb.arrays import Array
from dgb.baselines.methods import USUAL_PROBE
from dgb.cookbook import load_recipe
from dgb.data.graph import Graph
from dgb.data.typed.graph import AnyGraph
from dgb.evaluate.heads import dgi_accuracies
from dgb.evaluate.probe import linear_probe
from dgb.files.atomic import write_text
from dgb.measure.job import Job, Line, Place, load
from dgb.measure.measure import log_test_read, make_head, train_lengths
from dgb.measure.runner import Work, require_lines, run
from dgb.pages import markdown_table
from dgb.reproduce.plan import with_seeds
from dgb.reproduce.published import BEST, find_published
from dgb.reproduce.rates import GRID, Rates, rated_recipe
from dgb.reproduce.results import refuse_uncommitted
from dgb.run.machine import choose_device, set_threads
from dgb.run.model import embed_graph
from dgb.run.resolve import resolve_recipe
from dgb.run.setup import make_setup

TABLE = "by-test"
DATASET = "cora"
KEY = ("graph_hash", "recipe", "seed")
EVERY, MOST = 50, 400  # steps between two looks, and of a training
RUNS = 3  # trainings at the recipe's rates; one at each of the others
PROBES = {
    "solved": "solved probe",
    "dgi": "DGI's probe",
    "scaled": "DGI's, rows of length one",
    "head": "best of DGI's 50 heads",
}


def plan_looks() -> list[Job]:
    """Return the trainings: at the recipe's own rates several, at the others of the grid one."""
    recipe = load_recipe(f"paper-{DATASET}")
    length = (f"train.epochs={MOST}",)
    own = Rates(recipe.view1.nfd_drop_rate, recipe.view2.nd_drop_rate)
    cells = [
        Job(TABLE, f"nfd {rates.nfd:g}, nd {rates.nd:g}", DATASET, "dgb", load_recipe(at, length))
        for rates in dict.fromkeys((own, *GRID))
        for at in [rated_recipe(DATASET, BEST, rates)]
    ]
    return with_seeds(cells, [RUNS] + [1] * (len(cells) - 1))


def look(place: Place) -> str:
    """Measure what is missing, write results/by-test.md and return it."""
    refuse_uncommitted()
    jobs = plan_looks()
    graphs = {DATASET: load(DATASET, place)}
    lines = require_lines(jobs, run(jobs, graphs, Work(measure_looks, KEY), place))
    text = tell(lines, load_recipe(f"paper-{DATASET}").train.epochs)
    write_text(place.results / f"{TABLE}.md", text)
    return text


def measure_looks(jobs: Sequence[Job], graph: AnyGraph, place: Place) -> list[Line]:
    """Return the line of a training: test accuracies after every length."""
    set_threads(place.threads)
    assert isinstance(graph, Graph)
    (job,) = jobs
    head = make_head(job, graph)
    del head["system"]  # no table may take it for a line of its own
    recipe = resolve_recipe(graph, job.recipe)
    setup = make_setup(graph, recipe, choose_device(recipe.train.device))
    scores = {}
    for epochs, encoder, _ in train_lengths(setup, recipe, range(EVERY, MOST + 1, EVERY)):
        log_test_read(place.results, head)
        scores[str(epochs)] = score_test(embed_graph(encoder, graph, recipe, is_own=True), graph)
    return [head | {"scores": scores, "threads": place.threads}]


def score_test(z: Array, graph: Graph) -> dict[str, float]:
    """Return test accuracies by the solved probe, by DGI's, and of its best head."""
    from sklearn.preprocessing import normalize

    assert graph.labels is not None
    split, rows = graph.splits[0], normalize(z)
    test = dgi_accuracies(z, graph.labels, split, seed=0)[1]
    return {
        "solved": linear_probe(z, graph.labels, split, USUAL_PROBE).test,
        "dgi": float(test.mean()),
        "scaled": float(dgi_accuracies(rows, graph.labels, split, seed=0)[1].mean()),
        "head": float(test.max()),
        "std_over_heads": float(test.std()),
    }


def tell(lines: Sequence[Line], usual: int) -> str:
    """Return what each way to choose would have given, as Markdown."""
    rates = plan_looks()[0].method  # the recipe's own; lines are in the order in which they ended
    own = [line for line in lines if line["method"] == rates]
    published = find_published("table2", "dgb", DATASET)
    assert published is not None

    def row(title: str, choose: Callable[[str], float]) -> tuple[str, ...]:
        return title, *(f"{100 * choose(probe):.1f}" for probe in PROBES)

    rows = [
        row(f"nothing: {usual} steps, mean of {len(own)} trainings",
            lambda probe: fmean(line["scores"][str(usual)][probe] for line in own)),
        row("the length of every training, mean of the same",
            lambda probe: fmean(_best(line, probe) for line in own)),
        row("the length of the best training", lambda probe: max(_best(m, probe) for m in own)),
        row(f"length and rates, best of all {len(lines)} trainings",
            lambda probe: max(_best(line, probe) for line in lines)),
    ]  # fmt: skip
    spread = 100 * fmean(line["scores"][str(usual)]["std_over_heads"] for line in own)
    head = ("chosen by test accuracy", *PROBES.values())
    return (
        f"Cora, test accuracy in percent; the paper has {published.mean:.1f}\n\n"
        f"{markdown_table(head, rows)}\n\n"
        f"Deviation over the 50 heads of one encoder: {spread:.2f}.\n"
    )


def _best(line: Line, probe: str) -> float:
    return float(max(scores[probe] for scores in line["scores"].values()))
