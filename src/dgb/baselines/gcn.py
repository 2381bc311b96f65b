"""GCN (Kipf and Welling 2017): softmax(P σ(P X W₀) W₁), learnt from the train nodes.

Taken from the paper: ReLU, dropout on the input of both layers, weight decay on the first layer
alone, and on its graphs 16 hidden units, a step size of .01 and a decay of 5e-4, with which other
graphs are not learnt (57 % on Amazon Photo, where rows of X have hundreds of small entries; the
defaults, chosen on its validation nodes, have 94 %). Decided: a bias in both layers, as PyG's
convolution has it; the weights with the best validation accuracy are kept, on its graphs of all
epochs.
"""

from dataclasses import dataclass

from torch import nn
from torch_geometric.nn import GCNConv

from dgb.arrays import Array
from dgb.baselines.inputs import FeatureLinear, adj
from dgb.baselines.learn import TwoLayers, TwoLayerSettings, train_classifier
from dgb.data.graph import Graph
from dgb.settings import setting


@dataclass(frozen=True)
class Settings(TwoLayerSettings):
    """Of GCN; settings.toml has its paper's, which are too narrow and too strict elsewhere."""

    hidden: int = setting(64, "units of the hidden layer", low=1)
    learning_rate: float = setting(0.05, "of Adam", low=0)
    weight_decay: float = setting(5e-5, "of the first layer", low=0)
    patience: int = setting(30, "epochs without a better validation; 0 takes all", low=0)


def draw_network(num_features: int, num_classes: int, settings: Settings) -> TwoLayers:
    """Return two of PyG's graph convolutions over an adjacency that is normalised already."""
    first = GCNConv(num_features, settings.hidden, normalize=False)
    first.lin = FeatureLinear(num_features, settings.hidden, settings.dropout)
    between = nn.Sequential(nn.ReLU(), nn.Dropout(settings.dropout))
    return TwoLayers(first, between, GCNConv(settings.hidden, num_classes, normalize=False))


def classify(graph: Graph, settings: Settings, seed: int) -> Array:
    """Return a class for every node."""
    return train_classifier(graph, settings, seed, draw_network, adj(graph).csr)
