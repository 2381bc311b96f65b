"""The systems by name: what each needs, and the one function that each file offers.

A file has a frozen dataclass `Settings` and one function of (graph, settings, seed):
`represent` returns a row per node, made without labels; `classify` returns a class per node.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dgb.arrays import Array
    from dgb.data.graph import Graph


@dataclass(frozen=True)
class Method:
    """A system: its file, whether it classifies or represents, and what it cannot do without."""

    title: str
    module: str
    task: str = "represent"
    needs: tuple[str, ...] = ("features",)
    fixed: Mapping[str, Any] = field(default_factory=dict)  # settings that make it this one
    is_random: bool = True  # False: all seeds give the same on one split

    @property
    def run(self) -> "Callable[[Graph, Any, int], Array]":
        """The function from (graph, settings, seed) to representations or to classes."""
        run: Callable[[Graph, Any, int], Array] = getattr(self.file, self.task)
        return run

    @property
    def file(self) -> ModuleType:
        """The file of the method, imported when it is needed: most of them import PyG."""
        return import_module(f"dgb.baselines.{self.module}")


LABELS = ("labels",)
BOTH = ("features", "labels")

METHODS: dict[str, Method] = {
    "lp": Method("LP", "lp", "classify", LABELS, is_random=False),
    "planetoid": Method("Planetoid", "planetoid", "classify", BOTH),
    "chebyshev": Method("Chebyshev", "chebyshev", "classify", BOTH),
    "gcn": Method("GCN", "gcn", "classify", BOTH),
    "gat": Method("GAT", "gat", "classify", BOTH),
    "gwnn": Method("GWNN", "gwnn", "classify", BOTH),
    "raw": Method("raw features", "raw", is_random=False),
    "deepwalk": Method("DeepWalk + features", "deepwalk", fixed={"features": True}),
    "deepwalk-alone": Method("DeepWalk", "deepwalk", needs=(), fixed={"features": False}),
    "ep-b": Method("EP-B", "ep_b"),
    "gmi-mean": Method("GMI-mean", "gmi", fixed={"weights": "mean"}),
    "gmi-adaptive": Method("GMI-adaptive", "gmi", fixed={"weights": "adaptive"}),
    "dgi": Method("DGI", "dgi"),
    "gmnn-q": Method("GMNN (q)", "gmnn", fixed={"rounds": 0}),
    "gmnn": Method("GMNN (q and p)", "gmnn"),
    "bgrl": Method("BGRL", "bgrl"),
    "mvgrl": Method("MVGRL", "mvgrl"),
    "grace": Method("GRACE", "grace"),
    "cca-ssg": Method("CCA-SSG", "cca_ssg"),
    "graphmae": Method("GraphMAE", "graphmae"),
    "sgc": Method("SGC, linear head", "sgc", is_random=False),
    "random": Method("untrained GCN", "untrained"),
    "dgb": Method("DGB", "dgb"),
}


def lacks(method: Method, graph: "Graph") -> str | None:
    """Return why a method cannot run on this graph, None where it can."""
    if "labels" in method.needs and graph.labels is None:
        return "it learns from labels, and the graph has none to learn from"
    if "features" in method.needs and graph.num_features == 0:
        return "it learns from features, and the graph has none"
    return None
