"""What a run on a heterogeneous graph adds to its page: meta-paths and scores by split."""

from html import escape
from typing import Any

from dgb.run.repeat import SYSTEMS
from dgb.run.split_table import split_columns


def hetero_section(scores: dict[str, Any]) -> str:
    """Return the sections, which are empty for a graph of one node type."""
    return _paths(scores.get("attention") or {}) + _splits(scores)


def _paths(attention: dict[str, float]) -> str:
    if not attention:
        return ""
    rows = "".join(
        f'<li class="ours"><span class="name">{escape(name)}</span>'
        f'<span class="count">{100 * share:.0f} %</span>'
        f'<span class="bar" style="width:{100 * share:.1f}%"></span></li>'
        for name, share in sorted(attention.items(), key=lambda item: -item[1])
    )
    return (
        '<section aria-labelledby="paths"><h2 id="paths">Meta-paths</h2>'
        '<p class="note">How much each meta-path weighs in the embeddings, as the attention over '
        f'them has learnt it.</p><div class="card"><ul class="bars">{rows}</ul></div></section>\n'
    )


def _splits(scores: dict[str, Any]) -> str:
    splits = scores.get("dgb", {}).get("splits") or {}
    if len(splits) < 2:
        return ""
    columns = split_columns(splits)
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in ("System", "Split", *columns))
    body = "".join(
        _row(name, title, scores[system]["splits"][name], columns, is_ours=system == "dgb")
        for name in splits
        for system, title in SYSTEMS.items()
        if system in scores
    )
    return (
        '<section aria-labelledby="splits"><h2 id="splits">Scores by split</h2>'
        '<p class="note">In percent; the probe is chosen on validation nodes of the split.</p>'
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        "</div></section>\n"
    )


def _row(
    name: str, title: str, told: dict[str, Any], columns: dict[str, str], *, is_ours: bool
) -> str:
    cells = "".join(
        f"<td>{100 * told[key]:.1f}</td>" if key in told else "<td>–</td>"
        for key in columns.values()
    )
    kind = ' class="ours"' if is_ours else ""
    return f"<tr{kind}><td>{escape(title)}</td><td>{escape(name)}</td>{cells}</tr>"
