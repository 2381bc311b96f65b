"""Names of types and relations that a setting can be written with."""

from collections.abc import Iterable

from dgb.errors import DGBError
from dgb.recipe import ALL_TYPES


def check_names(graph: str, types: Iterable[str], relations: Iterable[str]) -> None:
    """Refuse names with a comma, which parts meta-paths in a list, and a type called all."""
    types = list(types)
    named = [*(("type", name) for name in types), *(("relation", name) for name in relations)]
    for what, name in named:
        if "," in name:
            raise DGBError(
                f"{graph}: the {what} {name!r} has a comma in its name, which stands between "
                f"meta-paths in hetero.metapaths; rename it, such as {name.replace(',', '_')!r}"
            )
    if ALL_TYPES in types:
        raise DGBError(
            f"{graph}: a type is called {ALL_TYPES!r}, but data.target={ALL_TYPES} means every "
            "type; rename it"
        )
