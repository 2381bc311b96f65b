"""Drop rates by node type: those of a view, and what it says of single types."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from dgb.errors import DGBError
from dgb.recipe import ViewRecipe
from dgb.settings import check_names, listed_pairs
from dgb.views.augment import parse_view

KINDS = ("nfd", "nd", "way")


@dataclass(frozen=True)
class TypedView:
    """A parsed view of a heterogeneous graph."""

    operator: str
    nodes: Mapping[str, tuple[tuple[str, float], ...]]  # by type: (nfd or nd, drop_rate) in order
    way: Mapping[str, float]  # by type: share of the nodes that meta-paths do not go through


def parse_typed_view(
    recipe: ViewRecipe, types: Iterable[str], target: str | None = None
) -> TypedView:
    """Read the rates of a view for every type; `types` such as author.way=0.3 go before others.

    Over meta-paths, features are those of the target alone; without one, all types have some and
    nothing lies on a way.
    """
    spec, types = parse_view(recipe), list(types)
    if spec.edges:
        raise DGBError(
            f"the view {recipe.augment} drops edges, which is for graphs of one node type; "
            "way_drop_rate drops nodes on the way of meta-paths"
        )
    own = _own_rates(recipe, types)
    _refuse_unused(recipe, own, [name for name, _ in spec.features], target)
    nodes = {
        name: tuple((kind, own.get((name, kind), rate)) for kind, rate in spec.features)
        for name in types
    }
    way = {name: own.get((name, "way"), recipe.way_drop_rate) for name in types}
    return TypedView(spec.operator, nodes, {name: rate for name, rate in way.items() if rate > 0})


def _own_rates(recipe: ViewRecipe, types: list[str]) -> dict[tuple[str, str], float]:
    rates = {}
    for key, text in listed_pairs(recipe.types):
        name, _, kind = key.rpartition(".")
        check_names("node type of a drop rate,", [name], types)
        check_names("kind of drop rate", [kind], KINDS)
        try:
            rate = float(text)
        except ValueError:
            rate = -1.0
        if not 0 <= rate <= 0.99:
            raise DGBError(f"the drop rate {key} must be a number from 0 to 0.99, not {text!r}")
        rates[name, kind] = rate
    return rates


def _refuse_unused(
    recipe: ViewRecipe,
    own: Mapping[tuple[str, str], float],
    dropped: Collection[str],
    target: str | None,
) -> None:
    """Refuse rates that would change nothing: who sets one means it to."""
    if target is None and recipe.way_drop_rate:
        raise DGBError("way_drop_rate is for views over meta-paths; leave it at 0")
    for name, kind in own:
        if kind == "way" and target is None:
            raise DGBError(f"{name}.way is for views over meta-paths; leave it out")
        if kind != "way" and kind not in dropped:
            raise DGBError(f"{name}.{kind}: the view {recipe.augment} drops nothing by {kind}")
        if kind != "way" and target not in (None, name):
            raise DGBError(
                f"{name}.{kind}: views over meta-paths take features of {target} alone; "
                f"{name}.way={own[name, kind]:g} drops its nodes on the way"
            )
