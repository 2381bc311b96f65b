"""What is searched: `train.learning_rate=1e-4:1e-2:log`, `encoder.width=256,512`, one key each."""

import json
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dgb.cookbook import load_recipe, plain
from dgb.errors import DGBError
from dgb.recipe import Recipe
from dgb.views.augment import parse_view


@dataclass(frozen=True)
class Knob:
    """A recipe key with the values that it may take: choices, else a range."""

    key: str
    choices: tuple[str, ...] = ()  # as an override writes them
    low: float = 0
    high: float = 0
    is_log: bool = False

    def __str__(self) -> str:
        """Return the text that this knob can be parsed from."""
        if self.choices:
            return f"{self.key}={','.join(self.choices)}"
        return f"{self.key}={self.low!r}:{self.high!r}" + (":log" if self.is_log else "")


Space = tuple[Knob, ...]


def suggest(trial: Any, space: Space) -> list[str]:
    """Return overrides for `load_recipe`, with values that an Optuna trial proposes."""
    overrides = []
    for knob in space:
        if knob.choices:
            value = trial.suggest_categorical(knob.key, knob.choices)
        elif isinstance(knob.low, int):
            value = trial.suggest_int(knob.key, knob.low, knob.high, log=knob.is_log)
        else:
            drawn = trial.suggest_float(knob.key, knob.low, knob.high, log=knob.is_log)
            # Four digits say all that a search can find, and can be read in its recipe.
            value = repr(min(max(float(f"{drawn:.4g}"), knob.low), knob.high))
        overrides.append(f"{knob.key}={value}")
    return overrides


def starting_point(recipe: Recipe, space: Space) -> dict[str, Any]:
    """Return the recipe's own values, as Optuna's parameters, of the knobs that can take them."""
    start: dict[str, Any] = {}
    for knob in space:
        value = own_value(recipe, knob.key)
        if knob.choices and write_value(value) in knob.choices:
            start[knob.key] = write_value(value)
        elif not knob.choices and knob.low <= value <= knob.high:
            start[knob.key] = value
    return start


def own_value(recipe: Recipe, key: str) -> Any:
    """Return what a recipe has at `section.key`."""
    section, name = key.split(".", 1)
    return plain(recipe)[section][name]


def write_value(value: Any) -> str:
    """Return a value as an override writes it."""
    return value if isinstance(value, str) else json.dumps(value)


FORMS = "section.key=LOW:HIGH, section.key=LOW:HIGH:log or section.key=VALUE,VALUE"
SAME_RESULT = "it does not change the embeddings; set it with --set"
NOT_SEARCHED = {
    "data.graph": "a search is on one graph",
    "train.epochs": "the best epoch is found without it; --set train.epochs=N is the most trained",
    "train.patience": "the best epoch is found by the search's own criterion",
    "train.stop_on": "the best epoch is found by the search's own criterion",
    "train.seed": "a lucky seed is no better recipe; --seeds N takes the mean over N of them",
    "train.monitor_every": SAME_RESULT,
    "train.checkpoint_every": SAME_RESULT,
    "train.device": SAME_RESULT,
    "train.threads": SAME_RESULT,
    "embed.npy": SAME_RESULT,
    "probe.kind": "all candidates are measured with the same probe",
    "probe.weight_decays": "the probe chooses among its weight decays itself",
    "probe.normalise": "the probe chooses how to scale rows itself",
}


def parse_space(specs: Iterable[str], recipe: Recipe) -> Space:
    """Return the knobs that `KEY=SPEC` texts describe; without any, those of `default_space`."""
    space = tuple(_parse(spec, recipe) for spec in specs) or default_space(recipe)
    keys = [knob.key for knob in space]
    for key in keys:
        if keys.count(key) > 1:
            raise DGBError(f"{key} is searched twice; give all its values at once")
    return space


def default_space(recipe: Recipe) -> Space:
    """Return the keys that matter most, with the recipe's own values among what they may take."""

    def around(key: str, low: float, high: float, own: float) -> str:
        return f"{key}={min(low, own)!r}:{max(high, own)!r}"

    def among(key: str, *values: float) -> str:
        return f"{key}={','.join(map(repr, sorted(set(values))))}"

    width = recipe.encoder.width
    specs = [
        around("train.learning_rate", 1e-4, 3e-3, recipe.train.learning_rate or 1e-3) + ":log",
        around("train.decay", 0.8, 0.99, recipe.train.decay),
        around("view1.nfd_drop_rate", 0.3, 0.9, recipe.view1.nfd_drop_rate),
    ]
    if recipe.links.weight:
        specs += [
            around("view1.ed_drop_rate", 0.3, 0.9, recipe.view1.ed_drop_rate),
            around("train.bootstrap", 0.0, 2.0, recipe.train.bootstrap),
            among("encoder.width", 64, 128, 256, width),
        ]
    else:
        specs += [
            around("view2.nd_drop_rate", 0.1, 0.8, recipe.view2.nd_drop_rate),
            among("diffusion.alpha", 0.05, 0.1, 0.2, recipe.diffusion.alpha),
            among("encoder.width", 256, 512, 1024, width),
        ]
    return tuple(_parse(spec, recipe) for spec in specs)


def _parse(spec: str, recipe: Recipe) -> Knob:
    key, equals, text = (part.strip() for part in spec.partition("="))
    if not equals or not text.strip(",") or "." not in key:
        raise DGBError(f"what to search is {FORMS}, not {spec!r}")
    if key in NOT_SEARCHED:
        raise DGBError(f"{key} cannot be searched: {NOT_SEARCHED[key]}")
    if ":" in text:
        return _range(key, text.split(":"), recipe)
    choices = [write_value(_check_value(recipe, key, choice)) for choice in _split(text)]
    return Knob(key, tuple(dict.fromkeys(choices)))


def _range(key: str, parts: Sequence[str], recipe: Recipe) -> Knob:
    if len(parts) not in (2, 3) or parts[2:] not in ([], ["log"]):
        raise DGBError(f"what to search is {FORMS}, not {key}={':'.join(parts)}")
    try:
        ends = [repr(float(end)) for end in parts[:2]]
    except ValueError:
        raise DGBError(f"{key}: a range goes from a number to a number; {FORMS}") from None
    low, high = (_check_value(recipe, key, end) for end in ends)
    is_log = len(parts) == 3
    if not low < high:
        raise DGBError(f"{key}: a range has to rise, {parts[0]}:{parts[1]} does not")
    if is_log and low <= 0:
        raise DGBError(f"{key}: a log range has to start above 0, not at {parts[0]}")
    return Knob(key, (), low, high, is_log)


def _split(text: str) -> list[str]:
    """Return the choices of a list of TOML values, or of words and numbers as people write them."""
    try:
        return [write_value(value) for value in tomllib.loads(f"values = [{text}]")["values"]]
    except (tomllib.TOMLDecodeError, TypeError):
        return [word.strip() for word in text.split(",") if word.strip()]


def _check_value(recipe: Recipe, key: str, text: str) -> Any:
    changed = load_recipe(recipe, [f"{key}={text}"])
    parse_view(changed.view1)
    parse_view(changed.view2)
    return own_value(changed, key)
