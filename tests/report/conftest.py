"""Run folders as a training leaves them, made without training."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from dgb.cookbook import load_recipe, to_toml
from dgb.files.atomic import rewrite_lines, write_json, write_text

HOSTILE = "</script><img src=x onerror=alert(1)>"
LABELS = ("theory", "practice", "<b>both</b>")
OVERRIDES = ("data.graph=blocks", "train.epochs=12", "encoder.width=64")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return the folder of a finished run of 60 nodes."""
    return make_run(tmp_path / "run")


def make_run(folder: Path, count: int = 60, labels: Sequence[str] = LABELS) -> Path:
    """Write recipe, metrics, scores and map of a run with planted clusters."""
    folder.mkdir(parents=True)
    write_text(folder / "recipe.toml", to_toml(load_recipe("default", OVERRIDES)))
    rewrite_lines(folder / "metrics.jsonl", metrics(12))
    write_json(folder / "scores.json", scores(labels))
    write_map(folder, make_map(count, labels))
    return folder


def metrics(epochs: int) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = [
        {"epoch": epoch, "loss": 4 / epoch, "seconds": 0.1} for epoch in range(1, epochs + 1)
    ]
    for line in lines[::5]:
        line |= {"effective_rank": 30.5, "spread": 0.9}
    return lines


def scores(labels: Sequence[str]) -> dict[str, Any]:
    def system(test: float) -> dict[str, Any]:
        probe = {"validation": 0.5, "test": test, "settings": {"normalise": "l2"}}
        return {"probe": probe, "cluster": {"accuracy": 0.6, "nmi": 0.52, "ari": 0.45}}

    head = {"graph": "blocks", "graph_hash": "7c737fe58a2e", "recipe": "37445363bf89", "seed": 0}
    origin = {"git": None, "versions": {"dgb": "0.1.0"}, "machine": "Linux x86_64"}
    cost = {"seconds": 1.2, "effective_rank": 30.5, "peak_mb": None}
    systems = {"dgb": system(0.808), "random": system(0.759), "raw": system(0.605)}
    counts = (np.eye(len(labels), dtype=int) * 9 + 1).tolist()
    return head | origin | cost | systems | {"confusion": {"labels": labels, "counts": counts}}


def make_map(count: int, labels: Sequence[str]) -> pa.Table:
    """Return planted clusters; the first id is markup, the neighbors of a row come after it."""
    rng = np.random.default_rng(0)
    group = np.arange(count) % len(labels)
    xy = rng.normal(size=(count, 2)) + 8 * np.stack([np.cos(group), np.sin(group)], axis=1)
    names = np.array(labels, dtype=object)[group]
    near = (np.arange(count)[:, None] + len(labels) * np.arange(1, 9)) % count
    return pa.table(
        {
            "node_id": [HOSTILE, *(f"paper-{i}" for i in range(1, count))],
            "x": pa.array(xy[:, 0], pa.float32()),
            "y": pa.array(xy[:, 1], pa.float32()),
            "degree": pa.array(rng.zipf(2, count).clip(max=900), pa.int32()),
            "cluster": pa.array(group, pa.int32()),
            "label": pa.array([None if i % 10 == 9 else n for i, n in enumerate(names)]),
            "predicted": pa.array(names.tolist()),
            "split": pa.array([("train", "test", None)[i % 3] for i in range(count)]),
            "neighbors": pa.array(near.tolist(), pa.list_(pa.int32())),
            "similarity": pa.array(
                np.tile(np.linspace(0.99, 0.5, 8), (count, 1)).tolist(), pa.list_(pa.float32())
            ),
        }
    )


def with_columns(table: pa.Table) -> pa.Table:
    """Return a map with columns of the user's table: a category, numbers with a gap, and days."""
    count = table.num_rows
    towns = [("Bergen", HOSTILE, None)[i % 3] for i in range(count)]
    salary = [None if i == 4 else 1.5 * i for i in range(count)]
    table = table.append_column("column: label", pa.array(towns, pa.string()))
    table = table.append_column("column: salary", pa.array(salary, pa.float64()))
    days = pa.array(range(18_000, 18_000 + count), pa.int32())
    return table.append_column("column: since", days.cast(pa.date32()))


def write_map(folder: Path, table: pa.Table, nodes: int | None = None) -> None:
    about = {"map": "t-SNE", "nodes": str(nodes or table.num_rows)}
    about["clusters"] = json.dumps([f"town=Bergen 90% (all 33%) {HOSTILE}"])
    parquet.write_table(table.replace_schema_metadata(about), folder / "map.parquet")


@pytest.fixture
def comparison(tmp_path: Path) -> Path:
    """Return the folder of a comparison of three systems."""
    folder = tmp_path / "compare"
    folder.mkdir()
    head = {"graph": "blocks", "graph_hash": "7c737fe58a2e", "recipe": "a", "seconds": 1.0}
    rewrite_lines(
        folder / "compare.jsonl",
        [
            head | {"method": key, "seed": seed, "test_accuracy": acc, "val_accuracy": acc}
            for key, acc in (("dgb", 0.81), ("gcn", 0.8), ("raw", 0.6))
            for seed in range(2)
        ],
    )
    return folder
