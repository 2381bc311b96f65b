"""A map of embeddings: two coordinates for every row, so that rows that are alike lie together."""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from dgb.arrays import Array, principal_rows, unit_rows
from dgb.terminal import progress_bar

WIDTH = 50  # columns that are left before the map is drawn
TSNE_ROWS, SLOW_TSNE_ROWS, LARGE_TSNE_ROWS = 10_000, 3_000, 20_000
UMAP_ROWS = 100_000
PERPLEXITY = 30
# Fewer than the usual 250 and 500, to take seconds. With these on Cora, theta 0.8 takes two thirds
# of the time of 0.5, and nearest points share a label as often.
EARLY_STEPS, STEPS = 100, 300
# Above 10,000 rows. On 15,000 of 20 classes: 6 CPU seconds, where 100 and 150 steps take 11, and of
# the ten nearest points as many share the label, 80 %, and are among the ten nearest rows, 15 %.
LARGE_PERPLEXITY, LARGE_EARLY_STEPS, LARGE_STEPS = 10, 50, 80
SHOWN_STEPS = 10  # after which the bar moves


def map_coordinates(z: Array, seed: int) -> tuple[Array, str]:
    """Return coordinates float32 [n, 2] by cosine, and the name of what made them.

    The same seed gives the same map, on one thread.
    """
    rows = principal_rows(unit_rows(np.asarray(z, np.float32)), WIDTH, seed)
    rows = np.pad(rows, ((0, 0), (0, max(2 - rows.shape[1], 0))))
    # Three points have no neighborhoods, and rows that are all alike no direction.
    is_plain = len(rows) < 4 or not np.ptp(rows, axis=0).any()
    name, draw = ("PCA", _first_two) if is_plain else choose_drawing(len(rows))
    xy = np.asarray(draw(rows, seed % 2**32), dtype=np.float32)
    return xy - xy.mean(axis=0), name


def choose_drawing(num_rows: int) -> tuple[str, Callable[[Array, int], Any]]:
    """Return the name and the function that draw a map of so many rows with what is installed."""
    has_tsne, has_umap = (find_spec(name) is not None for name in ("openTSNE", "umap"))
    if num_rows <= TSNE_ROWS and has_tsne:
        return "t-SNE", _open_tsne
    if num_rows <= SLOW_TSNE_ROWS:
        return "t-SNE", _slow_tsne
    if num_rows <= UMAP_ROWS and has_umap:
        return "UMAP", _umap
    if num_rows <= LARGE_TSNE_ROWS and has_tsne:
        return "t-SNE", _open_tsne
    return "PCA", _first_two


def _open_tsne(rows: Array, seed: int) -> Any:
    early, steps = EARLY_STEPS, STEPS
    if len(rows) > TSNE_ROWS:
        early, steps = min(early, LARGE_EARLY_STEPS), min(steps, LARGE_STEPS)
    with progress_bar(None, "t-SNE", unit="step", total=early + steps) as bar:
        method = import_module("openTSNE").TSNE(
            perplexity=_perplexity(rows),
            early_exaggeration_iter=early,
            n_iter=steps,
            theta=0.8,
            neighbors="exact",
            callbacks=lambda *_: bar.update(SHOWN_STEPS) and None,  # True would stop it
            callbacks_every_iters=SHOWN_STEPS,
            random_state=seed,
            n_jobs=1,
        )
        return method.fit(np.asarray(rows, dtype=np.float64))


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
    wanted = PERPLEXITY if len(rows) <= TSNE_ROWS else LARGE_PERPLEXITY
    return min(wanted, (len(rows) - 1) / 3)
