"""What is searched: texts become knobs, knobs become overrides, mistakes become one line."""

from typing import Any

import pytest

from dgb.cookbook import load_recipe
from dgb.errors import DGBError
from dgb.recipe import Recipe
from dgb.tune.space import Knob, default_space, parse_space, starting_point, suggest


class Lowest:
    """A trial that proposes the lowest value of everything."""

    def suggest_float(self, _key: str, low: float, _high: float, **_options: Any) -> float:
        return low * (1 + 1e-9)

    def suggest_int(self, _key: str, low: int, _high: int, **_options: Any) -> int:
        return low

    def suggest_categorical(self, _key: str, choices: tuple[str, ...]) -> str:
        return choices[0]


@pytest.mark.parametrize(
    ("spec", "knob"),
    [
        ("train.learning_rate=1e-4:1e-2:log", Knob("train.learning_rate", (), 1e-4, 1e-2, True)),
        ("train.decay=.8:.99", Knob("train.decay", (), 0.8, 0.99)),
        ("heads.hidden=64:512", Knob("heads.hidden", (), 64, 512)),
        ("heads.hidden=64:512:log", Knob("heads.hidden", (), 64, 512, True)),
        ("encoder.width=256,512,512", Knob("encoder.width", ("256", "512"))),
        ("train.decay=1,.9", Knob("train.decay", ("1.0", "0.9"))),
        ("view1.augment=nfd+adj, nd+diff", Knob("view1.augment", ("nfd+adj", "nd+diff"))),
        ('encoder.activation="relu",elu', Knob("encoder.activation", ("relu", "elu"))),
        ("encoder.activation='relu','elu'", Knob("encoder.activation", ("relu", "elu"))),
        ("heads.batch_norm=true,false", Knob("heads.batch_norm", ("true", "false"))),
        ("diffusion.theta=[1],[0.5, 0.5]", Knob("diffusion.theta", ("[1.0]", "[0.5, 0.5]"))),
    ],
)
def test_texts_become_knobs_and_come_back(spec: str, knob: Knob) -> None:
    (parsed,) = parse_space([spec], Recipe())
    assert parsed == knob
    assert type(parsed.low) is type(knob.low)
    assert parse_space([str(parsed)], Recipe()) == (parsed,)
    load_recipe(Recipe(), suggest(Lowest(), (parsed,)))


def test_suggested_values_are_short_and_within_the_range() -> None:
    space = parse_space(["train.decay=0.123456:0.5", "heads.hidden=64:512"], Recipe())
    assert suggest(Lowest(), space) == ["train.decay=0.1235", "heads.hidden=64"]
    space = parse_space(["train.decay=0.123446:0.5"], Recipe())
    assert suggest(Lowest(), space) == ["train.decay=0.123446"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("train.decoy=0.1:0.9", "unknown key train.decoy; did you mean 'decay'"),
        ("trian.decay=0.1:0.9", "unknown recipe section 'trian'; did you mean 'train'"),
        ("train.decay=0.5:1.5", "train.decay must be a number from 0 to 1, not 1.5"),
        ("train.decay=0.9:0.5", "has to rise"),
        ("train.decay=0.5:0.5", "has to rise"),
        ("train.decay=low:high", "from a number to a number"),
        ("train.decay=0.5:0.9:lin", "LOW:HIGH:log"),
        ("train.decay=0.1:0.2:0.3:log", "LOW:HIGH:log"),
        ("train.weight_decay=0:1:log", "start above 0"),
        ("heads.hidden=1.5:9", "heads.hidden must be a whole number"),
        ("encoder.width=256,many", "encoder.width must be a whole number"),
        ("encoder.activation=0:1", "encoder.activation must be one of"),
        ("heads.batch_norm=0:1", "heads.batch_norm must be true or false"),
        ("view1.augment=nfd+adj,nfd", "a view is one or more of"),
        ("train.decay", "section.key=LOW:HIGH"),
        ("train.decay=", "section.key=LOW:HIGH"),
        ("decay=0:1", "section.key=LOW:HIGH"),
        ("encoder.width=,", "section.key=LOW:HIGH"),
        ("train.epochs=10,20", "the best epoch is found without it"),
        ("train.seed=0,1", "--seeds"),
        ("train.device=cpu,cuda", "does not change the embeddings"),
        ("probe.weight_decays=[1.0],[2.0]", "the probe chooses"),
    ],
)
def test_wrong_specs_are_named(spec: str, message: str) -> None:
    with pytest.raises(DGBError) as caught:
        parse_space([spec], Recipe())
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_key_is_searched_once() -> None:
    with pytest.raises(DGBError, match=r"train\.decay is searched twice"):
        parse_space(["train.decay=0.1:0.2", "train.decay=0.5,0.6"], Recipe())


@pytest.mark.parametrize("name", ["default", "paper", "paper-cora", "paper-pubmed", "large"])
def test_the_default_space_holds_the_recipe_itself(name: str) -> None:
    recipe = load_recipe(name)
    space = parse_space([], recipe)
    assert space == default_space(recipe)
    assert set(starting_point(recipe, space)) == {knob.key for knob in space}
    load_recipe(recipe, suggest(Lowest(), space))


def test_a_search_starts_from_what_the_recipe_has_within_the_space() -> None:
    specs = ["train.decay=0.1:0.2", "encoder.width=64,1024", "heads.hidden=100:300"]
    recipe = load_recipe("paper")
    start = starting_point(recipe, parse_space(specs, recipe))
    assert start == {"encoder.width": "1024", "heads.hidden": 256}
