"""Scores by split, as text: how much do more labels bring."""

from typing import Any

from dgb.run.repeat import SYSTEMS, percent_table

COLUMNS = {
    "validation": "validation_macro_f1",
    "Macro-F1": "macro_f1",
    "Micro-F1": "micro_f1",
    "AUC": "auc",
}
ACCURACIES = {"validation": "validation", "test": "test"}  # of probes that know no F1
CLUSTERED = {"NMI": "nmi", "ARI": "ari"}


def split_columns(splits: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Return what the probe has measured: the names of columns, and their keys."""
    return COLUMNS if all("macro_f1" in told for told in splits.values()) else ACCURACIES


def split_table(lines: list[dict[str, Any]]) -> str:
    """Return a row per split and system, in percent, mean ± std over lines of scores."""
    first = lines[0]["dgb"]["splits"]
    cells = {
        f"{title}, {name}" if len(first) > 1 else title: {
            column: [line[system]["splits"][name][key] for line in lines]
            for column, key in split_columns(first).items()
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
