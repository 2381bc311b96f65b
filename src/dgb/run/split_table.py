"""Scores by split, as text: how much do more labels bring."""

from typing import Any

from dgb.run.repeat import SYSTEMS, percent_table

COLUMNS = {
    "validation": "validation",
    "Macro-F1": "macro_f1",
    "Micro-F1": "micro_f1",
    "AUC": "auc",
    "test": "test",
}
CLUSTERED = {"NMI": "nmi", "ARI": "ari"}


def split_table(lines: list[dict[str, Any]]) -> str:
    """Return a row per split and system, in percent, mean ± std over lines of scores."""
    first = lines[0]["dgb"]["splits"]
    # With F1 scores there is no need for accuracy, which is Micro-F1.
    has_f1 = all("macro_f1" in told for told in first.values())
    kept = {k: v for k, v in COLUMNS.items() if (v != "test") == has_f1 or v == "validation"}
    cells = {
        f"{title}, {name}" if len(first) > 1 else title: {
            column: [line[system]["splits"][name][key] for line in lines]
            for column, key in kept.items()
            if all(key in line[system]["splits"][name] for line in lines)
        }
        for name in first
        for system, title in SYSTEMS.items()
        if system in lines[0]
    }
    clusters = {
        title: {
            column: [line[system]["cluster"][key] for line in lines]
            for column, key in CLUSTERED.items()
        }
        for system, title in SYSTEMS.items()
        if system in lines[0]
    }
    return f"{percent_table(cells)}\n\n{percent_table(clusters)}"
