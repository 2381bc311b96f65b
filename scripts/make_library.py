"""Write examples/library: made-up papers, their authors and venues, for docs/heterogeneous.md."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent.parent / "examples" / "library"
PAPERS, AUTHORS, VENUES = 240, 150, 8
WORDS = {
    "glaciers": ("ice", "melt", "moraine", "firn", "valley", "crevasse", "snow", "runoff"),
    "bees": ("hive", "pollen", "queen", "nectar", "swarm", "foraging", "mite", "colony"),
    "bridges": ("span", "cable", "arch", "load", "pier", "truss", "deck", "fatigue"),
    "scripts": ("glyph", "tablet", "scribe", "vowel", "ink", "cursive", "papyrus", "stroke"),
}
COMMON = ("survey", "model", "long-term", "regional", "new", "early", "measured", "revisited")
PLACES = ("Oslo", "Quito", "Kyoto", "Accra", "Perth")
OWN = 0.75  # share of words, authors, venues and citations that are of a paper's own field


def main() -> None:
    """Write the node files of two types and the edge files of three relations."""
    rng = np.random.default_rng(7)
    fields = list(WORDS)
    paper, author, venue = (rng.integers(0, len(fields), n) for n in (PAPERS, AUTHORS, VENUES))
    venue[: len(fields)] = np.arange(len(fields))
    rows = [
        (f"P{i:03}", _title(field, rng), rng.integers(1990, 2026), fields[field])
        for i, field in enumerate(paper)
    ]
    _write("nodes/paper.csv", ("id", "title", "year", "field"), rows)
    people = [(f"A{i:03}", rng.choice(PLACES), rng.integers(0, 40)) for i in range(AUTHORS)]
    _write("nodes/author.csv", ("id", "city", "years_active"), people)
    relations = (
        ("edges/paper-author.csv", ("paper", "author"), author, (1, 5)),
        ("edges/paper-venue.csv", ("paper", "venue"), venue, (1, 2)),
        ("edges/paper-cites-paper.csv", ("source", "target"), paper, (0, 4)),
    )
    for name, head, others, counts in relations:
        letter = {"author": "A", "venue": "V"}.get(head[1], "P")
        edges = [
            (f"P{i:03}", f"{letter}{j:03}")
            for i, field in enumerate(paper)
            for j in _near(field, others, int(rng.integers(*counts)), rng)
        ]
        _write(name, head, edges)


def _title(field: int, rng: np.random.Generator) -> str:
    own = WORDS[list(WORDS)[field]]
    is_own = rng.random(6) < OWN / 2
    return " ".join(str(rng.choice(own if is_one else COMMON)) for is_one in is_own)


def _near(field: int, others: np.ndarray, count: int, rng: np.random.Generator) -> list[int]:
    """Return some of the others, most of them of the same field."""
    share = np.where(others == field, OWN / (others == field).sum(), (1 - OWN) / len(others))
    return [int(i) for i in rng.choice(len(others), count, replace=False, p=share / share.sum())]


def _write(name: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    path = FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)


if __name__ == "__main__":
    main()
