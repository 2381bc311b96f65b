"""Invent a shop: tables of customers and purchases with the faults that such tables have.

    python examples/shop/make.py shop

writes shop/nodes.csv, shop/edges.csv and, to check answers by, shop/truth.csv. The same seed makes
the same files. README.md next to this file lists the faults, and what becomes of them.
"""

import argparse
import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# Of each community: the usual segment, a usual income, and how many of its customers leave.
SEGMENTS = ("retail", "wholesale", "corporate", "online")
INCOMES = (48_000, 75_000, 110_000, 36_000)
LEAVING = (0.93, 0.06, 0.1, 0.9)
SPELLINGS = {
    "retail": ("Retail", "RETAIL", "retial"),
    "wholesale": ("Wholesale", "whole-sale"),
    "corporate": ("Corporate", "corporate ", "corprate"),
    "online": ("Online", "on-line", "onlnie"),
}
CITIES = ("New York", "new york", "Łódź", "Lisbon", "Osaka", "Nairobi", "Bergen", "N/A", "")
YES, NO = ("yes", "Y", "TRUE", "1"), ("no", "N", "FALSE", "0")
WORDS = "called back about invoice delivery late refund asked thanks order again price old new"
NAMES = ("Shop, Ltd #{}", "Müller & Söhne {}", 'The "{}" Store', "c-{:05}")


def make_shop(folder: Path, customers: int = 3000, seed: int = 0) -> None:
    """Write the tables of a shop into a folder, which is made."""
    rng = np.random.default_rng(seed)
    ids = [str(rng.choice(NAMES)).format(i) for i in range(customers)]
    community = rng.integers(0, 4, customers)
    is_odd = rng.random(customers) < 0.004  # with the columns of another community, and rich
    is_listed = (rng.random(customers) < 0.975) | is_odd
    leaves = rng.random(customers) < np.take(LEAVING, community)
    churned = np.where(leaves, "yes", "no")
    shown = np.where(rng.random(customers) < 0.05, churned, "")
    looks_like = np.where(is_odd, (community + 2) % 4, community)
    factor = np.where(is_odd, 4, 1)
    columns = {"customer": ids, **_columns(looks_like, factor, rng), "churned": shown.tolist()}
    rows = list(zip(*columns.values(), strict=True))
    folder.mkdir(parents=True, exist_ok=True)
    listed = [row for row, is_kept in zip(rows, is_listed, strict=True) if is_kept]
    # As a spreadsheet saves it: a mark at the start, and Windows' ends of lines.
    _write(folder / "nodes.csv", list(columns), listed, encoding="utf-8-sig")
    heads = ["buyer", "seller", "amount", "day"]
    _write(folder / "edges.csv", heads, _purchases(ids, community, rng), delimiter=";")
    truth = zip(ids, community.tolist(), churned.tolist(), is_odd.astype(int), strict=True)
    _write(folder / "truth.csv", ["customer", "community", "churned", "is_odd"], truth)


def _columns(community: Array, factor: Array, rng: np.random.Generator) -> dict[str, list[str]]:
    """Return what the table says of every customer, in as many spellings as people use."""
    count = len(community)
    incomes = factor * np.take(INCOMES, community) * rng.lognormal(0, 0.35, count)
    ages = rng.integers(18, 80, count) + 6 * (community % 2)
    days = np.datetime64("2015-01-01") + rng.integers(0, 3000, count)
    is_reader = rng.random(count) < 0.5
    words = WORDS.split()
    return {
        "segment": [_segment(place, rng) for place in community.tolist()],
        "city": rng.choice(CITIES, count).tolist(),
        "age": _blank([str(age) for age in ages], 0.13, rng),
        "income": _blank([f"{income:,.2f}" for income in incomes.tolist()], 0.08, rng),
        "joined": [_date(day.item(), rng) for day in days],
        "newsletter": [str(rng.choice(YES if reads else NO)) for reads in is_reader],
        "note": [" ".join(rng.choice(words, rng.integers(0, 7))) for _ in range(count)],
    }


def _segment(place: int, rng: np.random.Generator) -> str:
    """Return the segment of a community, now and then another, one in ten spelt otherwise."""
    name = SEGMENTS[place if rng.random() < 0.8 else rng.integers(4)]
    return name if rng.random() < 0.9 else str(rng.choice(SPELLINGS[name]))


def _date(day: Any, rng: np.random.Generator) -> str:
    return str(day.strftime(rng.choice(["%Y-%m-%d", "%Y-%m-%d", "%d.%m.%Y", "%Y/%m/%d"])))


def _blank(cells: list[str], share: float, rng: np.random.Generator) -> list[str]:
    return ["" if rng.random() < share else cell for cell in cells]


def _purchases(ids: list[str], community: Array, rng: np.random.Generator) -> list[list[str]]:
    """Return who bought from whom, most often within a community; one in twelve did so again."""
    count = 5 * len(ids)
    buyers = rng.integers(0, len(ids), count)
    order, sizes = np.argsort(community, kind="stable"), np.bincount(community, minlength=4)
    starts = np.cumsum(sizes) - sizes
    own = community[buyers]
    near = order[starts[own] + (rng.random(count) * sizes[own]).astype(int)]
    sellers = np.where(rng.random(count) < 0.8, near, rng.integers(0, len(ids), count))
    again = rng.choice(count, count // 12, replace=False)
    pairs = np.concatenate([np.stack([buyers, sellers]), np.stack([sellers, buyers])[:, again]], 1)
    size: int = pairs.shape[1]
    amounts = rng.lognormal(6, 1.5, size)
    days = np.datetime64("2023-01-01") + rng.integers(0, 700, size)
    return [
        [ids[buyer], ids[seller], f"{amount:.2f}".replace(".", ","), str(day)]
        for (buyer, seller), amount, day in zip(pairs.T, amounts, days, strict=True)
    ]


def _write(
    path: Path,
    head: list[str],
    rows: Iterable[Sequence[Any]],
    *,
    encoding: str = "utf-8",
    delimiter: str = ",",
) -> None:
    with path.open("w", newline="", encoding=encoding) as file:
        csv.writer(file, delimiter=delimiter).writerows([head, *rows])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Invent a shop with messy tables.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--customers", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    make_shop(options.folder, options.customers, options.seed)
    print(f"written: {options.folder}/nodes.csv, edges.csv and truth.csv")
