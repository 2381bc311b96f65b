"""The rows of the paper's tables: their figures, as written in published.toml, and their recipes.

Tables 3 and 4, pairs of views and ablations, are recipes at the drop rates chosen for every row.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from dgb.cookbook import load_recipe
from dgb.data.public.sources import find_source
from dgb.errors import DGBError
from dgb.recipe import Recipe
from dgb.settings import unknown_name

TABLES = ("table1", "table2", "table3", "table4")
DATASETS = ("cora", "citeseer", "pubmed")
BEST, SWAPPED = "nfd+adj|nd+diff", "nd+adj|nfd+diff"  # of Table 3, with the views swapped

# Table 4: what is changed in the recipe of a data set.
ABLATIONS: dict[str, tuple[str, ...]] = {
    "dgb": (),
    "without-projection": ("heads.projector=none",),
    "p=0": ("train.decay=0",),
    "p=1": ("train.decay=1",),
    "without-bn": ("heads.batch_norm=false",),
}
# Beyond Table 3: the best pair with the other kernel, and DGB-DIFF of the source's comments.
BEYOND_TABLE_3: dict[str, tuple[str, ...]] = {
    "heat": ("diffusion.kernel=heat",),
    "embed-diff": ("embed.operator=diff",),
}


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


def table3_recipes(dataset: str) -> dict[str, Recipe]:
    """Return the paper's pairs of views, then the best of them with a change."""
    recipes = {row.key: table3_recipe(dataset, row.key) for row in rows("table3")}
    best = recipes[BEST]
    return recipes | {row: load_recipe(best, sets) for row, sets in BEYOND_TABLE_3.items()}


def table3_recipe(dataset: str, pair: str, rates: tuple[float, ...] | None = None) -> Recipe:
    """Return the recipe of a cell such as nfd+adj|nd+diff, at the rates chosen for it or others."""
    rates = chosen_rates(dataset, pair) if rates is None else rates
    return load_recipe(f"paper-{dataset}", (*view_settings(pair), *_drops(pair, rates)))


def table4_recipe(dataset: str, row: str, rates: tuple[float, ...] | None = None) -> Recipe:
    """Return the recipe of an ablation, at the rates chosen for it or others."""
    if row != "dgb":  # whose rates are the recipe's own
        rates = chosen_rates(dataset, row) if rates is None else rates
    drops = () if rates is None else _drops(BEST, rates)
    return load_recipe(f"paper-{dataset}", (*ABLATIONS[row], *drops))


def _drops(pair: str, rates: tuple[float, ...]) -> tuple[str, ...]:
    return tuple(f"{key}={rate}" for key, rate in zip(rate_keys(pair), rates, strict=True))


def view_settings(pair: str) -> tuple[str, ...]:
    """Return what sets both views to those of a pair."""
    return tuple(f"view{i}.augment={view}" for i, view in enumerate(pair.split("|"), 1))


def rate_keys(pair: str) -> list[str]:
    """Return the drop rates that a pair of views has."""
    words = [view.split("+")[0] for view in pair.split("|")]
    return [f"view{i}.{word}_drop_rate" for i, word in enumerate(words, 1) if word != "in"]


def chosen_rates(dataset: str, row: str) -> tuple[float, ...]:
    """Return the drop rates that were chosen for a row of Table 3 or 4."""
    if "|" in row and not rate_keys(row):
        return ()
    try:
        return tuple(_rates()[dataset][row])
    except KeyError:
        raise DGBError(
            f"no drop rates chosen for {row} on {dataset}; `dgb reproduce rates` chooses them"
        ) from None


@cache
def _rates() -> dict[str, Any]:
    return tomllib.loads((resources.files("dgb") / "reproduce" / "rates.toml").read_text("utf-8"))
