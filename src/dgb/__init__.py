"""Deep Graph Bootstrapping: label-free node embeddings for graphs with features.

The names below are the public ones; each is imported when first used, so that `import dgb` and
`dgb --help` do not wait for torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dgb.cookbook import load_recipe as load_recipe
    from dgb.data.formats.pyg import from_hetero_data as from_hetero_data
    from dgb.data.formats.pyg import from_pyg as from_pyg
    from dgb.data.formats.pyg import to_hetero_data as to_hetero_data
    from dgb.data.formats.pyg import to_pyg as to_pyg
    from dgb.data.graph import Graph as Graph
    from dgb.data.graph import make_graph as make_graph
    from dgb.data.load import load_graph as load_graph
    from dgb.data.load import load_hetero as load_hetero
    from dgb.data.typed.graph import HeteroGraph as HeteroGraph
    from dgb.errors import DGBError as DGBError
    from dgb.estimator import DGB as DGB
    from dgb.evaluate.predict import predict_labels as predict_labels
    from dgb.evaluate.probe import linear_probe as linear_probe
    from dgb.model.bootstrap import Bootstrap as Bootstrap
    from dgb.model.embed import embed as embed
    from dgb.model.loss import symmetric_loss as symmetric_loss
    from dgb.train.loop import fit as fit
    from dgb.views.inputs import make_inputs as make_inputs
    from dgb.views.sampler import make_view as make_view

_NAMES = {
    "dgb.cookbook": ("load_recipe",),
    "dgb.data.formats.pyg": ("from_hetero_data", "from_pyg", "to_hetero_data", "to_pyg"),
    "dgb.data.graph": ("Graph", "make_graph"),
    "dgb.data.load": ("load_graph", "load_hetero"),
    "dgb.data.typed.graph": ("HeteroGraph",),
    "dgb.errors": ("DGBError",),
    "dgb.estimator": ("DGB",),
    "dgb.evaluate.predict": ("predict_labels",),
    "dgb.evaluate.probe": ("linear_probe",),
    "dgb.model.bootstrap": ("Bootstrap",),
    "dgb.model.embed": ("embed",),
    "dgb.model.loss": ("symmetric_loss",),
    "dgb.train.loop": ("fit",),
    "dgb.views.inputs": ("make_inputs",),
    "dgb.views.sampler": ("make_view",),
}
__version__: str  # of the installed package, looked up when asked for
_HOMES = {name: module for module, names in _NAMES.items() for name in names}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version  # which takes as long as all the rest

        return version("deep-graph-bootstrapping")
    if name not in _HOMES:
        raise AttributeError(f"module 'dgb' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
