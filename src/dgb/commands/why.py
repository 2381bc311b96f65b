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
        import numpy as np

        from dgb.evaluate.why import measure_columns

        x = run.features()
        self.run, self.edges = run, run.edges()
        self.columns = None if x is None else measure_columns(x)
        self.naming = None if x is None else run.name_columns(x)
        self.everyone = np.random.default_rng(0).permutation(len(run.ids))

    def of_pair(self, one: int, other: int) -> list[str]:
        """Return the common neighbors of two nodes, and the columns they are both unusual in."""
        from dgb.evaluate.why import common_neighbors, shared_columns

        common = common_neighbors(self.edges, one, other)
        names = [str(node) for node in self.run.ids[common].tolist()]
        said = [f"common neighbors: {some(names, NAMED)}"] if names else []
        if one in _neighbors(self.edges, other):
            said.insert(0, "joined by an edge")
        if self.columns is not None:
            for place in shared_columns(self.columns, one, other).tolist():
                said.append(self._share(place, one, other))
        return list(dict.fromkeys(said)) or ["no neighbor and no unusual column in common"]

    def of_group(self, nodes: "Array") -> list[str]:
        """Return the columns in which nodes differ most from all, and their most frequent label."""
        from dgb.evaluate.why import describe_columns, describe_label

        graph = self.run.graph.target_graph()
        said = describe_label(graph, nodes) if graph.num_nodes == len(self.run.ids) else []
        if self.columns is not None:
            assert self.naming is not None
            said += describe_columns(self.columns, self.naming, nodes, self.everyone)
        return said or ["no column that differs from all nodes"]

    def _share(self, place: int, one: int, other: int) -> str:
        import numpy as np

        assert self.columns is not None and self.naming is not None
        feature, pair = self.naming.features[place], np.array([one, other])
        first, second = self.columns.rows(pair)[:, place].tolist()
        if feature.column.kind != "number" or first == second:
            return f"both {self._differ(place, first, pair)}"
        usual = feature.text(float(self.columns.mean[place]))
        return f"{feature.name} {feature.text(first)} and {feature.text(second)} (all {usual})"

    def _differ(self, place: int, mean: float, nodes: "Array") -> str:
        assert self.columns is not None and self.naming is not None
        means = mean, float(self.columns.mean[place])
        return self.naming.describe(place, means, (nodes, self.everyone), "all")


def _neighbors(edges: Any, node: int) -> Any:
    return edges.indices[edges.indptr[node] : edges.indptr[node + 1]]
