"""The actor that draws the epochs of a run, and keeps its journal beside the graph.

It lives on the machine that started the run and owns every block it has asked for: a rank that is
lost takes none of them along. It remembers nothing that it could not compute again.
"""

from pathlib import Path
from typing import Any

import numpy as np
import ray
import torch

from dgb.data.graph import Array
from dgb.engine.blocks import Blocks
from dgb.engine.propagation import make_features, propagate
from dgb.engine.shares import Share, pick
from dgb.recipe import Recipe
from dgb.train import journal
from dgb.views.inputs import has_row_batches
from dgb.views.rows import batch_sizes
from dgb.views.view import parse_view


class Epochs:
    """Draws each epoch once, however many ranks ask for it."""

    def __init__(self, recipe: Recipe, folder: Path) -> None:
        """Remember the recipe and where the journal is."""
        self.recipe, self.folder = recipe, folder
        self.drawn: tuple[bytes, list[Share]] = (b"", [])
        self.refused: str | None = None

    def draw(self, blocks: Blocks, ranks: tuple[int, int], state: Array) -> Share:
        """Return what a rank trains on in the epoch that begins with this state of the generator.

        `ranks` is the number of this one, and how many there are. Masks and order are drawn as in
        one process: view 1, view 2, then the order.
        """
        if self.drawn[0] != state.tobytes():
            self.drawn = b"", []  # all ranks have theirs: let go of the epoch before
            self.drawn = state.tobytes(), self._draw(blocks, ranks[1], state)
        return self.drawn[1][ranks[0]]

    def begin(self, epoch: int) -> None:
        """Leave out of the journal what comes after an epoch: it is trained again."""
        with journal.open_metrics(self.folder, epoch):
            self.refused = None

    def log(self, line: dict[str, Any]) -> None:
        """Write a line of metrics."""
        journal.append_line(self.folder / journal.FILE, line)

    def refuse(self, message: str) -> None:
        """Remember what a rank found that only the user can mend."""
        self.refused = message

    def refusal(self) -> str | None:
        """Return what a rank found that only the user can mend."""
        return self.refused

    def _draw(self, blocks: Blocks, ranks: int, state: Array) -> list[Share]:
        generator = torch.Generator()
        generator.set_state(torch.from_numpy(state.copy()))
        specs = [parse_view(view) for view in (self.recipe.view1, self.recipe.view2)]
        drawn = [make_features(blocks, spec.nodes, generator) for spec in specs]
        shares = self._split(blocks.shape[0], ranks, generator)
        after = generator.get_state().numpy()
        wanted = [ray.put(rows) for rows, _ in shares]
        views = [
            pick(blocks, propagate(blocks, columns, spec.operator), wanted)
            for columns, spec in zip(drawn, specs, strict=True)
        ]
        return [
            Share(rows, sizes, [view[rank] for view in views], after)
            for rank, (rows, sizes) in enumerate(shares)
        ]

    def _split(
        self, num_nodes: int, ranks: int, generator: torch.Generator
    ) -> list[tuple[Array, list[int]]]:
        sizes = batch_sizes(num_nodes, self.recipe.train.batch_size)
        order = np.arange(num_nodes)
        if has_row_batches(self.recipe.train, num_nodes):
            order = torch.randperm(num_nodes, generator=generator).numpy()
        batches = np.split(order, np.cumsum(sizes)[:-1])
        parts = [[np.array_split(batch, ranks)[rank] for batch in batches] for rank in range(ranks)]
        return [(np.concatenate(own), [len(part) for part in own]) for own in parts]
