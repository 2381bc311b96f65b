"""What others have published on heterogeneous graphs, as written in published_hetero.toml."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

Figures = dict[str, dict[str, float]]  # percent by measure, such as macro_f1, then by split
ABOUT = ("title", "note", "source", "url")


@dataclass(frozen=True)
class Published:
    """A method's published figures by data set, and where they come from."""

    key: str
    title: str
    note: str
    source: str
    url: str
    figures: dict[str, Figures]


@cache
def published_rows() -> tuple[Published, ...]:
    """Return all published methods in the order of the file."""
    text = resources.files("dgb.reproduce").joinpath("published_hetero.toml").read_text("utf-8")
    return tuple(_row(key, values) for key, values in tomllib.loads(text).items())


def published_on(dataset: str) -> list[Published]:
    """Return the methods that have figures on a data set."""
    return [row for row in published_rows() if dataset in row.figures]


def _row(key: str, values: Mapping[str, Any]) -> Published:
    figures = {name: value for name, value in values.items() if name not in ABOUT}
    return Published(key, figures=figures, **{name: values[name] for name in ABOUT})
