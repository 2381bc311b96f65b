"""Nodes that the encoder never saw: are their vectors as good as after training with them?

Of Cora, a fifth of the nodes is held out with all their edges; DGB trains on the rest and embeds
the whole graph. The probe learns from the public train nodes, chooses on the validation nodes
(neither is held out) and is scored on the held-out nodes alone, next to an encoder that trained on
all of Cora.

    python benchmarks/new_nodes.py --runs 10
"""

import argparse
from typing import Any

import numpy as np

from dgb import DGB, Graph, load_graph
from dgb.arrays import Array
from dgb.data.graph import Split
from dgb.evaluate.probe import linear_probe
from subgraph import subgraph

SHARE = 0.2


def held_out_nodes(graph: Graph, seed: int) -> Array:
    """Draw a fifth of the nodes, none of which the probe learns from or chooses on."""
    split = graph.splits[0]
    free = np.setdiff1d(np.arange(graph.num_nodes), np.concatenate([split.train, split.validation]))
    count = round(SHARE * graph.num_nodes)
    return np.sort(np.random.default_rng(seed).choice(free, count, replace=False))


def measure(graph: Graph, seed: int, **settings: Any) -> tuple[float, float]:
    """Return the accuracy on held-out nodes without and with them in training."""
    held_out = held_out_nodes(graph, seed)
    rest = np.setdiff1d(np.arange(graph.num_nodes), held_out)
    split = Split(graph.splits[0].train, graph.splits[0].validation, held_out)
    recipe: dict[str, Any] = {"random_state": seed, **settings}
    assert graph.labels is not None
    unseen = DGB(**recipe).fit(subgraph(graph, rest)).transform(graph)
    seen = DGB(**recipe).fit_transform(graph)
    first, second = (linear_probe(z, graph.labels, split).test for z in (unseen, seen))
    return first, second


def main() -> None:
    """Print mean ± std over independent draws and trainings."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--recipe", default="paper-cora")
    options = parser.parse_args()
    graph = load_graph("cora")
    pairs = []
    for seed in range(options.runs):
        pairs.append(measure(graph, seed, recipe=options.recipe))
        print(f"seed {seed}: held out {pairs[-1][0]:.4f}, trained with {pairs[-1][1]:.4f}")
    table = 100 * np.array(pairs)
    for name, column in zip(("held out", "trained with"), table.T, strict=True):
        print(f"{name:14}{column.mean():.1f} ± {column.std(ddof=1):.1f}")
    difference = table[:, 0] - table[:, 1]
    print(f"{'difference':14}{difference.mean():+.1f} ± {difference.std(ddof=1):.1f}")


if __name__ == "__main__":
    main()
