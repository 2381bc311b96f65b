"""The systems by name: what each needs, its settings, and the one function that it offers.

A file has a frozen dataclass `Settings` and a function of (graph, settings, seed): `classify…`
returns a class per node; any other, most often `represent`, a row per node, made without labels.
Systems that are one idea share a file, and say which of its settings and functions are theirs.
This module imports no file of a system: the command line takes the names from here.
"""

import hashlib
import json
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module, resources
from types import ModuleType
from typing import Any

from dgb.cookbook import load_recipe, recipe_hash, split_override
from dgb.errors import DGBError
from dgb.recipe import Probe, Recipe
from dgb.settings import hashed_values, make_section

LABELS = ("labels",)
BOTH = ("features", "labels")
EVERY = ("one", "several")
# The probe of results whose hash names none; written out, so that it stays when a default changes.
USUAL_PROBE = Probe("linear", (0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5), "auto")


@dataclass(frozen=True)
class Method:
    """A system: its file, whether it classifies or represents, and what it cannot do without."""

    title: str
    module: str
    function: str = "represent"
    needs: tuple[str, ...] = ("features",)
    fixed: Mapping[str, Any] = field(default_factory=dict)  # settings that make it this one
    is_random: bool = True  # False: all seeds give the same on one split
    graphs: tuple[str, ...] = ("one",)  # of one node type or of several
    settings: str = "Settings"  # the name of their class

    @property
    def classifies(self) -> bool:
        """Whether it learns from labels and returns classes."""
        return self.function.startswith("classify")

    @property
    def run(self) -> Callable[[Any, Any, int], Any]:
        """The function from (graph, settings, seed) to representations or to classes."""
        run: Callable[[Any, Any, int], Any] = getattr(self.file, self.function)
        return run

    @property
    def settings_class(self) -> Any:
        """The dataclass of its settings."""
        return getattr(self.file, self.settings)

    @property
    def file(self) -> ModuleType:
        """The file of the method, imported when it is needed: most of them import PyG."""
        return import_module(f"dgb.baselines.{self.module}")


METHODS: dict[str, Method] = {
    "lp": Method("LP", "lp", "classify", LABELS, is_random=False),
    "planetoid": Method("Planetoid", "planetoid", "classify", BOTH),
    "chebyshev": Method(
        "Chebyshev", "spectral", "classify_chebyshev", BOTH, settings="ChebyshevSettings"
    ),
    "gcn": Method("GCN", "convolutions", "classify_gcn", BOTH, settings="GCNSettings"),
    "gat": Method("GAT", "convolutions", "classify_gat", BOTH, settings="GATSettings"),
    "gwnn": Method("GWNN", "spectral", "classify_gwnn", BOTH, settings="GWNNSettings"),
    "raw": Method("raw features", "own", "raw", is_random=False, graphs=EVERY),
    "deepwalk": Method("DeepWalk + features", "deepwalk", fixed={"features": True}),
    "deepwalk-alone": Method("DeepWalk", "deepwalk", needs=(), fixed={"features": False}),
    "ep-b": Method("EP-B", "ep_b"),
    "gmi-mean": Method("GMI-mean", "gmi", fixed={"weights": "mean"}),
    "gmi-adaptive": Method("GMI-adaptive", "gmi", fixed={"weights": "adaptive"}),
    "dgi": Method("DGI", "dgi"),
    "gmnn-q": Method("GMNN (q)", "gmnn", fixed={"rounds": 0}),
    "gmnn": Method("GMNN (q and p)", "gmnn"),
    "bgrl": Method("BGRL", "bgrl"),
    "mvgrl": Method("MVGRL", "dgi", "represent_both", settings="MVGRLSettings"),
    "grace": Method("GRACE", "agreement", "represent_grace", settings="GRACESettings"),
    "cca-ssg": Method("CCA-SSG", "agreement", "represent_cca", settings="CCASettings"),
    "graphmae": Method("GraphMAE", "graphmae"),
    "sgc": Method("SGC, linear head", "own", "propagate", is_random=False, settings="Hops"),
    "diffused": Method("diffused features", "own", "diffuse", is_random=False, settings="PageRank"),
    "random": Method("untrained GCN", "own", "untrained", graphs=EVERY),
    "dgb": Method("DGB", "own", graphs=EVERY),
    "union": Method(
        "DGB on the union of meta-paths",
        "own",
        needs=(),
        fixed={"hetero.encoder": "union"},
        graphs=("several",),
    ),
}


def settings_of(key: str, graph: str, recipe: Recipe, overrides: Iterable[str] = ()) -> Any:
    """Return a method's settings: defaults, then those of the graph, then what the user sets.

    Overrides are such as gat.dropout=0.5. DGB, the untrained encoder and the raw features take the
    recipe.
    """
    method = METHODS[key]
    own = {name: value for section, name, value in map(split_override, overrides) if section == key}
    if method.settings_class is Recipe:
        if own:
            raise DGBError(f"{key} takes a recipe: use --set section.key=… without {key}")
        fixed = [f"{name}={value}" for name, value in method.fixed.items()]
        return load_recipe(recipe, fixed) if fixed else recipe
    for name in own:
        if name in method.fixed:
            raise DGBError(f"{key}.{name} is what makes it {key}: it cannot be set")
    chosen: dict[str, Any] = _read_settings().get(key, {}).get(graph, {})
    return make_section(method.settings_class, key, chosen | own | dict(method.fixed))


def settings_hash(key: str, settings: Any, probe: Probe | None = None) -> str:
    """Return a short hash of a method's settings and of a probe other than the usual one.

    The hash of a recipe, which has its probe, is the one that runs carry.
    """
    if isinstance(settings, Recipe):
        return recipe_hash(settings)
    values = {"method": key} | hashed_values(settings)
    if not METHODS[key].classifies and probe not in (None, USUAL_PROBE):
        values["probe"] = hashed_values(probe)
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:12]


@cache
def _read_settings() -> dict[str, Any]:
    text = resources.files("dgb.baselines").joinpath("settings.toml").read_text("utf-8")
    return tomllib.loads(text)
