"""What `dgb neighbors --why` and `dgb cluster --describe` say, in the names of the user's table."""

from typing import TYPE_CHECKING, Any

from dgb.commands.runs import FinishedRun
from dgb.terminal import some

if TYPE_CHECKING:
    from dgb.arrays import Array

NAMED = 3  # common neighbors


class Reasons:
    """What two nodes of a run share, and what is unusual in some of them."""

    def __init__(self, run: FinishedRun) -> None:
        """Measure what is usual in the columns, where the nodes have any."""
        from dgb.evaluate.why import measure_columns

        x = run.features()
        self.run, self.edges = run, run.edges()
        self.columns = None if x is None else measure_columns(x)
        self.features = [] if x is None else run.describe_columns(x)

    def of_pair(self, one: int, other: int) -> list[str]:
        """Return the common neighbors of two nodes, and the columns they are both unusual in."""
        from dgb.evaluate.why import common_neighbors, shared_columns

        common = common_neighbors(self.edges, one, other)
        names = [str(node) for node in self.run.ids[common].tolist()]
        said = [f"common neighbors: {some(names, NAMED)}"] if names else []
        if one in _neighbors(self.edges, other):
            said.insert(0, "joined by an edge")
        if self.columns is not None:
            rows = self.columns.rows([one, other])
            for place in shared_columns(self.columns, one, other).tolist():
                said.append(self._share(place, *rows[:, place].tolist()))
        return list(dict.fromkeys(said)) or ["no neighbor and no unusual column in common"]

    def of_group(self, nodes: "Array") -> list[str]:
        """Return the columns in which nodes differ most from all, and their most frequent label."""
        from dgb.evaluate.why import unusual_columns

        said = self._label(nodes)
        if self.columns is not None:
            places, means = unusual_columns(self.columns, nodes)
            for place, mean in zip(places.tolist(), means.tolist(), strict=True):
                usual = float(self.columns.mean[place])
                said.append(self.features[place].describe(mean, usual, "all"))
        return list(dict.fromkeys(said)) or ["no column that differs from all nodes"]

    def _share(self, place: int, one: float, other: float) -> str:
        feature = self.features[place]
        assert self.columns is not None
        usual = float(self.columns.mean[place])
        if feature.column.kind == "number" and one != other:
            values = f"{feature.text(one)} and {feature.text(other)}"
            return f"{feature.name} {values} (all {feature.text(usual)})"
        return f"both {feature.describe(one, usual, 'all')}"

    def _label(self, nodes: "Array") -> list[str]:
        import numpy as np

        from dgb.evaluate.labels import are_numbers
        from dgb.evaluate.scores import class_names

        graph = self.run.graph.target_graph()
        if graph.labels is None or len(graph.labels) != len(self.run.ids) or are_numbers(graph):
            return []
        labels = graph.labels[nodes]
        classes, counts = np.unique(labels[labels >= 0], return_counts=True)
        if not len(classes):
            return []
        best = counts.argmax()
        name = class_names(graph, classes[best : best + 1])[0]
        return [f"label {name} {counts[best] / counts.sum():.0%}"]


def _neighbors(edges: Any, node: int) -> Any:
    return edges.indices[edges.indptr[node] : edges.indptr[node + 1]]
