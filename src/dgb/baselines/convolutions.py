"""Two of PyG's layers that learn from the train nodes: GCN and GAT.

GCN (Kipf and Welling 2017): softmax(P σ(P X W₀) W₁), learnt from the train nodes.

Taken from the paper: ReLU, dropout on the input of both layers, weight decay on the first layer
alone, and on its graphs 16 hidden units, a step size of .01 and a decay of 5e-4, with which other
graphs are not learnt (57 % on Amazon Photo, where rows of X have hundreds of small entries; the
defaults, chosen on its validation nodes, have 94 %). Decided: a bias in both layers, as PyG's
convolution has it; the weights with the best validation accuracy are kept, on its graphs of all
epochs.

GAT (Veličković et al. 2018): h'_i = σ(Σ_j α_ij W h_j) over i and its neighbors j.

α_ij is the softmax over j of LeakyReLU(a · [W h_i ‖ W h_j]), slope 0.2; K heads are put side by
side after the first layer and averaged after the last one.

Taken from the paper: 8 heads of 8 units and ELU, then one head of as many units as classes (8 on
Pubmed), dropout of 0.6 on the inputs of both layers and on the attention, weight decay on all
weights, patience of 100. Decided: fewer epochs than the release's 100,000 at most; stopping and
choice by validation accuracy, ties by loss, where the paper stops when neither gets better.
"""

from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn.functional import dropout, elu
from torch_geometric.nn import GATConv, GCNConv
from torch_geometric.utils import add_self_loops, from_scipy_sparse_matrix

from dgb.arrays import Array
from dgb.baselines.inputs import FeatureLinear, adj
from dgb.baselines.learn import Schedule, TwoLayers, TwoLayerSettings, train_classifier
from dgb.data.graph import Graph
from dgb.run.machine import choose_device
from dgb.settings import setting
from dgb.views.augment import Features


@dataclass(frozen=True)
class GCNSettings(TwoLayerSettings):
    """Of GCN; settings.toml has its paper's, which are too narrow and too strict elsewhere."""

    hidden: int = setting(64, "units of the hidden layer", low=1)
    learning_rate: float = setting(0.05, "of Adam", low=0)
    weight_decay: float = setting(5e-5, "of the first layer", low=0)
    patience: int = setting(30, "epochs without a better validation; 0 takes all", low=0)


def draw_gcn(num_features: int, num_classes: int, settings: GCNSettings) -> TwoLayers:
    """Return two of PyG's graph convolutions over an adjacency that is normalised already."""
    first = GCNConv(num_features, settings.hidden, normalize=False)
    first.lin = FeatureLinear(num_features, settings.hidden, settings.dropout)
    between = nn.Sequential(nn.ReLU(), nn.Dropout(settings.dropout))
    return TwoLayers(first, between, GCNConv(settings.hidden, num_classes, normalize=False))


def classify_gcn(graph: Graph, settings: GCNSettings, seed: int) -> Array:
    """Return a class for every node."""
    return train_classifier(graph, settings, seed, draw_gcn, adj(graph).csr)


@dataclass(frozen=True)
class GATSettings(Schedule):
    """Of GAT; the defaults are its paper's, but for the epochs."""

    hidden: int = setting(8, "units of a head of the hidden layer", low=1)
    heads: int = setting(8, "of the hidden layer, side by side", low=1)
    output_heads: int = setting(1, "of the output layer, averaged", low=1)
    dropout: float = setting(0.6, "of the input of each layer, and of attention", low=0, high=0.95)
    epochs: int = setting(300, "at most", low=0)
    learning_rate: float = setting(0.005, "of Adam", low=0)
    weight_decay: float = setting(5e-4, "of all weights", low=0)
    patience: int = setting(100, "epochs without a better validation; 0 takes all", low=0)


class GAT(nn.Module):
    """Two of PyG's attention layers over edges that contain the self-loops already."""

    def __init__(self, num_features: int, num_classes: int, settings: GATSettings) -> None:
        """Draw the weights."""
        super().__init__()
        self.dropout = settings.dropout
        width = settings.hidden * settings.heads
        once = {"dropout": settings.dropout, "add_self_loops": False}
        self.lin = FeatureLinear(num_features, width, settings.dropout)
        self.first = GATConv(width, settings.hidden, settings.heads, **once)
        self.first.lin = nn.Identity()  # W is `lin` above, which takes sparse features
        self.second = GATConv(width, num_classes, settings.output_heads, concat=False, **once)

    def forward(self, x: Features, edges: Tensor) -> Tensor:
        """Return the logits of all nodes, [num_nodes, num_classes]."""
        h = elu(self.first(self.lin(x), edges))
        out: Tensor = self.second(dropout(h, self.dropout, self.training), edges)
        return out


def classify_gat(graph: Graph, settings: GATSettings, seed: int) -> Array:
    """Return a class for every node."""
    edges = looped_edges(graph).to(choose_device("auto"))
    return train_classifier(graph, settings, seed, GAT, edges)


def looped_edges(graph: Graph) -> Tensor:
    """Return the edges as PyG writes them, both directions, and a loop at every node."""
    edges, _ = from_scipy_sparse_matrix(graph.adjacency)
    looped: Tensor = add_self_loops(edges, num_nodes=graph.num_nodes)[0]
    return looped
