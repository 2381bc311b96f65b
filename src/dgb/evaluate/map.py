"""A map of embeddings: two coordinates for every row, so that rows that are alike lie together."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from dgb.arrays import Array, principal_rows, unit_rows
from dgb.neighbors import nearest_all
from dgb.terminal import progress_bar

WIDTH = 50  # columns that are left before the map is drawn
TSNE_ROWS, SLOW_TSNE_ROWS, LARGE_TSNE_ROWS = 10_000, 3_000, 20_000
UMAP_ROWS = 100_000
PERPLEXITY = 30
# Fewer than the usual 250 and 500, to take seconds. With these on Cora, theta 0.8 takes two thirds
# of the time of 0.5, and nearest points share a label as often.
EARLY_STEPS, STEPS = 100, 300
# Above 10,000 rows, fewer still and on a coarser grid. On 15,000 of 20 classes: 3 CPU seconds, and
# 6.4 with 50 and 80 steps and neighbors of their own, by principal components. Of the ten nearest
# points 18 % are among the ten nearest rows, 17 % then, and 86 % share the label, 90 % then.
LARGE_PERPLEXITY, LARGE_EARLY_STEPS, LARGE_STEPS, LARGE_INTERVALS = 10, 40, 50, 30
NEAR = 30  # neighbors of a row that a map of more than 10,000 is drawn by
SHOWN_STEPS = 10  # after which the bar moves


Neighbors = tuple[Array, Array]  # positions and cosines [n, k], as `nearest_all` finds them


def map_coordinates(z: Array, seed: int, near: Neighbors | None = None) -> tuple[Array, str]:
    """Return coordinates float32 [n, 2] by cosine, and the name of what made them.

    The same seed gives the same map, on one thread. `near` are the 30 nearest rows of all, where
    they are known: a large map is drawn by these.
    """
    z = np.asarray(z, np.float32)
    rows = principal_rows(unit_rows(z), WIDTH, seed)
    rows = np.pad(rows, ((0, 0), (0, max(2 - rows.shape[1], 0))))
    # Three points have no neighborhoods, and rows that are all alike no direction.
    is_plain = len(rows) < 4 or not np.ptp(rows, axis=0).any()
    name, draw = ("PCA", _first_two) if is_plain else choose_drawing(len(rows))
    if draw is _large_tsne:
        draw = partial(_large_tsne, near=near or nearest_all(z, NEAR))
    xy = np.asarray(draw(rows, seed % 2**32), dtype=np.float32)
    return xy - xy.mean(axis=0), name


def choose_drawing(num_rows: int) -> tuple[str, Callable[..., Any]]:
    """Return the name and the function that draw a map of so many rows with what is installed."""
    has_tsne, has_umap = (find_spec(name) is not None for name in ("openTSNE", "umap"))
    if num_rows <= TSNE_ROWS and has_tsne:
        return "t-SNE", _open_tsne
    if num_rows <= SLOW_TSNE_ROWS:
        return "t-SNE", _slow_tsne
    if num_rows <= UMAP_ROWS and has_umap:
        return "UMAP", _umap
    if num_rows <= LARGE_TSNE_ROWS and has_tsne:
        return "t-SNE", _large_tsne
    return "PCA", _first_two


def _open_tsne(rows: Array, seed: int) -> Any:
    rows = np.asarray(rows, dtype=np.float64)
    with _tsne(seed, EARLY_STEPS, STEPS, perplexity=_perplexity(rows)) as method:
        return method.fit(rows)


def _large_tsne(rows: Array, seed: int, near: Neighbors) -> Any:
    """Draw by neighbors that are known; rows are where the drawing starts from."""
    affinity, neighbors, start = (
        import_module(f"openTSNE.{name}")
        for name in ("affinity", "nearest_neighbors", "initialization")
    )
    distances = np.sqrt(np.maximum(2 - 2 * near[1].astype(np.float64), 0))
    known = neighbors.PrecomputedNeighbors(near[0], distances)
    wanted = affinity.PerplexityBasedNN(knn_index=known, perplexity=LARGE_PERPLEXITY, n_jobs=1)
    first = start.rescale(rows[:, :2].astype(np.float64))
    steps = min(EARLY_STEPS, LARGE_EARLY_STEPS), min(STEPS, LARGE_STEPS)
    with _tsne(seed, *steps, min_num_intervals=LARGE_INTERVALS) as method:
        return method.fit(affinities=wanted, initialization=first)


@contextmanager
def _tsne(seed: int, early: int, steps: int, **others: Any) -> Iterator[Any]:
    """Give openTSNE's method with a bar that shows its steps."""
    with progress_bar(None, "t-SNE", unit="step", total=early + steps) as bar:
        yield import_module("openTSNE").TSNE(
            early_exaggeration_iter=early,
            n_iter=steps,
            theta=0.8,
            neighbors="exact",
            callbacks=lambda *_: bar.update(SHOWN_STEPS) and None,  # True would stop it
            callbacks_every_iters=SHOWN_STEPS,
            random_state=seed,
            n_jobs=1,
            **others,
        )


def _slow_tsne(rows: Array, seed: int) -> Any:
    from sklearn.manifold import TSNE

    method = TSNE(perplexity=_perplexity(rows), init="pca", random_state=seed, n_jobs=1)
    return method.fit_transform(rows)


def _umap(rows: Array, seed: int) -> Any:
    umap, count = import_module("umap"), min(15, len(rows) - 1)
    return umap.UMAP(n_neighbors=count, random_state=seed, n_jobs=1).fit_transform(rows)


def _first_two(rows: Array, _seed: int) -> Any:
    return rows[:, :2]


def _perplexity(rows: Array) -> float:
    return min(PERPLEXITY, (len(rows) - 1) / 3)
