"""The page's recipe, and the command that makes the same run again."""

import json
import shlex
from dataclasses import fields
from html import escape
from typing import Any

from dgb.cookbook import load_recipe, plain, recipe_names, split_override
from dgb.pages import section
from dgb.recipe import Recipe
from dgb.terminal import readable


def recipe_section(recipe: Recipe) -> str:
    """Return every setting, those marked that differ from the defaults."""
    parts = "".join(_part(field.name, recipe) for field in fields(recipe))
    note = "Every setting of this run; what differs from <code>dgb info default</code> is marked."
    body = f'<p class="note">{note}</p><div class="recipe">{parts}</div>'
    return section("recipe", "Recipe", body)


def train_command(recipe: Recipe, name: str) -> str:
    """Return the command that trains this recipe, for a reader who has not got the run folder."""
    by_base = {base: _changes(recipe, base) for base in recipe_names()}
    base = min(by_base, key=lambda base: len(by_base[base]))
    graph = shlex.quote(recipe.data.graph or name)
    return " ".join(["dgb train", graph, f"--recipe {base}", *by_base[base]])


def _changes(recipe: Recipe, base: str) -> list[str]:
    """Return the options that make this recipe of one that comes with the package."""
    own, known = plain(recipe), plain(load_recipe(base))
    return [
        f"--set {shlex.quote(_override(f'{part}.{key}', value))}"
        for part, values in own.items()
        for key, value in values.items()
        if value != known[part][key] and (part, key) != ("data", "graph")
    ]


def _override(key: str, value: Any) -> str:
    """Return section.key=value; text that would be read as another value gets quotes."""
    bare = f"{key}={str(value).lower() if isinstance(value, bool) else value}"
    if isinstance(value, str) and split_override(bare)[2] != value:
        return f"{key}={json.dumps(value, ensure_ascii=False)}"
    return bare


def _part(name: str, recipe: Recipe) -> str:
    rows, changed = [], 0
    for field in fields(getattr(recipe, name)):
        value, usual = (getattr(getattr(r, name), field.name) for r in (recipe, Recipe()))
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
    kind = was = ""
    if usual is not None:
        kind = ' class="changed"'
        was = f' <span class="note">not {escape(_text(usual)) or "none"}</span>'
    return (
        f'<tr{kind}><td><code>{key}</code></td><td class="setting"><code>{shown}</code>{was}</td>'
        f'<td class="note doc">{escape(doc)}</td></tr>'
    )


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else readable(value)


ORIGIN = {
    "graph": "graph",
    "graph_hash": "hash of the graph",
    "recipe": "hash of the recipe",
    "seed": "seed",
    "git": "commit of the code",
    "versions": "versions",
    "machine": "machine",
}


def origin(scores: dict[str, Any], recipe: Recipe, graph: str) -> str:
    """Return the section that says how to run it again."""
    command = escape(train_command(recipe, graph))
    known = [(title, scores[key]) for key, title in ORIGIN.items() if scores.get(key) is not None]
    facts = "".join(f"<dt>{title}</dt><dd>{escape(readable(value))}</dd>" for title, value in known)
    return section(
        "again",
        "Run it again",
        '<p class="note">The same graph, recipe, seed and versions on a machine of the same kind '
        "give the same embeddings.</p>"
        f'<div class="card command"><pre id="command"><code>{command}</code></pre>'
        '<button type="button" data-copy="command">Copy</button></div>'
        f'<dl class="origin">{facts}</dl>',
    )


ABOUT = section(
    "about",
    "What this page is",
    "<p>The report of one training of Deep Graph Bootstrapping (DGB), which learns a vector for "
    "every node of a graph without labels: two augmented views of the graph, an online network "
    "that predicts one from the other, and a target network that follows it slowly. Labels, where "
    "there are any, are used afterwards to score the vectors.</p>"
    '<p class="note">The page is a single file that holds its data and loads nothing from '
    "elsewhere; it can be mailed, archived and read offline. <code>dgb report</code> with a run "
    "folder writes it.</p>",
)
