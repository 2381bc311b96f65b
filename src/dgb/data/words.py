"""Words behind columns that texts were hashed to: texts read again, and words by their place."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dgb.arrays import Array
from dgb.data.encoding import Column
from dgb.data.files import find_tables
from dgb.data.graph import Graph
from dgb.data.load import is_path
from dgb.data.tables.nodes import read_nodes
from dgb.data.tables.source import read_table
from dgb.files.kinds import TABLES, find_kind
from dgb.recipe import Data

COMPARED = 5_000  # nodes at most whose texts are counted


@dataclass(frozen=True, eq=False)
class Texts:
    """The texts of one column, one for each node."""

    column: Column
    cells: list[str]

    @cached_property
    def _hashing(self) -> Any:
        from sklearn.feature_extraction.text import HashingVectorizer

        return HashingVectorizer(n_features=self.column.width)

    def name_word(self, place: int, here: Array, others: Array) -> tuple[str, float, float] | None:
        """Return the word of a hashed column whose shares differ most between two sets of nodes.

        With it, the share of each group's texts that have the word; None where no text has one.
        """
        shares = [self._count(place, nodes[:COMPARED]) for nodes in (here, others)]
        words = sorted(set(shares[0]) | set(shares[1]))
        if not words:
            return None
        word = max(words, key=lambda w: abs(shares[0].get(w, 0) - shares[1].get(w, 0)))
        return word, shares[0].get(word, 0.0), shares[1].get(word, 0.0)

    def _count(self, place: int, nodes: Array) -> dict[str, float]:
        analyze = self._hashing.build_analyzer()
        counts = Counter(w for node in nodes.tolist() for w in set(analyze(self.cells[node])))
        words = list(counts)
        places = self._hashing.transform(words).indices if words else []
        here = zip(words, places, strict=True)
        return {word: counts[word] / len(nodes) for word, found in here if found == place}


def read_texts(data: Data, graph: Graph) -> dict[str, Texts]:
    """Return the texts behind hashed columns by the columns' names, of a graph read from tables."""
    columns = graph.encoding.columns if graph.encoding else ()
    hashed = [column for column in columns if column.kind == "words"]
    if not hashed or not is_path(data.graph):
        return {}
    _, reading = find_tables(Path(data.graph).expanduser(), data)
    if not reading.nodes or find_kind(Path(reading.nodes)) not in TABLES:
        return {}
    table = read_table(Path(reading.nodes), charset=reading.charset)
    rows = read_nodes(table, reading, graph.encoding, [])  # which may leave some out
    row = {str(node): number for number, node in enumerate(rows.ids.to_pylist())}
    places = [row.get(str(node)) for node in graph.node_ids.tolist()]
    found = {}
    for column in hashed:
        cells = rows.table.content.column(column.name).to_pylist()
        texts = [str(cells[i] or "") if i is not None else "" for i in places]
        found[column.name] = Texts(column, texts)
    return found
