"""Every recipe loads; every wrong key or value is one line that names it."""

from dataclasses import asdict, field, fields, make_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from dgb import cookbook
from dgb.cookbook import load_recipe, recipe_from, recipe_hash, recipe_names, to_toml
from dgb.errors import DGBError
from dgb.model import layers
from dgb.recipe import ACTIVATIONS, PLAIN, Embed, EncoderRecipe, Heads, Recipe, Train
from dgb.run.resolve import check_recipe
from dgb.settings import setting
from dgb.views.augment import parse_view


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_loads_and_survives_toml(name: str, tmp_path: Path) -> None:
    recipe = load_recipe(name)
    parse_view(recipe.view1)
    parse_view(recipe.view2)
    check_recipe(recipe)
    file = tmp_path / "recipe.toml"
    file.write_text(to_toml(recipe), "utf-8")
    assert load_recipe(file) == recipe


@pytest.mark.parametrize(("name", "decay"), [("cora", 0.82), ("citeseer", 0.88), ("pubmed", 0.95)])
def test_the_paper_s_recipes_follow_the_paper(name: str, decay: float) -> None:
    recipe = load_recipe(f"paper-{name}")
    assert (recipe.train.decay, recipe.train.learning_rate) == (decay, 1e-3)
    assert recipe.encoder.layers == 1 and recipe.embed == PLAIN
    assert (recipe.view1.augment, recipe.view2.augment) == ("nfd+adj", "nd+diff")
    assert recipe.data.normalise == "row"


def test_a_recipe_builds_on_its_base(tmp_path: Path) -> None:
    large, base = load_recipe("large"), load_recipe("paper-cora")
    assert large.encoder.width == 64 and large.encoder.hops == load_recipe().encoder.hops
    file = tmp_path / "mine.toml"
    file.write_text('base = "paper-cora"\n[train]\nepochs = 3\n')
    mine = load_recipe(file)
    assert mine.train.epochs == 3 and mine.train.decay == base.train.decay
    assert mine.encoder == base.encoder
    file.write_text('base = "larg"\n')
    with pytest.raises(DGBError, match="did you mean 'large'"):
        load_recipe(file)
    file.write_text("base = 7\ntrain = 3\n")
    with pytest.raises(DGBError, match="unknown base"):
        load_recipe(file)
    file.write_text('base = "paper-cora"\ntrain = 3\n')
    with pytest.raises(DGBError, match="train is a section"):
        load_recipe(file)


def test_overrides_reach_every_kind_of_value() -> None:
    sets = ["train.decay=0.5", "view1.augment=nd+diff", "heads.batch_norm=false"]
    sets += ["diffusion.theta=[0.5, 0.5]", "train.learning_rate=2e-4", "train.seed = 7"]
    sets += ["diffusion.alpha=.2", "view2.nd_drop_rate = .25"]
    recipe = load_recipe("default", sets)
    assert recipe.train.decay == 0.5 and recipe.train.seed == 7
    assert recipe.train.learning_rate == 2e-4
    assert recipe.view1.augment == "nd+diff" and recipe.heads.batch_norm is False
    assert recipe.diffusion.theta == (0.5, 0.5)
    assert recipe.diffusion.alpha == 0.2 and recipe.view2.nd_drop_rate == 0.25
    assert recipe.embed == Recipe().embed


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("train.decoy=1", "unknown key train.decoy; did you mean 'decay'"),
        ("trian.decay=1", "unknown recipe section 'trian'; did you mean 'train'"),
        ("train.decay=1.5", "train.decay must be a number from 0 to 1, not 1.5"),
        ("train.decay=high", "train.decay must be a number from 0 to 1, not 'high'"),
        ("train.decay=nan", "train.decay must be a number from 0 to 1, not nan"),
        ("embed.nearest_weight=1e308", "embed.nearest_weight must be a number from 0 to 1000"),
        ("embed.diffused_weight=1e30", "embed.diffused_weight must be a number from 0 to 1000"),
        ("embed.structure_weight=1e30", "embed.structure_weight must be a number from 0 to 1000"),
        ("train.epochs=1.5", "train.epochs must be a whole number of at least 0, not 1.5"),
        ("heads.batch_norm=1", "heads.batch_norm must be true or false, not 1"),
        ("train.device=tpu", "train.device must be one of auto, cpu, cuda, mps, not 'tpu'"),
        ("diffusion.theta=3", "diffusion.theta must be a list of numbers, not 3"),
        ("train.epochs=inf", "train.epochs must be a whole number of at least 0, not inf"),
        ("train.learning_rate=1e400", "train.learning_rate must be a number of at least 0"),
        ("encoder.width=99999999999", "encoder.width must be a whole number from 1 to"),
        ("decay=1", "section.key=value"),
        ("train.decay", "section.key=value"),
    ],
)
def test_wrong_settings_are_named(wrong: str, message: str) -> None:
    with pytest.raises(DGBError) as caught:
        load_recipe("default", [wrong])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_wrong_recipe_names_and_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(DGBError, match="did you mean 'large'"):
        load_recipe("lareg")
    with pytest.raises(DGBError, match="cannot read the recipe"):
        load_recipe(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("[train\n")
    with pytest.raises(DGBError, match="not valid TOML"):
        load_recipe(tmp_path / "bad.toml")
    (tmp_path / "flat.toml").write_text("train = 3\n")
    with pytest.raises(DGBError, match="train is a section"):
        load_recipe(tmp_path / "flat.toml")


def test_the_hash_follows_what_changes_results() -> None:
    base = recipe_hash(load_recipe("paper-cora"))
    assert recipe_hash(load_recipe("paper-cora", ["train.seed=3", "train.threads=1"])) == base
    assert recipe_hash(load_recipe("paper-cora", ["train.decay=0.81"])) != base


# As results were committed with: a recipe that is changed, or a key that is added without `before`,
# would orphan them.
HASHES = {
    "paper": "f78089aed28f",
    "paper-cora": "fae466466bcb",
    "paper-citeseer": "4ebdcbc91dbb",
    "paper-pubmed": "d5bedb2e7848",
    "hetero": "19dbae0995e0",
    "relations": "fe1835639933",
}


@pytest.mark.parametrize("name", HASHES)
def test_recipes_with_committed_results_keep_their_hash(name: str) -> None:
    assert recipe_hash(load_recipe(name)) == HASHES[name]


def with_key(recipe: Recipe, section: str, key: str, spec: Any, value: Any) -> Recipe:
    """Return the recipe as if one of its sections had another key."""
    own = getattr(recipe, section)
    kind = make_dataclass("More", [(key, type(value), spec)], bases=(type(own),), frozen=True)
    return replace(recipe, **{section: kind(**asdict(own), **{key: value})})


def test_a_new_key_orphans_no_result_and_a_changed_default_matches_none() -> None:
    recipe = load_recipe("paper-cora")
    spec = setting(0.5, "added later", before=0.0)
    assert recipe_hash(with_key(recipe, "train", "novel", spec, 0.0)) == recipe_hash(recipe)
    as_default = recipe_hash(with_key(recipe, "train", "novel", spec, 0.5))
    assert as_default != recipe_hash(recipe), "the default is not what was before"
    # Another default later: neither is taken for the other, and the old lines keep their hash.
    spec = setting(0.7, "added later", before=0.0)
    assert recipe_hash(with_key(recipe, "train", "novel", spec, 0.7)) not in (
        as_default,
        recipe_hash(recipe),
    )
    assert recipe_hash(with_key(recipe, "train", "novel", spec, 0.0)) == recipe_hash(recipe)
    forgotten = setting(0.5, "added without a word on what was before")
    assert recipe_hash(with_key(recipe, "train", "novel", forgotten, 0.5)) != recipe_hash(recipe)


@pytest.mark.parametrize("section", [f.name for f in fields(Recipe)])
def test_another_value_of_any_key_is_another_hash(section: str) -> None:
    recipe = load_recipe("paper-cora")
    for spec in fields(getattr(recipe, section)):
        changed = replace(getattr(recipe, section), **{spec.name: "another"})
        is_same = recipe_hash(replace(recipe, **{section: changed})) == recipe_hash(recipe)
        assert is_same is not spec.metadata["is_hashed"], spec.name


@pytest.mark.parametrize("name", [name for name in HASHES if name.startswith("paper")])
def test_no_default_reaches_a_recipe_of_the_paper(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = load_recipe(name)
    others = {
        "encoder": EncoderRecipe(width=7, layers=3, activation="elu"),
        "heads": Heads("none", 8, 8, "relu", False),
        "train": Train(epochs=3, decay=0.1, patience=5, bf16=True),
        "embed": Embed("diff", 0.3, True),
    }
    defaults = [(name, type(of), field(default=of)) for name, of in others.items()]
    other = make_dataclass("Other", defaults, bases=(Recipe,), frozen=True)
    monkeypatch.setattr(cookbook, "Recipe", other)
    assert load_recipe("default").encoder.width == 7
    assert recipe_hash(load_recipe(name)) == recipe_hash(before)


def test_default_has_one_meaning() -> None:
    assert load_recipe("default") == load_recipe() == Recipe() == recipe_from({})


def test_a_recipe_on_top_of_nothing_names_every_key(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    text = to_toml(load_recipe("paper-cora"))
    file.write_text(text.replace("decay = 0.82\n", "", 1))
    with pytest.raises(DGBError, match=r"leaves out train\.decay; write these keys out"):
        load_recipe(file)


def test_every_activation_of_the_recipe_exists() -> None:
    assert set(ACTIVATIONS) == set(layers.ACTIVATIONS)


def test_every_setting_is_documented() -> None:
    for section in fields(Recipe):
        for spec in fields(type(getattr(Recipe(), section.name))):
            assert spec.metadata["doc"], f"{section.name}.{spec.name}"


@pytest.mark.parametrize(
    "sets",
    [
        ["encoder.layers=2", "train.batch_size=10"],
        ["train.batch_size=10", "train.order=transform"],
        ["train.batch_size=1"],
    ],
)
def test_settings_that_do_not_go_together_are_refused(sets: list[str]) -> None:
    with pytest.raises(DGBError, match=r"train\.batch_size"):
        check_recipe(load_recipe("paper", sets))
