"""Fewer nodes to learn a probe from, where there are more than its accuracy needs."""

from dataclasses import replace

import numpy as np

from dgb.data.graph import Array, Split

MOST = 100_000  # train nodes and validation nodes: an accuracy on so many is exact to 0.2 points


def sample_split(split: Split, labels: Array) -> Split:
    """Return the split with at most 100,000 train and as many validation nodes, always the same.

    A class that would be lost keeps one node.
    """
    train, validation = (sample_nodes(nodes, labels) for nodes in (split.train, split.validation))
    return replace(split, train=train, validation=validation)


def sample_nodes(nodes: Array, labels: Array) -> Array:
    """Return at most 100,000 of the nodes, and one of every class that would be lost."""
    if len(nodes) <= MOST:
        return nodes
    order = np.random.default_rng(0).permutation(nodes)
    _, first = np.unique(labels[order], return_index=True)
    return np.concatenate([order[:MOST], order[first[first >= MOST]]])
