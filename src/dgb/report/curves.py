"""Training curves as inline SVG; the page's script adds the values under the pointer."""

import json
import math
from html import escape
from typing import Any

from dgb.pages import section
from dgb.recipe import Recipe

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 360, 210, 44, 10, 12, 26
MOST = 400  # points a curve: more than a screen can show
FEWEST = 4  # points of a curve: fewer are written as numbers, for a line would look like a trend
CURVES = {  # title, where the axis begins at the latest, meaning
    "loss": ("Loss", 0.0, ""),  # the recipe decides
    "auc": ("Held-out edges", 0.5, "area under the curve: 0.5 is chance, 1 tells all edges"),
    "effective_rank": (
        "Rank in training",
        0.0,
        "effective rank of view 1 while parts of it are dropped, which is not that of the final "
        "embeddings, above; below 2: a collapse",
    ),
    "spread": ("Spread", 0.0, "variance of unit-length projections; 0 when all nodes are alike"),
}


def curves(metrics: list[dict[str, Any]], recipe: Recipe) -> str:
    """Return the section of training curves, each with the epochs that measured it."""
    meanings = {"loss": explain_loss(recipe)}
    drawn = [
        _figure(title, floor, meanings.get(name, meaning), points)
        for name, (title, floor, meaning) in CURVES.items()
        if (points := _points(metrics, name))
    ]
    figures = f'<div class="curves">{"".join(drawn)}</div>'
    return section("training", "Training", figures) if drawn else ""


def explain_loss(recipe: Recipe) -> str:
    """Return what the loss of a recipe is the sum of, and where its terms begin and end."""
    terms = [
        (recipe.train.bootstrap, f"Eq. 10, from 0 (the views agree) to {4 * recipe.train.ways}"),
        (recipe.links.weight, f"links, cross-entropy of hidden edges ({math.log(2):.2f}: chance)"),
    ]
    used = [(weight, text) for weight, text in terms if weight]
    if [weight for weight, _ in used] == [1]:
        return used[0][1]
    return " + ".join(f"{weight:g} × ({text})" for weight, text in used)


def _points(metrics: list[dict[str, Any]], name: str) -> list[tuple[int, float]]:
    """Return epochs and values, thinned out but with the last one."""
    points = [
        (int(line["epoch"]), float(line[name]))
        for line in metrics
        if isinstance(line.get(name), int | float) and isinstance(line["epoch"], int)
        if math.isfinite(line[name])
    ]
    stride = math.ceil(len(points) / MOST) or 1
    return points[: len(points) - 1 : stride] + points[-1:]


def _figure(title: str, floor: float, meaning: str, points: list[tuple[int, float]]) -> str:
    if len(points) < FEWEST:
        shown = ", ".join(f"<b>{value:.4g}</b> at epoch {epoch}" for epoch, value in points)
        caption = f"<figcaption>{meaning}</figcaption>"
        return f'<figure class="card"><h3>{title}</h3><p>{shown}</p>{caption}</figure>'
    values = escape(json.dumps([(epoch, f"{value:.4g}") for epoch, value in points]))
    epoch, value = points[-1]
    return (
        f'<figure class="curve card" data-values="{values}"><h3>{title}'
        f"<output>{value:.4g} at epoch {epoch}</output></h3>"
        f"{_svg(f'{title} by epoch', points, floor)}<figcaption>{meaning}</figcaption></figure>"
    )


def _svg(name: str, points: list[tuple[int, float]], floor: float) -> str:
    values = [value for _, value in points]
    ticks = _ticks(min(floor, *values), max(values))
    low, high = min(ticks[0], *values), max(ticks[-1], *values)
    first, last = points[0][0], points[-1][0]

    def x(epoch: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (epoch - first) / ((last - first) or 1)

    def y(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - value) / ((high - low) or 1)

    line = " ".join(f"{x(epoch):.1f},{y(value):.1f}" for epoch, value in points)
    grid = "".join(
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>'
        f'<text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>'
        for tick in ticks
    )
    # Of one epoch alone, the first text replaces the last.
    ends = {last: ("end", str(last))} | {first: ("start", f"epoch {first}")}
    texts = "".join(
        f'<text x="{x(epoch):.1f}" y="{HEIGHT - 6}" text-anchor="{anchor}">{text}</text>'
        for epoch, (anchor, text) in ends.items()
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{name}">{grid}{texts}'
        f'<polyline points="{line}"/><circle class="mark" r="4" visibility="hidden"/></svg>'
    )


def _ticks(low: float, high: float) -> list[float]:
    """Return three to six round numbers from at most `low` to at least `high`."""
    size = (high - low) or abs(high) or 1.0
    power = 10.0 ** math.floor(math.log10(size / 3))
    step = next(power * k for k in (1, 2, 5, 10) if size / (power * k) <= 4)
    start, end = math.floor(low / step), math.ceil(high / step)
    return [round(step * k, 10) for k in range(start, end + 1)]
