"""What is printed of an update: which nodes and clusters moved, and which by noise alone."""

from pathlib import Path
from typing import Any

HEAD = ("cluster", "before", "after", "left", "moved", "angle", "noise")


def drift_lines(drift: dict[str, Any], folder: Path) -> list[str]:
    """Return the summary of a drift, and where the rest of it lies."""
    from dgb.evaluate.drift import SHARE
    from dgb.run.update import DRIFT

    kept, new, gone, moved = (f"{drift[name]:,}" for name in ("kept", "new", "gone", "moved"))
    return [
        f"drift from {drift['run']}: {kept} nodes kept, {new} new, {gone} gone",
        f"cosine of kept nodes, before and after, median: {drift['median_cosine']:.3f}",
        f"noise: two seeds place {SHARE:.0%} of the nodes at most {drift['noise']:.1f}° apart",
        f"moved beyond the noise: {moved} nodes",
        *(f"  {node}  {times:.1f} × the noise" for node, times in drift["moved_most"] if times > 1),
        "".join(f"{name:>9}" for name in HEAD),
        *map(_cluster_line, drift["clusters"]),
        f"drift of every node: {folder / DRIFT}",
    ]


def _cluster_line(cluster: dict[str, Any]) -> str:
    counts = "".join(f"{cluster[name]:>9,}" for name in HEAD[:5])
    angles = "".join(f"{cluster[name]:>8.1f}°" for name in HEAD[5:])
    mark = "  moved" if cluster["angle"] > cluster["noise"] else ""
    return f"{counts}{angles}{mark}"
