"""Tables 3 and 4, pairs of views and ablations: the recipe and the drop rates of every row."""

import tomllib
from functools import cache
from importlib import resources
from typing import Any

from dgb.cookbook import load_recipe
from dgb.errors import DGBError
from dgb.recipe import Recipe
from dgb.reproduce.published import rows

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
