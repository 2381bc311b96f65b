"""The labels that a search may read: those of train and validation nodes of one split."""

from dgb.data.graph import Array, Graph
from dgb.errors import DGBError
from dgb.evaluate.probe import choose_classifier
from dgb.recipe import Probe
from dgb.settings import unknown_name
from dgb.tune.criteria import CRITERIA

VALIDATION = "validation"
# For graphs without labels: of all criteria the one whose least agreement with validation accuracy
# over finished runs was highest on three data sets (docs/results.md).
DEFAULT_CRITERION = "effective_rank"


def validation_accuracy(z: Array, graph: Graph, probe: Probe) -> float:
    """Return the accuracy on validation of a probe that is learnt from the train nodes.

    This is the convex probe whatever `probe.kind` says: the others want test labels.
    """
    assert graph.labels is not None
    return choose_classifier(z, graph.labels, graph.splits[0], probe).validation


def choose_criterion(name: str | None, graph: Graph) -> str:
    """Return the criterion asked for, else validation accuracy where labels allow it."""
    if name is None:
        return DEFAULT_CRITERION if graph.labels is None else VALIDATION
    if name not in (VALIDATION, *CRITERIA):
        raise unknown_name("criterion", name, [VALIDATION, *CRITERIA])
    if name == VALIDATION and graph.labels is None:
        raise DGBError(
            f"{graph.name} has no labels for a validation accuracy, which takes train nodes of two "
            f"classes and validation nodes; use --criterion {DEFAULT_CRITERION}, which needs none"
        )
    return name
