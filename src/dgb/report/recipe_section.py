"""The resolved recipe on the page, and the command that makes the same run again."""

import json
import shlex
from dataclasses import fields
from html import escape
from typing import Any

from dgb.cookbook import load_recipe, plain, recipe_names, split_override
from dgb.readable import readable
from dgb.recipe import Recipe


def recipe_section(recipe: Recipe) -> str:
    """Return every setting, those marked that differ from the defaults."""
    parts = "".join(_part(field.name, recipe) for field in fields(recipe))
    return (
        '<section aria-labelledby="recipe"><h2 id="recipe">Recipe</h2>'
        '<p class="note">Every setting of this run; what differs from its default is marked.</p>'
        f'<div class="recipe">{parts}</div></section>\n'
    )


def train_command(recipe: Recipe, name: str) -> str:
    """Return the command that trains this recipe, for a reader who has not got the run folder."""
    base = name if name in recipe_names() else "default"
    own, known = plain(recipe), plain(load_recipe(base))
    changes = [
        f"--set {shlex.quote(_override(section, key, value))}"
        for section, values in own.items()
        for key, value in values.items()
        if value != known[section][key] and (section, key) != ("data", "graph")
    ]
    return " ".join(
        ["dgb train", shlex.quote(recipe.data.graph or name), f"--recipe {base}", *changes]
    )


def _override(section: str, key: str, value: Any) -> str:
    """Return section.key=value; text that would be read as another value gets quotes."""
    if isinstance(value, bool):
        return f"{section}.{key}={str(value).lower()}"
    bare = f"{section}.{key}={value}"
    if isinstance(value, str) and split_override(bare)[2] != value:
        return f"{section}.{key}={json.dumps(value, ensure_ascii=False)}"
    return bare


def _part(name: str, recipe: Recipe) -> str:
    section, default = getattr(recipe, name), getattr(Recipe(), name)
    rows, changed = [], 0
    for field in fields(section):
        value, usual = getattr(section, field.name), getattr(default, field.name)
        is_changed = value != usual and (name, field.name) != ("data", "graph")
        changed += is_changed
        rows.append(_row(field.name, value, field.metadata["doc"], usual if is_changed else None))
    mark = f'<span class="mark">{changed} changed</span>' if changed else ""
    return (
        f"<details{' open' if changed else ''}><summary><code>{name}</code>{mark}</summary>"
        f'<div class="scroll"><table><tbody>{"".join(rows)}</tbody></table></div></details>'
    )


def _row(key: str, value: Any, doc: str, usual: Any) -> str:
    shown = escape(_text(value)) or '<span class="note">none</span>'
    was = (
        "" if usual is None else f' <span class="note">not {escape(_text(usual)) or "none"}</span>'
    )
    kind = "" if usual is None else ' class="changed"'
    return (
        f'<tr{kind}><td><code>{key}</code></td><td class="setting"><code>{shown}</code>{was}</td>'
        f'<td class="note doc">{escape(doc)}</td></tr>'
    )


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else readable(value)
