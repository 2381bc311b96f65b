"""The published figures of the paper's tables, as written in published.toml."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from dgb.data.public.sources import find_source
from dgb.settings import unknown_name

TABLES = ("table1", "table2", "table3", "table4")
DATASETS = ("cora", "citeseer", "pubmed")


@dataclass(frozen=True)
class Cell:
    """A published number; accuracies are percent, and a deviation not printed is None."""

    mean: float
    std: float | None = None


@dataclass(frozen=True)
class PublishedRow:
    """A row of a table: `extra` is `data` (Table 2), `view1, view2` (3) or `commented` (4)."""

    key: str
    title: str
    group: str
    extra: dict[str, Any]


@dataclass(frozen=True)
class Anchor:
    """A method's figures that were published elsewhere, and what a rerun of it gave."""

    key: str
    title: str
    group: str
    cells: dict[str, Cell]  # by data set; one that is not there was not published
    rerun: dict[str, Cell]
    note: str
    source: str


def find_published(table: str, row: str, dataset: str) -> Cell | None:
    """Return a cell of the paper; None where its table does not have the data set."""
    values = _pick(f"row of {table}", row, _table(table))
    return _cells(values).get(find_source(dataset).name)


def rows(table: str) -> list[PublishedRow]:
    """Return the rows of a table in the paper's order."""
    return [_row(key, values) for key, values in _table(table).items()]


def anchors() -> list[Anchor]:
    """Return the figures published elsewhere that a new one is held against."""
    return [_anchor(key, values) for key, values in _content()["anchors"].items()]


def citations(dataset: str) -> dict[str, int]:
    """Return what was counted in a data set's raw citations: all, repeated, self, mutual."""
    return dict(_pick("data set with counted citations", dataset, _content()["citations"]))


@cache
def _content() -> dict[str, Any]:
    text = resources.files("dgb.reproduce").joinpath("published.toml").read_text("utf-8")
    return tomllib.loads(text)


def _table(table: str) -> Mapping[str, Any]:
    return _pick("table", table, {name: _content()[name] for name in TABLES})


def _pick(what: str, name: str, known: Mapping[str, Any]) -> Mapping[str, Any]:
    if name not in known:
        raise unknown_name(what, name, list(known))
    values: Mapping[str, Any] = known[name]
    return values


def _cells(values: Mapping[str, Any]) -> dict[str, Cell]:
    return {name: Cell(*map(float, values[name])) for name in DATASETS if name in values}


def _row(key: str, values: Mapping[str, Any]) -> PublishedRow:
    own = {*DATASETS, "title", "group"}
    extra = {name: value for name, value in values.items() if name not in own}
    if "|" in key:
        extra |= zip(("view1", "view2"), key.split("|"), strict=True)
    return PublishedRow(key, values["title"], values.get("group", ""), extra)


def _anchor(key: str, values: Mapping[str, Any]) -> Anchor:
    texts = (values["title"], values["group"])
    cells, rerun = _cells(values), _cells(values.get("rerun", {}))
    return Anchor(key, *texts, cells, rerun, values["note"], values["source"])
