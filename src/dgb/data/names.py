"""Feature columns in the user's own words: names, numbers, and the words behind hashed ones."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from dgb.arrays import Array
from dgb.data.encoding import Column, Encoding
from dgb.data.files import find_tables
from dgb.data.graph import Graph
from dgb.data.load import is_path
from dgb.data.tables.nodes import read_nodes
from dgb.data.tables.source import read_table
from dgb.data.typed.graph import AnyGraph, HeteroGraph
from dgb.files.kinds import TABLES, find_kind
from dgb.recipe import Data
from dgb.terminal import readable

EPOCH = date(1970, 1, 1)
COMPARED = 5_000  # nodes at most whose texts are counted
_FLOAT32 = 1e-6  # of shift and scale, what x does not hold any more: 0 comes back as 7e-07


@dataclass(frozen=True)
class Feature:
    """A column of x: which column of the table it was made of, and which part of that."""

    column: Column
    place: int = 0

    @property
    def name(self) -> str:
        """What a user calls it; words are hashed, and known by their column alone."""
        if self.column.kind == "words":
            return f"words of {self.column.name}"
        return self.column.names()[self.place]

    @property
    def is_share(self) -> bool:
        """Whether it is 0 or 1 by itself: a level of a category, or that a cell is missing."""
        is_last = self.place == len(self.column.names()) - 1
        return self.column.kind == "category" or (self.column.flag and is_last)

    def describe(self, value: float, usual: float, whom: str) -> str:
        """Return what a node has, and what others (`whom`) have on the mean."""
        if self.column.kind == "words":
            return self.name
        if self.is_share and value in (0, 1):
            return f"{'' if value else 'not '}{self.name} ({whom} {usual:.0%})"
        return f"{self.name} {self.text(value)} ({whom} {self.text(usual)})"

    def text(self, value: float) -> str:
        """Return a number of x as the table has it: a share, a date, or a number unscaled."""
        if self.is_share:
            return f"{value:.0%}"
        shift, scale = self.column.shift, self.column.scale
        number = value * scale + shift
        number = 0.0 if abs(number) < _FLOAT32 * (abs(shift) + abs(scale)) else number
        if self.column.unit == "days" and abs(number) < 2**19:
            return str(EPOCH + timedelta(days=round(number)))
        return f"{number:,.0f}" if abs(number) >= 1000 else readable(number)


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


@dataclass(frozen=True, eq=False)
class Naming:
    """What every column of x is, with the texts behind those of words."""

    features: list[Feature]
    texts: Mapping[str, Texts] = field(default_factory=dict)

    def describe(
        self, place: int, means: tuple[float, float], sets: tuple[Array, Array], whom: str
    ) -> str:
        """Return in what nodes differ from others (`whom`) in a column: its means, or a word."""
        feature = self.features[place]
        texts = self.texts.get(feature.column.name)
        found = texts and texts.name_word(feature.place, *sets)
        if not found:
            return feature.describe(*means, whom)
        word, share, usual = found
        phrase = f"{word!r} in {feature.column.name}"
        if share in (0, 1):
            return f"{'' if share else 'no '}{phrase} ({whom} {usual:.0%})"
        return f"{phrase} {share:.0%} ({whom} {usual:.0%})"


def features_of(encoding: Encoding | None, width: int) -> list[Feature]:
    """Return what every column of x is; without names they are counted from 1."""
    columns = encoding.columns if encoding is not None else ()
    found = [Feature(column, place) for column in columns for place in range(len(column.names()))]
    if len(found) == width:
        return found
    return [Feature(Column(f"column {number + 1}")) for number in range(width)]


def cells_with_gaps(features: list[Feature]) -> list[tuple[range, int | None]]:
    """Return the places of cells that may be missing, and of what flags it: categories have none.

    The places are those of one column of a table, the last of which is the flag.
    """
    found: list[tuple[range, int | None]] = []
    for end, feature in enumerate(features):
        column, is_last = feature.column, feature.place == len(feature.column.names()) - 1
        if is_last and column.flag:
            found.append((range(end - feature.place, end), end))
        elif is_last and column.kind == "category":
            found.append((range(end - feature.place, end + 1), None))
    return found


def own_features(graph: AnyGraph, *, is_whole: bool = False) -> Any:
    """Return the features of the embedded nodes, None where they have none of their own.

    With `is_whole`, nodes of all types are embedded, which share no columns.
    """
    if isinstance(graph, HeteroGraph):
        is_bare = is_whole or graph.nodes[graph.target].x is None
    else:
        is_bare = graph.encoding is not None and bool(graph.encoding.structure)
    return None if is_bare else graph.target_graph().x


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
