"""Recipes of anything: one that holds, and reads the same again, or one clear sentence."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from dgb.cookbook import load_recipe, plain, recipe_hash, recipe_names, to_toml
from dgb.errors import DGBError
from dgb.recipe import Recipe
from dgb.run.resolve import check_recipe
from tests.fuzz.damage import Change, changes, damaged
from tests.fuzz.oracle import answer, inputs, lay

KEYS = [(s.name, f.name) for s in fields(Recipe) for f in fields(getattr(Recipe(), s.name))]
WORDS = sorted(
    {
        word
        for s in plain(Recipe()).values()
        for word in s.values()
        if isinstance(word, str) and word
    }
    | {
        "disk",
        "heat",
        "diff",
        "in+adj",
        "nd+nfd+diff",
        "relations",
        "cuda:99",
        "../../x",
        "\x1b[2J",
    }
)
NUMBERS = st.integers(-3, 300) | st.floats() | st.sampled_from([10**30, 10**400, -(2**63), 1e-320])
LISTS = st.lists(NUMBERS | st.text(max_size=3), max_size=4)
TABLES = st.dictionaries(st.text(max_size=3), NUMBERS, max_size=2)
VALUES: st.SearchStrategy[Any] = st.one_of(
    NUMBERS, st.booleans(), st.sampled_from(WORDS), st.text(max_size=8), LISTS, TABLES
)
NAMES = st.sampled_from(KEYS) | st.tuples(st.text(max_size=6), st.text(max_size=6))


def assert_holds(recipe: Any) -> None:
    """Check that a recipe which was accepted is one, and comes back from its own file."""
    if isinstance(recipe, DGBError):
        return
    again = load_recipe(recipe)
    assert again == recipe and recipe_hash(again) == recipe_hash(recipe)
    answer(lambda: check_recipe(recipe))


@inputs(10)
@given(chosen=st.dictionaries(NAMES, VALUES, min_size=1, max_size=4))
def test_recipes_of_any_keys_and_values_hold_or_are_refused(
    tmp_path: Path, chosen: dict[tuple[str, str], Any]
) -> None:
    values: dict[str, dict[str, Any]] = {}
    for (section, key), value in chosen.items():
        values.setdefault(section, {})[key] = value
    lay(tmp_path, {"r.toml": tomli_w.dumps(values).encode("utf-8", "replace")})
    recipe = answer(lambda: load_recipe(tmp_path / "r.toml"))
    assert_holds(recipe)
    if isinstance(recipe, Recipe):
        lay(tmp_path, {"r.toml": to_toml(recipe).encode()})
        assert load_recipe(tmp_path / "r.toml") == recipe


@inputs(6)
@given(
    name=st.sampled_from(recipe_names()),
    how=st.lists(changes(), min_size=1, max_size=4),
    is_whole=st.booleans(),
)
def test_damaged_recipes_hold_or_are_refused(
    tmp_path: Path, name: str, how: list[Change], is_whole: bool
) -> None:
    text = to_toml(load_recipe(name)) if is_whole else f'base = "{name}"\n[train]\ndecay = 0.5\n'
    lay(tmp_path, {"r.toml": damaged(text.encode(), how, is_inside=False)})
    assert_holds(answer(lambda: load_recipe(tmp_path / "r.toml")))


SPELT = (
    st.text(max_size=12) | NUMBERS.map(repr) | st.sampled_from(["[" * 3000, "9" * 5000, "1_0", "'"])
)


@inputs(5)
@given(key=NAMES.map(".".join) | st.text(max_size=12), value=SPELT | st.sampled_from(WORDS))
def test_overrides_of_anything_hold_or_are_refused(key: str, value: str) -> None:
    assert_holds(answer(lambda: load_recipe("default", [f"{key}={value}"])))
