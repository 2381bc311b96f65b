"""Feature columns in the user's own words: their names, and what a number in them stands for."""

from dataclasses import dataclass

from dgb.data.encoding import Column, Encoding
from dgb.terminal import readable


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
        """Return a number of x as the table has it: a share of a category, a number unscaled."""
        if self.is_share:
            return f"{value:.0%}"
        number = value * self.column.scale + self.column.shift
        return f"{number:,.0f}" if abs(number) >= 1000 else readable(number)


def features_of(encoding: Encoding | None, width: int) -> list[Feature]:
    """Return what every column of x is; without names they are counted from 1."""
    columns = encoding.columns if encoding is not None else ()
    found = [Feature(column, place) for column in columns for place in range(len(column.names()))]
    return (
        found if len(found) == width else [Feature(Column(f"column {i + 1}")) for i in range(width)]
    )
