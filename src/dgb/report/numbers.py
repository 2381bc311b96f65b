"""The numbers of a run: cards with what each of them means, and the confusion matrix."""

from html import escape
from itertools import product
from typing import Any

from dgb.measure.repeat import SYSTEMS, split_columns
from dgb.pages import html_row, html_table, section

UNKNOWN = "not measured"
MEANINGS = {
    "dgb": "this run",
    "random": "the same vectors with the encoder before its first step",
    "start": "the model before this update",
    "raw": "no encoder, the features alone",
}
EVEN = 1.5  # times the least share, below which shares of meta-paths are said to be even


def numbers(scores: dict[str, Any], epochs: int) -> str:
    """Return the section of cards."""
    rank, memory, seconds = map(scores.get, ("effective_rank", "peak_mb", "seconds"))
    rows = "directions that the final embeddings use"
    held = "the most that the process held, scoring included"
    cards = [
        *_labelled_cards(scores),
        _card("Effective rank", UNKNOWN if rank is None else f"{rank:,.0f}", rows),
    ]
    time = _card("Training time", _format_time(seconds), f"for {epochs:,} epochs")
    size = UNKNOWN if memory is None else f"{memory:,.0f} MB"
    if epochs:  # which a model of Python does not keep
        cards += [time, _card("Memory", size, held)]
    return section("numbers", "Numbers", f'<div class="cards">{"".join(cards)}</div>')


def confusion_section(scores: dict[str, Any]) -> str:
    """Return the confusion matrix of the test nodes as a table, shaded by share of its row."""
    if not scores.get("confusion"):
        return ""
    labels, counts = scores["confusion"]["labels"], scores["confusion"]["counts"]
    head = "".join(f'<th scope="col"><span>{escape(str(name))}</span></th>' for name in labels)
    longest = max((len(str(name)) for name in labels), default=0)  # how high the head is
    rows = zip(map(escape, map(str, labels)), map(_heat, counts), strict=True)
    body = "".join(f'<tr><th scope="row">{name}</th>{cells}</tr>' for name, cells in rows)
    return section(
        "confusion",
        "Which classes are confused",
        '<p class="note">Test nodes: rows are the true class, columns the predicted one; '
        'the stronger the colour, the larger the share of its row.</p><div class="scroll">'
        f'<table class="heat" style="--letters:{longest}"><thead><tr><td></td>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>",
    )


def _labelled_cards(scores: dict[str, Any]) -> list[str]:
    """Return what is measured by labels; HeCo's probe measures more than others."""
    if "dgb" not in scores:
        return []
    accuracy = {key: scores[key]["probe"]["test"] for key in SYSTEMS if key in scores}
    nmi = {key: scores[key]["cluster"]["nmi"] for key in SYSTEMS if key in scores}
    probe, found = scores["dgb"]["probe"], scores["dgb"]["cluster"]
    named = {"Macro-F1": "macro_f1", "AUC": "auc"}
    more = [f"{name} {100 * probe[key]:.1f} %" for name, key in named.items() if key in probe]
    name = probe.get("split", "")
    more += [name if "split" in name else f"split {name}"] if name else []
    return [
        _card(
            "Test accuracy",
            f"{100 * accuracy['dgb']:.1f} %",
            "of a linear probe on frozen embeddings, chosen on validation nodes"
            + (f"; {', '.join(more)}" if more else ""),
            _bars({key: (value, f"{100 * value:.1f}") for key, value in accuracy.items()}),
        ),
        *_blocks_card(scores),
        _card(
            "Clusters and labels (NMI)",
            f"{nmi['dgb']:.2f}",
            "of k-means into as many clusters as there are classes (the map has the number that "
            "fits best without labels): 0 is unrelated, 1 the same; "
            f"ARI {found['ari']:.2f}, accuracy {100 * found['accuracy']:.1f} %",
            _bars({key: (value, f"{value:.2f}") for key, value in nmi.items()}),
        ),
    ]


def _blocks_card(scores: dict[str, Any]) -> list[str]:
    """Return what weights that validation chose for blocks give, nothing where none were chosen."""
    found = {key: scores[key]["blocks"] for key in SYSTEMS if "blocks" in scores.get(key, {})}
    if "dgb" not in found:
        return []
    weights = found["dgb"]["settings"]["weights"]
    chosen = ", ".join(f"{weight:g} × {name}" for name, weight in weights.items())
    right = {key: 100 * scores["test"] for key, scores in found.items()}
    return [
        _card(
            "Test accuracy, blocks weighed",
            f"{right['dgb']:.1f} %",
            f"with weights of blocks chosen on validation nodes too: {chosen}; other systems have "
            "no blocks to weigh, so compare them by the test accuracy",
            _bars({key: (value / 100, f"{value:.1f}") for key, value in right.items()}),
        )
    ]


def _card(title: str, value: str, meaning: str, more: str = "") -> str:
    kind = "card wide" if more else "card"
    return (
        f'<div class="{kind}"><h3>{escape(title)}</h3>'
        f'<p class="value">{escape(value)}</p>'
        f'<p class="note">{escape(meaning)}</p>{more}</div>'
    )


def _bars(values: dict[str, tuple[float, str]]) -> str:
    """Return a bar a system, all from 0 to 1: a cut-off axis would make differences look larger."""
    rows = (
        f'<li class="{"ours" if key == "dgb" else ""}"><span class="name">{SYSTEMS[key]}'
        f'<span class="sub">{MEANINGS[key]}</span></span>{_bar(*value)}</li>'
        for key, value in values.items()
    )
    return f'<ul class="bars">{"".join(rows)}</ul>'


def _bar(share: float, text: str) -> str:
    width = 100 * min(1.0, max(0.0, share))
    return f'<span class="count">{text}</span><span class="bar" style="width:{width:.1f}%"></span>'


def _heat(row: list[int]) -> str:
    total = sum(row) or 1
    return "".join(
        f'<td class="{"deep" if count / total > 0.55 else ""}"'
        f' style="--share:{100 * count / total:.0f}%">{count or "·"}</td>'
        for count in row
    )


def _format_time(seconds: float | None) -> str:
    if seconds is None:
        return UNKNOWN
    if seconds < 100:
        return f"{seconds:.{int(seconds < 10)}f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def paths_section(scores: dict[str, Any]) -> str:
    """Return the section of meta-paths, which is empty for a graph of one node type."""
    attention = scores.get("attention") or {}
    if not attention:
        return ""
    rows = "".join(
        f'<li class="ours"><span class="name">{escape(name)}</span>'
        f"{_bar(share, f'{100 * share:.0f} %')}</li>"
        for name, share in sorted(attention.items(), key=lambda item: -item[1])
    )
    note = "How much each meta-path weighs in the embeddings, as the attention has learnt it."
    if len(attention) > 1 and max(attention.values()) < EVEN * min(attention.values()):
        note += f" Nearly {100 / len(attention):.0f} % each: it hardly tells them apart."
    body = f'<p class="note">{note}</p><div class="card"><ul class="bars">{rows}</ul></div>'
    return section("paths", "Meta-paths", body)


def splits_section(scores: dict[str, Any]) -> str:
    """Return the scores split by split, nothing where there is one."""
    splits = scores.get("dgb", {}).get("splits") or {}
    if len(splits) < 2:
        return ""
    columns, rows = split_columns(splits), []
    for name, system in product(splits, [key for key in SYSTEMS if key in scores]):
        found = scores[system]["splits"][name]
        cells = [f"{100 * found[k]:.1f}" if k in found else "–" for k in columns.values()]
        titles = [escape(SYSTEMS[system]), escape(name)]
        rows.append(html_row([*titles, *cells], is_ours=system == "dgb"))
    note = '<p class="note">In percent; the probe is chosen on validation nodes of the split.</p>'
    table = html_table(("System", "Split", *columns), rows, scope="col")
    return section("splits", "Scores by split", note + table)
