"""A grammar of delimited files: a graph is drawn first, and then a way to write it down."""

import csv
import gzip
import io
from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

LETTERS = "ab0179 _-.,;:'\"|/\\@#%éß中🙂"
HEADS = [("source", "target"), ("SRC", "dst"), ("from", "to"), ("u", "v")]


@dataclass(frozen=True)
class Drawn:
    """A graph before anybody has written it: ids, rows of numbers, classes, edges with weights."""

    ids: list[str]
    numbers: list[list[float]]
    classes: list[str]
    edges: list[tuple[int, int, float]]

    def weights(self) -> dict[tuple[int, int], float]:
        """Return the largest weight of every pair, which is what an edge listed twice means."""
        found: dict[tuple[int, int], float] = {}
        for u, v, weight in self.edges:
            if u != v:
                for pair in ((u, v), (v, u)):
                    found[pair] = max(found.get(pair, 0.0), weight)
        return found


@dataclass(frozen=True)
class Dialect:
    """How a table is written."""

    delimiter: str
    newline: str
    quoting: int
    has_mark: bool  # of byte order, as Excel writes it
    head: str  # of comments and blank lines before the first row
    tail: str
    is_packed: bool

    @property
    def suffix(self) -> str:
        """The ending of a file."""
        return ("csv" if self.delimiter != "\t" else "tsv") + (".gz" if self.is_packed else "")

    def write(self, rows: Sequence[Sequence[object]]) -> bytes:
        """Return the bytes of a table."""
        text = io.StringIO()
        writer = csv.writer(
            text,
            delimiter=self.delimiter,
            lineterminator=self.newline,
            quoting=self.quoting,  # type: ignore[arg-type]
        )
        writer.writerows(rows)
        lines = self.head.replace("\n", self.newline) + text.getvalue() + self.tail
        content = (b"\xef\xbb\xbf" if self.has_mark else b"") + lines.encode()
        return gzip.compress(content, 1) if self.is_packed else content


def texts() -> st.SearchStrategy[str]:
    """Draw ids and names: no white space at their ends, which the readers take off."""
    drawn = st.text(LETTERS, min_size=1, max_size=8).map(str.strip).filter(bool)
    return drawn | st.integers(-(10**18), 10**18).map(str)


dialects = st.builds(
    Dialect,
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.booleans(),
    st.sampled_from(["", "# made, by; hand\n", "\n\n", "% one\n  # two\n"]),
    st.sampled_from(["", "\n", "\n\n"]),
    st.booleans(),
)


@st.composite
def graphs(draw: st.DrawFn) -> Drawn:
    """Draw a small graph with two columns of numbers that are kept as they are."""
    ids = draw(st.lists(texts(), min_size=2, max_size=8, unique=True))
    node = st.integers(0, len(ids) - 1)
    # Up to 1 in size and never zero: such columns are not scaled.
    number = st.floats(0.0625, 1).map(lambda value: round(value, 4))
    numbers = [[draw(number), -draw(number)] for _ in ids]
    classes = [draw(st.sampled_from(["red", "blue", "a b"])) for _ in ids]
    weight = st.floats(0.0625, 1000)
    edges = draw(st.lists(st.tuples(node, node, weight), min_size=1, max_size=12))
    return Drawn(ids, numbers, classes, edges)


def edge_rows(drawn: Drawn, head: tuple[str, str] = HEADS[0]) -> list[list[object]]:
    """Return the table of edges, weights as Python writes them."""
    rows: list[list[object]] = [[*head, "weight"]]
    return rows + [[drawn.ids[u], drawn.ids[v], repr(weight)] for u, v, weight in drawn.edges]


def node_rows(drawn: Drawn) -> list[list[object]]:
    """Return the table of nodes."""
    rows: list[list[object]] = [["id", "one", "two", "label"]]
    parts = zip(drawn.ids, drawn.numbers, drawn.classes, strict=True)
    return rows + [[node, *numbers, label] for node, numbers, label in parts]
