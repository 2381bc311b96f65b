"""`dgb predict`: the labels of nodes that have none, learned from those of the others."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dgb.commands.options import check_out
from dgb.commands.runs import FinishedRun, add_run_options, open_run
from dgb.errors import DGBError
from dgb.terminal import log, output, some

if TYPE_CHECKING:
    from dgb.arrays import Array
    from dgb.evaluate.predict import Predictor

HELP = "predict the labels of nodes that have none"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the verb."""
    add_run_options(parser)
    out = ".csv or .parquet (default: predictions.csv in the run folder)"
    parser.add_argument("--out", metavar="FILE", help=out)
    about = "also of nodes that were learned from, by folds that did not see their labels"
    parser.add_argument("--all", action="store_true", help=about)
    about = "a column with the probability of every class"
    parser.add_argument("--probabilities", action="store_true", help=about)
    about = "what labels are (default: numbers where they look so)"
    parser.add_argument("--task", choices=("classes", "numbers"), help=about)
    parser.add_argument("--label", metavar="COLUMN", help="another label column of the node rows")
    parser.add_argument("--labels", metavar="FILE", help="ids and labels, in place of the run's")
    about = "predict for these embeddings, made by dgb embed"
    parser.add_argument("--vectors", metavar="FILE", help=about)


def run(options: Namespace) -> None:
    """Learn from all labels that may be used; write what they say of the other nodes."""
    import numpy as np

    from dgb.data.ids import arrow_ids
    from dgb.evaluate.labels import learnable_nodes
    from dgb.files.columns import write_columns
    from dgb.run.setup import target_rows
    from dgb.run.vectors import read_embeddings

    if options.all and options.vectors:
        raise DGBError("--all goes with the run's own vectors; leave out --vectors")
    out = check_out(options.out, Path(options.run) / "predictions.csv")
    found = open_run(options)
    seed = found.recipe.train.seed
    _warn_of_leak(found)
    known = learnable_nodes(found.graph, seed)
    rows = target_rows(found.graph, found.recipe)
    ids, z = found.ids[rows], found.z[rows]
    output(_describe_use(found, len(known)))
    if options.vectors:
        asked, vectors = read_embeddings(Path(options.vectors))
        is_learned = np.isin(asked.astype(str), ids[known].astype(str))
    else:
        asked, vectors, is_learned = ids, z, np.isin(np.arange(len(ids)), known)
    wanted = np.flatnonzero(~is_learned | options.all)
    if not len(wanted):
        raise DGBError("all nodes have labels that are learned from; --all writes these too")
    predictor = _learn(options, found, z, known)
    values = predictor.predict(vectors)
    if options.all:
        values[predictor.checked] = predictor.held_out
    columns = _columns(found, predictor, values[wanted], has_all=options.probabilities)
    if options.all:
        columns["label"] = _used_labels(found, predictor, known)
    write_columns(out, {"node_id": arrow_ids(asked[wanted])} | columns)
    output(f"predictions of {len(wanted):,} nodes: {out}")


def _describe_use(found: FinishedRun, count: int) -> str:
    from dgb.evaluate.labels import describe_labels

    if found.graph.splits:
        said = describe_labels(found.graph, found.recipe.train.seed)
        return f"{said}; learned from {count:,} of train and validation"
    return f"labels: {count:,} of {found.graph.target_graph().num_nodes:,} nodes; learned from all"


def _learn(options: Namespace, found: FinishedRun, z: "Array", known: "Array") -> "Predictor":
    from dgb.data.graph import are_numbers, label_numbers
    from dgb.evaluate.predict import learn_classes, learn_numbers

    nodes, probe = found.graph.target_graph(), found.recipe.probe
    labels: Any = nodes.labels
    if options.task == "numbers" or (options.task is None and are_numbers(nodes)):
        numbers = label_numbers(nodes)
        if numbers is None:
            raise DGBError("labels are not all numbers; leave out --task numbers")
        predictor = learn_numbers(z, numbers, known, probe)
        output(
            f"R² {predictor.score:.3f} by cross-validation; 90 % of the numbers held out lie "
            f"within ±{predictor.error:.4g} of what was predicted"
        )
    else:
        predictor = learn_classes(z, labels, known, probe)
        output(_describe_classes(found, predictor, labels[known]))
    output(f"chosen by it: rows {predictor.scaling.form}, weight decay {predictor.weight_decay:g}")
    return predictor


def _describe_classes(found: FinishedRun, predictor: "Predictor", labels: "Array") -> str:
    import numpy as np

    from dgb.evaluate.scores import class_names

    classes, counts = np.unique(labels, return_counts=True)
    if (counts == 1).any():
        names = class_names(found.graph.target_graph(), classes[counts == 1])
        log(f"note: classes with one label, which no fold can check: {some(list(names))}")
    return (
        f"accuracy {predictor.score:.1%} by cross-validation (the largest class alone: "
        f"{counts.max() / counts.sum():.1%}); calibration error {predictor.error:.1%} at "
        f"temperature {predictor.temperature:.2f}"
    )


def _columns(
    found: FinishedRun, predictor: "Predictor", values: "Array", *, has_all: bool
) -> dict[str, Any]:
    """Return what is predicted: a class with its probability, or a number with its limits."""
    from dgb.evaluate.scores import class_names

    if predictor.classes is None:
        margin = predictor.error
        return {"predicted": values, "low": values - margin, "high": values + margin}
    names = class_names(found.graph.target_graph(), predictor.classes)
    values, best = values.astype("float64").round(4), values.argmax(axis=1)
    every = {f"p_{name}": values[:, number] for number, name in enumerate(names)}
    columns = {"predicted": names[best].tolist(), "probability": values.max(axis=1)}
    return columns | (every if has_all else {})


def _used_labels(found: FinishedRun, predictor: "Predictor", known: "Array") -> list[Any]:
    """Return the labels that were learned from, None of other nodes."""
    import numpy as np

    from dgb.evaluate.scores import class_names

    if len(predictor.checked) < len(known):
        log(
            f"note: of {len(known):,} nodes that were learned from, {len(predictor.checked):,} are "
            "predicted by folds without them; of the others the labels were seen"
        )
    nodes = found.graph.target_graph()
    labels: Any = nodes.labels
    used = np.where(np.isin(np.arange(nodes.num_nodes), known), labels, -1)
    return list(class_names(nodes, used).tolist())


def _warn_of_leak(found: FinishedRun) -> None:
    """Say so where the labels were features of the run: its vectors know the answer."""
    from dgb.run import folder as files

    schema, label = files.read_schema(found.folder), found.recipe.data.label
    encoding = schema.columns.encoding if schema else files.read_encoding(found.folder)
    if encoding and label in [column.name for column in encoding.columns]:
        log(
            f"warning: {label!r} was a feature when {found.folder} was trained, so that its "
            f"vectors know the labels; train again with --label {label}"
        )
