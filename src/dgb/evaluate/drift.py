"""Vectors of two trainings in the same axes, and which nodes and clusters moved, not by noise.

The axes come by an orthogonal map between nodes that both have. Of two versions of a graph, vectors
of the new one by the old model stand between before and after: from there to the new vectors
nothing but training has changed. Two trainings that go so far, each its own way, end √2 times as
far from each other: that is what two seeds differ by, and the noise that a move has to exceed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dgb.arrays import Array, row_parts, unit_rows
from dgb.data.ids import find_common
from dgb.errors import DGBError
from dgb.evaluate.cluster import choose_clusters, cluster

SHARE = 0.95  # of all nodes, which two trainings place no farther apart than the noise
ROUNDING = 0.05  # degrees, which float32 may turn a vector by
SEED = 0


@dataclass(frozen=True, eq=False)
class Alignment:
    """The map, and how alike the vectors of each common node are without it and with it."""

    rotation: Array  # [width, width], orthogonal
    before: Array  # cosines of common nodes
    after: Array


def align_vectors(z: Array, reference: Array) -> Alignment:
    """Find the orthogonal map that takes rows onto those of a reference best (Procrustes).

    Rows of unit length are compared, so that no node counts more than another; rows of zeros have
    no direction and count for nothing.
    """
    if z.shape[1] != reference.shape[1]:
        raise DGBError(
            f"vectors of {z.shape[1]} columns cannot be turned onto vectors of "
            f"{reference.shape[1]}: both runs need the same encoder.width and embed.operator"
        )
    if len(z) < z.shape[1]:
        raise DGBError(
            f"{len(z)} common nodes do not fix a map of {z.shape[1]} columns, which takes as many "
            "nodes as columns; train both runs with fewer (embed.learnt_columns=64), or let "
            "`dgb update` keep the axes"
        )
    rotation = find_rotation(z, reference)
    return Alignment(rotation, cosines(z, reference), cosines(z @ rotation, reference))


def find_rotation(z: Array, reference: Array, inertia: float = 0) -> Array:
    """Return the orthogonal map that takes rows of unit length onto those of a reference best.

    With inertia, a share of what all rows weigh, directions that hardly any row has stay as they
    are: then fewer rows than columns fix the map too.
    """
    products = inertia * len(z) * np.eye(z.shape[1])
    for rows in row_parts(*z.shape):
        products += _unit(z[rows]).T @ _unit(reference[rows])
    left, _, right = np.linalg.svd(products)
    return np.asarray(left @ right, np.float32)


def cosines(z: Array, reference: Array) -> Array:
    """Return the cosine of each row with that of the reference; of two rows of zeros it is 1."""
    parts = [_cosines(z[rows], reference[rows]) for rows in row_parts(*z.shape)]
    return np.concatenate([np.empty(0), *parts])


def _cosines(z: Array, reference: Array) -> Array:
    unit, other = _unit(z), _unit(reference)
    cosine = np.einsum("ij,ij->i", unit, other)
    return np.where(~unit.any(axis=1) & ~other.any(axis=1), 1.0, cosine)


def _unit(z: Array) -> Array:
    return unit_rows(np.asarray(z, np.float64))


@dataclass(frozen=True, eq=False)
class Vectors:
    """Ids of nodes and their vectors, a row each."""

    ids: Array
    z: Array


@dataclass(frozen=True, eq=False)
class Drift:
    """How far nodes and clusters have moved; angles are in degrees."""

    kept: Array  # rows after, of nodes that were there before
    source: Array  # and the rows before
    angles: Array  # of kept nodes, between their vectors before and after
    by_data: Array  # of kept nodes, between their vectors before and after by the old model
    noise: float
    cluster_before: Array  # of all rows before
    cluster_after: Array  # of all rows after, by the same centers
    center_angles: Array  # of the clusters' kept nodes together, before and after
    center_noise: Array  # what two trainings may place these apart

    @property
    def has_moved(self) -> Array:
        """Tell of every kept node whether it moved beyond the noise."""
        return np.asarray(self.times_noise > 1)

    @property
    def times_noise(self) -> Array:
        """How many times the noise every kept node moved."""
        return self.angles / max(self.noise, ROUNDING)

    @property
    def order(self) -> Array:
        """Positions among the kept nodes, those that moved most first."""
        return np.argsort(-self.angles, kind="stable")

    def describe(self) -> dict[str, Any]:
        """Return the numbers that say most, of all nodes and of every cluster."""
        before, after = len(self.cluster_before), len(self.cluster_after)
        return {
            "kept": len(self.kept),
            "new": after - len(self.kept),
            "gone": before - len(self.kept),
            "median_cosine": round(float(np.cos(np.radians(np.median(self.angles)))), 4),
            "noise": round(self.noise, 3),
            "moved": int(self.has_moved.sum()),
            "clusters": [self._describe_cluster(k) for k in range(len(self.center_angles))],
        }

    def _describe_cluster(self, name: int) -> dict[str, Any]:
        members = self.cluster_before[self.source] == name
        is_here = self.cluster_after == name
        return {
            "cluster": name,
            "before": int((self.cluster_before == name).sum()),
            "after": int(is_here.sum()),
            "left": int((members & ~is_here[self.kept]).sum()),
            "moved": int(self.has_moved[members].sum()),
            "angle": round(float(self.center_angles[name]), 3),
            "noise": round(float(self.center_noise[name]), 3),
        }


def measure_drift(before: Vectors, after: Vectors, by_old: Array) -> Drift:
    """Compare vectors of two versions of a graph.

    Args:
        before: Of the old graph by the old model.
        after: Of the new graph by the new model, in the same axes.
        by_old: Of the new graph by the old model, rows as those after.
    """
    kept, source = find_common(after.ids, before.ids)
    old, new, same = before.z[source], after.z[kept], by_old[kept]
    count = min(choose_clusters(before.z, SEED), len(before.z))
    found = cluster(before.z, count, SEED)
    sums = _sum_members(before.z, found, int(found.max()) + 1)
    centers = unit_rows(sums).astype(np.float32)
    cluster_before = _assign(before.z, centers)
    members = cluster_before[source]
    means = [_sum_members(z, members, len(centers)) for z in (old, new, same)]
    return Drift(
        kept,
        source,
        measure_angles(new, old),
        measure_angles(same, old),
        float(np.quantile(measure_noise(after.z, by_old), SHARE)),
        cluster_before,
        _assign(after.z, centers),
        measure_angles(means[1], means[0]),
        measure_noise(means[1], means[2]),
    )


def measure_noise(z: Array, start: Array) -> Array:
    """Return how far two trainings from the same start may place each row apart, in degrees."""
    return np.asarray(np.sqrt(2) * measure_angles(z, start))


def measure_angles(z: Array, reference: Array) -> Array:
    """Return the angle in degrees between each row and that of the reference."""
    return np.asarray(np.degrees(np.arccos(np.clip(cosines(z, reference), -1, 1))))


def _sum_members(z: Array, clusters: Array, count: int) -> Array:
    """Return the sum of the rows of every cluster, each of length one."""
    sums = np.zeros((count, z.shape[1]))
    for rows in row_parts(*z.shape):
        np.add.at(sums, clusters[rows], unit_rows(np.asarray(z[rows], np.float64)))
    return sums


def _assign(z: Array, centers: Array) -> Array:
    """Return the center that is nearest to every row, by the cosine."""
    parts = [np.argmax(z[rows] @ centers.T, axis=1) for rows in row_parts(*z.shape)]
    return np.concatenate(parts)
