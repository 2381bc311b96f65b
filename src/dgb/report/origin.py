"""Where the numbers come from, how to get them again, and what the page is."""

from html import escape
from typing import Any

from dgb.readable import readable
from dgb.recipe import Recipe
from dgb.report.recipe_section import train_command

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
    """Return the section that tells how to run it again."""
    command = escape(train_command(recipe, graph))
    known = [(title, scores[key]) for key, title in ORIGIN.items() if scores.get(key) is not None]
    facts = "".join(f"<dt>{title}</dt><dd>{escape(readable(value))}</dd>" for title, value in known)
    return (
        '<section aria-labelledby="again"><h2 id="again">Run it again</h2>'
        '<p class="note">The same graph, recipe, seed and versions on a machine of the same kind '
        "give the same embeddings.</p>"
        f'<div class="card command"><pre id="command"><code>{command}</code></pre>'
        '<button type="button" data-copy="command">Copy</button></div>'
        f'<dl class="origin">{facts}</dl></section>\n'
    )


def about() -> str:
    """Return the section that says what the page is."""
    return (
        '<section aria-labelledby="about"><h2 id="about">What this page is</h2>'
        "<p>The report of one training of Deep Graph Bootstrapping (DGB), which learns a vector "
        "for every node of a graph without labels: two augmented views of the graph, an online "
        "network that predicts one from the other, and a target network that follows it slowly. "
        "Labels, where there are any, are used afterwards to score the vectors.</p>"
        '<p class="note">The page is a single file that holds its data and loads nothing from '
        "elsewhere; it can be mailed, archived and read offline. <code>dgb report</code> with a "
        "run folder writes it.</p></section>\n"
    )
