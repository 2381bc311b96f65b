"""Drop rates by node type: those of a view, and what it says of single types."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dgb.errors import DGBError
from dgb.recipe import View as ViewRecipe
from dgb.settings import listed_pairs, unknown_name
from dgb.views.view import parse_view

KINDS = ("nfd", "nd", "way")


@dataclass(frozen=True)
class TypedView:
    """A parsed view of a heterogeneous graph."""

    operator: str
    nodes: Mapping[str, tuple[tuple[str, float], ...]]  # by type: (nfd or nd, drop_rate) in order
    way: Mapping[str, float]  # by type: share of the nodes that meta-paths do not go through


def parse_typed_view(recipe: ViewRecipe, types: Iterable[str]) -> TypedView:
    """Read the rates of a view for every type; `types` such as author.way=0.3 go before others."""
    spec, types = parse_view(recipe), list(types)
    own = _own_rates(recipe, types)
    nodes = {
        name: tuple((kind, own.get((name, kind), rate)) for kind, rate in spec.nodes)
        for name in types
    }
    way = {name: own.get((name, "way"), recipe.way_drop_rate) for name in types}
    return TypedView(spec.operator, nodes, {name: rate for name, rate in way.items() if rate > 0})


def _own_rates(recipe: ViewRecipe, types: list[str]) -> dict[tuple[str, str], float]:
    rates = {}
    for key, text in listed_pairs(recipe.types):
        name, _, kind = key.rpartition(".")
        if name not in types:
            raise unknown_name("node type of a drop rate,", name, types)
        if kind not in KINDS:
            raise unknown_name("kind of drop rate", kind, list(KINDS))
        rates[name, kind] = _rate(key, text)
    return rates


def _rate(key: str, text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 0.99:
        raise DGBError(f"the drop rate {key} must be a number from 0 to 0.99, not {text!r}")
    return rate
